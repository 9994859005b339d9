//! Tests of messages whose memory is their CDR.

use crate::message::{After, aligned, thrice};
use gantry_cdr::{
    AlignedBytes, ByteOrder, Element, Message, PlainMessage, View,
    kind::{Array, Number, Slice},
    type_hash,
    zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
#[zerocopy(crate = "gantry_cdr::zerocopy")]
struct Mixed {
    wide: u64,
    narrow: [u16; 3],
    bytes: [u8; 2],
}

impl PlainMessage for Mixed {
    const TYPE_NAME: &'static str = "test/msg/Mixed";
    const DEFINITION: &'static str = "uint64 wide\nuint16[3] narrow\nuint8[2] bytes\n";

    fn swap_bytes(&mut self) -> bool {
        Element::swap_bytes(std::slice::from_mut(&mut self.wide)) && Element::swap_bytes(&mut self.narrow)
    }
}

/// A plain message that cannot swap the bytes of its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
#[zerocopy(crate = "gantry_cdr::zerocopy")]
struct ByHand(u32);

impl PlainMessage for ByHand {
    const TYPE_NAME: &'static str = "test/msg/ByHand";
    const DEFINITION: &'static str = "uint32 number\n";
}

const LITTLE: [u8; 16] = [8, 7, 6, 5, 4, 3, 2, 1, 2, 1, 4, 3, 6, 5, 1, 2];
const BIG: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 1, 2];
const MIXED: Mixed = Mixed { wide: 0x0102_0304_0506_0708, narrow: [0x0102, 0x0304, 0x0506], bytes: [1, 2] };

#[test]
fn a_plain_message_is_a_struct_in_place() {
    for message in thrice::<Mixed>(&LITTLE, &BIG) {
        assert_eq!(*message, MIXED);
    }
    let mut view = Mixed::build(AlignedBytes::zeroed(16), ()).unwrap();
    *view = MIXED;
    view.bytes[0] = 9;
    assert_eq!(view.memory().as_ref()[14..], [9, 2]);
    assert_eq!(*view.to_message().unwrap(), *view);
    assert_eq!(format!("{view:?}"), format!("{:?}", *view));
    assert_eq!((Mixed::MAX_BYTES, Mixed::shape_bytes(()).unwrap()), (16, 16));
    assert_eq!(*Mixed::new_box(), Mixed::default());
}

#[test]
fn plain_messages_in_fields_arrays_and_sequences_have_their_rust_layout() {
    let padded = |bytes: &[u8], length: u8| [&[length, 0, 0, 0, 0, 0, 0, 0], bytes].concat();
    let twice = padded(&[LITTLE, LITTLE].concat(), 2);
    let memory = aligned(&twice);
    let view = <crate::message::Pair<Slice<Mixed>, Array<u8, 1>>>::view(&memory);
    assert!(view.is_err(), "there is no byte left for the second field");
    let memory = aligned(&[&twice[..], &[7]].concat());
    let view = <crate::message::Then<Slice<Mixed>>>::view(&memory).unwrap();
    assert_eq!((view.first(), view.second()), (&[MIXED; 2][..], 7));
    let memory = aligned(&padded(&LITTLE, 1)[..8].iter().chain(&LITTLE).copied().collect::<Vec<_>>());
    let view = <crate::message::Pair<Number<u8>, Mixed>>::view(&memory).unwrap();
    assert_eq!((view.first(), *view.second()), (1, MIXED));
    let memory = aligned(&[&[0, 0, 0, 0, 0, 0, 0, 0][..], &LITTLE, &LITTLE].concat());
    let mut memory = memory;
    let mut view = <After<Array<Mixed, 2>>>::view(&mut memory.as_mut()[..]).unwrap();
    view.second_mut()[1].wide = 1;
    assert_eq!(view.second(), [MIXED, Mixed { wide: 1, ..MIXED }]);
}

#[test]
fn too_few_bytes_are_refused() {
    let sentence = |bytes: &[u8]| Mixed::view(aligned(bytes)).map(drop).unwrap_err().to_string();
    assert_eq!(sentence(&LITTLE[..15]), "at byte 0: 16 bytes are needed and 15 are left");
    assert_eq!(*Mixed::view(aligned(&[&LITTLE[..], &[0; 9]].concat())).unwrap(), MIXED, "what follows is passed over");
}

#[test]
fn a_struct_that_cannot_swap_its_numbers_is_not_read_big_endian() {
    assert_eq!(*ByHand::from_cdr(&[0, 1, 0, 0, 5, 0, 0, 0]).unwrap(), ByHand(5));
    let sentence = ByHand::from_cdr(&[0, 0, 0, 0, 0, 0, 0, 5]).unwrap_err().to_string();
    assert_eq!(
        sentence,
        "test/msg/ByHand at byte 0: the struct was not generated and cannot swap the bytes of its numbers, so it cannot be read big endian"
    );
    let mut none = <crate::message::Then<Slice<ByHand>>>::default();
    none.read_body(&[0, 0, 0, 0, 7], ByteOrder::BigEndian).unwrap();
}

#[test]
fn hashes_are_read_from_ros_2s_form() {
    const HASH: [u8; 32] = type_hash("RIHS01_00ff0a000000000000000000000000000000000000000000000000000000007f");
    assert_eq!((HASH[..3].to_vec(), HASH[31]), (vec![0, 255, 10], 127));
}
