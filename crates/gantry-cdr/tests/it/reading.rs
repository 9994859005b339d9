//! Tests of every kind of field, read from bytes that are written by hand, in both byte orders. A `uint8` after the
//! field shows where the field ends.

use crate::message::{After, Pair, Then, aligned, thrice};
use gantry_cdr::{
    ByteOrder, Message,
    kind::{Array, FixedList, List, Number, Slice, Text, WideText},
};

#[test]
fn numbers_have_their_bytes_in_either_order() {
    macro_rules! check {
        ($number:ty, $value:expr, $big:expr) => {
            let value: $number = $value;
            let (mut big, mut little) = ($big.to_vec(), $big.to_vec());
            little.reverse();
            big.push(7);
            little.push(7);
            for message in thrice::<Then<Number<$number>>>(&little, &big) {
                assert_eq!((message.first, message.second), (value, 7));
            }
        };
    }
    check!(u8, 0xfe, [0xfe]);
    check!(i8, -2, [0xfe]);
    check!(bool, true, [1]);
    check!(u16, 0x1234, [0x12, 0x34]);
    check!(i16, -2, [0xff, 0xfe]);
    check!(u32, 0x1234_5678, [0x12, 0x34, 0x56, 0x78]);
    check!(i32, -2, [0xff, 0xff, 0xff, 0xfe]);
    check!(u64, 0x0102_0304_0506_0708, [1, 2, 3, 4, 5, 6, 7, 8]);
    check!(i64, i64::MIN, [0x80, 0, 0, 0, 0, 0, 0, 0]);
    check!(f32, 1.5, [0x3f, 0xc0, 0, 0]);
    check!(f64, -2.0, [0xc0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn an_eight_byte_number_is_aligned_from_the_start_of_the_body_after_texts_of_any_length() {
    for length in 0..20_u8 {
        let text = vec![b'x'; length.into()];
        let mut body = vec![length + 1, 0, 0, 0];
        body.extend(&text);
        body.push(0);
        body.resize(body.len().next_multiple_of(8), 0);
        body.extend(0.25_f64.to_le_bytes());
        let body = aligned(&body);
        let view = <Pair<Text, Number<f64>>>::view(&body).unwrap();
        assert_eq!((view.first().as_bytes(), view.second()), (&text[..], 0.25));
    }
}

#[test]
fn an_empty_sequence_of_eight_byte_numbers_has_no_padding() {
    for message in thrice::<Then<Slice<f64>>>(&[0, 0, 0, 0, 7], &[0, 0, 0, 0, 7]) {
        assert_eq!((&message.first[..], message.second), (&[][..], 7));
    }
    // An empty sequence may end at any offset, even at one that is not aligned for its elements.
    for before in 0..12 {
        let mut body = vec![before, 0, 0, 0];
        body.resize(4 + usize::from(before), 1);
        body.resize(body.len().next_multiple_of(4) + 4, 0);
        let mut body = aligned(&body);
        let mut view = <After<Slice<f64>>>::view(&mut body.as_mut()[..]).unwrap();
        assert_eq!((view.first().len(), view.second()), (before.into(), &[][..]));
        assert_eq!(view.second_mut(), &mut []);
    }
    // Padding precedes the element if a sequence has one.
    let mut body = [0; 17];
    (body[0], body[15], body[16]) = (1, 0x40, 7);
    let memory = aligned(&body);
    let view = <Then<Slice<f64>>>::view(&memory).unwrap();
    assert_eq!((view.first(), view.second()), (&[2.0][..], 7));
}

#[test]
fn sequences_and_arrays_are_slices() {
    let little = [2, 0, 0, 0, 0x34, 0x12, 0x78, 0x56, 7];
    let big = [0, 0, 0, 2, 0x12, 0x34, 0x56, 0x78, 7];
    for message in thrice::<Then<Slice<u16>>>(&little, &big) {
        assert_eq!((&message.first[..], message.second), (&[0x1234, 0x5678][..], 7));
    }
    for message in thrice::<Then<Array<u16, 2>>>(&little[4..], &big[4..]) {
        assert_eq!((message.first, message.second), ([0x1234, 0x5678], 7));
    }
    for message in thrice::<Then<Array<bool, 3>>>(&[1, 0, 1, 7], &[1, 0, 1, 7]) {
        assert_eq!((message.first, message.second), ([true, false, true], 7));
    }
    for message in thrice::<Then<Slice<bool>>>(&[2, 0, 0, 0, 0, 1, 7], &[0, 0, 0, 2, 0, 1, 7]) {
        assert_eq!((&message.first[..], message.second), (&[false, true][..], 7));
    }
}

#[test]
fn an_empty_text_has_its_terminating_zero_or_no_bytes() {
    for message in thrice::<Then<Text>>(&[1, 0, 0, 0, 0, 7], &[0, 0, 0, 1, 0, 7]) {
        assert_eq!((message.first.as_str(), message.second), ("", 7));
    }
    let body = aligned(&[0, 0, 0, 0, 7]);
    let view = <Then<Text>>::view(&body).unwrap();
    assert_eq!((view.first(), view.second()), ("", 7));
    let mut message = <Then<Text>>::default();
    message.read_body(body.as_ref(), ByteOrder::BigEndian).unwrap();
    assert_eq!((message.first.as_str(), message.second), ("", 7));
}

#[test]
fn texts_are_utf8_with_a_zero_behind() {
    let mut little = [4, 0, 0, 0, 0xe2, 0x82, 0xac, 0, 7];
    let big = [0, 0, 0, 4, 0xe2, 0x82, 0xac, 0, 7];
    for message in thrice::<Then<Text>>(&little, &big) {
        assert_eq!((message.first.as_str(), message.second), ("€", 7));
    }
    // A zero inside the text is allowed.
    little[4..7].copy_from_slice(b"a\0b");
    assert_eq!(<Then<Text>>::view(aligned(&little)).unwrap().first(), "a\0b");
}

#[test]
fn wide_texts_are_units_of_four_bytes_without_a_terminating_zero() {
    // U+00E9, and U+1F600 as two units.
    let little = [3, 0, 0, 0, 0xe9, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0, 7];
    let big = [0, 0, 0, 3, 0, 0, 0, 0xe9, 0, 0, 0xd8, 0x3d, 0, 0, 0xde, 0, 7];
    for message in thrice::<Then<WideText>>(&little, &big) {
        assert_eq!((message.first.as_str(), message.second), ("é😀", 7));
    }
    let body = aligned(&little);
    let view = <Then<WideText>>::view(&body).unwrap();
    assert_eq!((view.first().units(), view.first().to_string().as_str()), (3, "é😀"));
    assert_eq!(format!("{:?}", view.first()), "\"é😀\"");
    assert!(view.first() == *"é😀" && view.first() != *"é");
    for message in thrice::<Then<WideText>>(&[0, 0, 0, 0, 7], &[0, 0, 0, 0, 7]) {
        assert_eq!((message.first.as_str(), message.second), ("", 7));
    }
}

#[test]
fn lists_are_iterated() {
    // The texts "a", "" and "bcd", each padded to the next length.
    let little = [3, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, b'b', b'c', b'd', 0, 7];
    let mut big = little;
    for at in [0, 4, 12, 20] {
        big[at..at + 4].reverse();
    }
    for message in thrice::<Then<List<Text>>>(&little, &big) {
        assert_eq!((message.first, message.second), (vec!["a".into(), "".into(), "bcd".into()], 7));
    }
    for message in thrice::<Then<FixedList<Text, 3>>>(&little[4..], &big[4..]) {
        assert_eq!((message.first, message.second), (["a".into(), "".into(), "bcd".into()], 7));
    }
    let body = aligned(&little);
    let view = <Then<List<Text>>>::view(&body).unwrap();
    let list = view.first();
    assert_eq!((list.len(), list.is_empty(), list.iter().len()), (3, false, 3));
    assert_eq!(list.iter().collect::<Vec<_>>(), ["a", "", "bcd"]);
    assert_eq!([0, 1, 2, 3].map(|index| list.get(index)), [Some("a"), Some(""), Some("bcd"), None]);
    assert_eq!(format!("{list:?}"), r#"["a", "", "bcd"]"#);
    assert_eq!((list.iter().nth(1), list.last()), (Some(""), Some("bcd")));
}

#[test]
fn a_list_of_messages_holds_messages() {
    type Inner = Pair<Text, Number<f64>>;
    let mut body = vec![2, 0, 0, 0];
    for (text, number) in [("odd", 1.0_f64), ("", 2.0)] {
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend((text.len() as u32 + 1).to_le_bytes());
        body.extend(text.as_bytes());
        body.push(0);
        body.resize(body.len().next_multiple_of(8), 0);
        body.extend(number.to_le_bytes());
    }
    body.push(7);
    let memory = aligned(&body);
    let view = <Then<List<Inner>>>::view(&memory).unwrap();
    let inner: Vec<_> = view.first().map(|each| (each.first().to_owned(), each.second())).collect();
    assert_eq!((inner, view.second()), (vec![("odd".to_owned(), 1.0), (String::new(), 2.0)], 7));
    let [viewed, ..] = thrice::<Then<List<Inner>>>(&body, &{
        let mut big = body.clone();
        for (at, length) in [(0, 4), (4, 4), (16, 8), (24, 4), (32, 8)] {
            big[at..at + length].reverse();
        }
        big
    });
    assert_eq!((viewed.first[1].first.as_str(), viewed.first[1].second), ("", 2.0));
}
