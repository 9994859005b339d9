//! Tests of aligned private memory, and of memory that changes after a view was made.

use crate::message::{Pair, Then};
use gantry_cdr::{
    AlignedBytes, Message, View,
    kind::{List, Number, Slice, Text, WideText},
};
use std::cell::RefCell;

#[test]
fn aligned_bytes_have_their_length_and_are_aligned() {
    for length in 0..20 {
        let bytes: Vec<u8> = (0..length).collect();
        let mut copy = AlignedBytes::copy_of(&bytes);
        assert_eq!(copy.as_ref(), bytes);
        assert!(copy.as_ref().is_empty() || copy.as_ref().as_ptr().addr().is_multiple_of(8));
        copy.as_mut().fill(9);
        assert!(copy.as_ref().len() == length.into() && copy.as_ref().iter().all(|byte| *byte == 9));
        assert_eq!(AlignedBytes::zeroed(length.into()).as_ref(), vec![0; length.into()]);
    }
    assert_eq!(AlignedBytes::default().as_ref(), []);
}

#[test]
fn bytes_that_change_after_the_view_was_made_give_other_values_but_no_panic() {
    type Message_ = Pair<List<Pair<Text, Slice<u16>>>, Pair<Text, WideText>>;
    let shape = (&[("one", 3), ("two", 0)][..], ("three", "four"));
    let mut memory = AlignedBytes::zeroed(Message_::shape_bytes(shape).unwrap());
    let (_, layout) = Message_::build(&mut memory.as_mut()[..], shape).unwrap().into_parts();
    let mut rng = 1_u64;
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        let mut changed = memory.clone();
        for _ in 0..4 {
            rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (rng >> 33) as usize % changed.as_ref().len();
            changed.as_mut()[at] = (rng >> 24) as u8;
        }
        let view = Message_::in_memory(&mut changed.as_mut()[..], layout);
        let elements: usize = view.first().map(|each| each.first().len() + each.second().len()).sum();
        let texts = view.second().first().len() + view.second().second().chars().count();
        assert!(elements + texts <= view.memory().len());
        let _ = view.to_message();
        let mut view = view;
        for mut each in view.first_mut() {
            each.second_mut().fill(7);
        }
    }
}

#[test]
fn a_view_that_is_moved_with_its_memory_stays_valid() {
    let view = <Then<Slice<u64>>>::build(AlignedBytes::zeroed(25), (2, ())).unwrap();
    let kept = RefCell::new(vec![view]);
    let mut view = kept.borrow_mut().remove(0);
    view.first_mut()[1] = 5;
    assert_eq!((view.first(), view.second()), (&[0, 5][..], 0));
    let (memory, layout) = view.into_parts();
    assert_eq!(<Pair<Slice<u64>, Number<u8>>>::in_memory(memory, layout).first(), [0, 5]);
}
