//! Tests of messages that are built in place: they have the counted sizes, slices and lists write to them, and all
//! other bytes are zero.

use crate::message::{Pair, Then, aligned, body_of};
use allocations::{Counts, count};
use gantry_cdr::{
    AlignedBytes, Message, View,
    kind::{Array, FixedList, List, Number, Slice, Text, WideText},
};
use std::{cell::Cell, iter::repeat_n};

/// Makes memory in which all bytes are 0xff, like old bytes of another message.
fn used(length_bytes: usize) -> AlignedBytes {
    let mut memory = AlignedBytes::zeroed(length_bytes);
    memory.as_mut().fill(0xff);
    memory
}

#[test]
fn the_counted_size_is_the_built_size_and_padding_is_zero() {
    type Message_ = Pair<Text, Slice<f64>>;
    for length in 0..9 {
        let text = &"12345678"[..length];
        let bytes = Message_::shape_bytes((text, 1)).unwrap();
        let mut view = Message_::build(used(bytes), (text, 1)).unwrap();
        view.second_mut()[0] = 2.0;
        let (built, layout) = view.into_parts();
        let owned = Message_ { first: text.to_owned(), second: vec![2.0] };
        assert_eq!(built.as_ref(), body_of(&owned));
        assert_eq!(Message_::view(&built).unwrap().into_parts().1, layout);
    }
}

#[test]
fn memory_of_another_length_or_alignment_is_refused() {
    type Message_ = Then<Slice<u8>>;
    let shaped = |length: usize| Message_::build(used(length), (3, ())).map(drop).unwrap_err().to_string();
    assert_eq!(shaped(7), "`second` at byte 7: 1 bytes are needed and 0 are left");
    assert_eq!(shaped(6), "`first` at byte 4: 3 bytes are needed and 2 are left");
    assert_eq!(
        shaped(9),
        "at byte 8: 1 bytes of the memory follow the message; it must have exactly the message's length"
    );
    let mut memory = used(16);
    let error = Message_::build(&mut memory.as_mut()[4..12], (3, ())).map(drop).unwrap_err().to_string();
    assert_eq!(error, "at byte 0: the body is not 8-byte aligned; copy it to `AlignedBytes`");
}

#[test]
fn shapes_above_their_bounds_are_refused_with_the_field() {
    let sentence = |error: gantry_cdr::Error| error.to_string();
    let told = <Then<Slice<u8, 2>>>::shape_bytes((3, ())).map_err(sentence);
    assert_eq!(told, Err("`first` at byte 0: its length is 3 and may be 2".into()));
    let told = <Then<Text<2>>>::shape_bytes(("€", ())).map_err(sentence);
    assert_eq!(told, Err("`first` at byte 0: its length is 3 and may be 2".into()));
    let told = <Then<WideText<1>>>::shape_bytes(("😀", ())).map_err(sentence);
    assert_eq!(told, Err("`first` at byte 0: its length is 2 and may be 1".into()));
    let told = <Then<List<Text, 1>>>::shape_bytes((&["", ""], ())).map_err(sentence);
    assert_eq!(told, Err("`first` at byte 0: its length is 2 and may be 1".into()));
    let owned = Then::<Slice<u8, 2>> { first: vec![0; 3], second: 0 };
    let told = owned.to_cdr().map_err(sentence);
    assert_eq!(told, Err("`first` of test/msg/Pair at byte 0: its length is 3 and may be 2".into()));
}

#[test]
fn what_cannot_be_counted_in_32_bits_is_refused() {
    let sentence = |error: gantry_cdr::Error| error.to_string();
    for elements in [1 << 29, u32::MAX as usize] {
        let told = <Then<Slice<f64>>>::shape_bytes((elements, ())).map_err(sentence);
        assert_eq!(told, Err("`first` at byte 4: the message is larger than 4 GiB".into()));
    }
    let told = <Then<Slice<f64>>>::shape_bytes((1 << 40, ())).map_err(sentence);
    assert_eq!(told, Err("`first` at byte 0: its length is 1099511627776 and may be 4294967295".into()));
}

#[test]
fn booleans_are_built_as_false_and_numbers_as_zero() {
    let view = <Pair<Slice<bool>, Array<bool, 3>>>::build(used(9), (2, ())).unwrap();
    assert_eq!((view.first(), view.second()), (&[false; 2][..], &[false; 3][..]));
    let mut view = <Pair<Number<bool>, Number<f64>>>::build(used(16), ((), ())).unwrap();
    assert_eq!((view.first(), view.second()), (false, 0.0));
    *view.first_mut() = true;
    *view.second_mut() = 0.5;
    assert_eq!((view.first(), view.second()), (true, 0.5));
}

#[test]
fn lists_are_written_one_by_one_and_at_once() {
    type Inner = Pair<Slice<u8>, Number<f64>>;
    let shape = &[(1, ()), (3, ()), (0, ())];
    let bytes = <Then<List<Inner>>>::shape_bytes((shape, ())).unwrap();
    let mut view = <Then<List<Inner>>>::build(used(bytes), (shape, ())).unwrap();
    let mut list = view.first_mut();
    assert_eq!((list.len(), list.is_empty()), (3, false));
    let mut first = list.next().unwrap();
    first.first_mut().fill(1);
    *first.second_mut() = 1.0;
    assert_eq!(list.len(), 2);
    let rest = [Inner { first: vec![1, 2, 3], second: 2.0 }, Inner { first: vec![], second: 3.0 }];
    list.assign(&rest).unwrap();
    assert!(list.next().is_none());
    let message = view.to_message().unwrap();
    let got: Vec<_> = message.first.iter().map(|each| (&each.first[..], each.second)).collect();
    assert_eq!(got, [(&[1][..], 1.0), (&[1, 2, 3][..], 2.0), (&[][..], 3.0)]);
    assert_eq!(body_of(&*message), view.memory().as_ref());
}

#[test]
fn elements_of_other_lengths_do_not_fit_in_a_list() {
    let shape = &["ab", "c"];
    let bytes = <Then<List<Text>>>::shape_bytes((shape, ())).unwrap();
    let mut view = <Then<List<Text>>>::build(used(bytes), (shape, ())).unwrap();
    let told = view.first_mut().assign(&["x".into()]).unwrap_err().to_string();
    assert_eq!(told, "its length is 1 and was fixed as 2 when the message was built");
    let told = view.first_mut().assign(&["xy".to_owned(), "zz".into()]).unwrap_err().to_string();
    assert_eq!(told, "`[1]`: its length is 2 and was fixed as 1 when the message was built");
    view.first_mut().assign(&["xy".to_owned(), "z".into()]).unwrap();
    assert_eq!(view.first().collect::<Vec<_>>(), ["xy", "z"]);
}

#[test]
fn fixed_lists_have_a_shape_for_each_element() {
    let shape = &["é", ""];
    let bytes = <Then<FixedList<WideText, 2>>>::shape_bytes((shape, ())).unwrap();
    assert_eq!(bytes, 13);
    let view = <Then<FixedList<WideText, 2>>>::build(used(bytes), (shape, ())).unwrap();
    assert_eq!(view.first().map(|text| text.to_string()).collect::<Vec<_>>(), shape);
    assert_eq!(view.memory().as_ref(), [1, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn shapes_by_reference_allocate_nothing() {
    type Names = Pair<FixedList<Text, 2>, Pair<List<WideText>, FixedList<Pair<Text, Slice<u8>>, 1>>>;
    let names = ["left".to_owned(), "right".into()];
    let sizes = [(&names[0], 3)];
    let shape = (&names, (&names[..], &sizes));
    let mut memory = used(Names::shape_bytes(shape).unwrap());
    let counts = count(|| {
        let view = Names::build(memory.as_mut(), shape).unwrap();
        assert!(view.first().eq(&names) && view.second().second().all(|sized| sized.first() == "left"));
    });
    assert_eq!(counts, Counts::default());
}

#[test]
fn lists_take_the_shapes_of_their_elements_from_iterators() {
    type Line = Pair<List<Text>, Slice<u16>>;
    type Page = Then<List<Line>>;
    let lines = [vec!["one".to_owned(), "two".into()], vec![], vec!["three".into()]];
    let full = |words: &&Vec<String>| !words.is_empty();
    let shape = (lines.iter().filter(full).map(|words| (words, words.len())), ());
    let mut view = Page::build(used(Page::shape_bytes(shape.clone()).unwrap()), shape).unwrap();
    view.first_mut().zip(5..).for_each(|(mut line, number)| line.second_mut().fill(number));
    let message = view.to_message().unwrap();
    let got: Vec<_> = message.first.iter().map(|line| (&line.first[..], &line.second[..])).collect();
    assert_eq!(got, [(&lines[0][..], &[5; 2][..]), (&lines[2][..], &[6][..])]);
    assert_eq!(body_of(&*message), view.memory().as_ref());
    let same = (repeat_n((["é"], 1), 3), ());
    let view = Page::build(used(Page::shape_bytes(same.clone()).unwrap()), same).unwrap();
    let message = view.to_message().unwrap();
    assert!(message.first.iter().all(|line| line.first == ["é"] && line.second == [0]));
    assert_eq!(message.first.len(), 3);
}

#[test]
fn an_element_in_a_list_in_a_list_is_named() {
    type Page = Then<List<Pair<List<Text<3>>, Number<u8>>>>;
    let shape = ([["one", "two"], ["six", "seven"]].into_iter().map(|words| (words, ())), ());
    let told = Page::shape_bytes(shape).unwrap_err().to_string();
    assert_eq!(told, "`first[1].first[1]` at byte 40: its length is 5 and may be 3");
}

#[test]
fn a_shape_that_changes_after_the_bytes_were_counted_is_refused() {
    let calls = Cell::new(0);
    let shape = ((0..1).map(|_| ["a", "longer"][calls.replace(1)]), ());
    let bytes = <Then<List<Text>>>::shape_bytes(shape.clone()).unwrap();
    let told = <Then<List<Text>>>::build(used(bytes), shape).map(drop).unwrap_err().to_string();
    assert_eq!(told, "`first[0]` at byte 8: 7 bytes are needed and 3 are left");
    calls.set(0);
    let shape = ((0..2).filter(|_| calls.replace(calls.get() + 1) < 3).map(|_| "a"), ());
    let bytes = <Then<List<Text>>>::shape_bytes(shape.clone()).unwrap();
    let told = <Then<List<Text>>>::build(used(bytes), shape).map(drop).unwrap_err().to_string();
    assert!(told.starts_with("at byte 11: 8 bytes of the memory follow the message"), "{told}");
}

#[test]
fn a_text_can_be_changed_in_place_but_not_its_length() {
    let mut view = <Then<Text>>::build(used(9), ("abc", ())).unwrap();
    view.first_mut().make_ascii_uppercase();
    assert_eq!(view.first(), "ABC");
    assert_eq!(<Then<Text>>::view(aligned(view.memory().as_ref())).unwrap().first(), "ABC");
}
