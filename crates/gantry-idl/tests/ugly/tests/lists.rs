//! Tests of lists in place: a list gives its elements by an iterator, and an assignment checks each element.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use gantry_cdr::{AlignedBytes, Message, Shape, View};
use gantry_idl_ugly::ugly_msgs::{
    self,
    msg::{Keywords, KeywordsShape, Odd, OddPart, OddTextShape, OddView, Odds, OddsShape, StringShape},
};

/// Makes memory in which all bytes are 0xee, like old bytes of another message.
fn used<T: Message>(shape: impl Shape<T>) -> AlignedBytes {
    let mut memory = AlignedBytes::zeroed(T::shape_bytes(shape).unwrap());
    memory.as_mut().fill(0xee);
    memory
}

#[test]
fn elements_of_lists_in_place_are_borrowed_at_once() {
    let string = |text, numbers| StringShape { text, numbers };
    let strings = [string("a", 1), string("", 0), string("abcdefg", 2)];
    let shape = KeywordsShape { r#dyn: &strings[..], ..KeywordsShape::DEFAULT };
    let mut view = Keywords::build(used::<Keywords>(shape), shape).unwrap();
    let mut elements: Vec<_> = view.dyn_mut().collect();
    assert_eq!(elements.iter().map(|element| element.text()).collect::<Vec<_>>(), ["a", "", "abcdefg"]);
    for (number, element) in elements.iter_mut().enumerate().rev() {
        element.set_yes(number != 1);
        element.numbers_mut().fill(number as i32 + 7);
    }
    assert_eq!(elements[0].numbers(), [7]);
    let owned: Vec<_> = elements.iter().map(|element| View::to_message(element).unwrap()).collect();
    assert_eq!((owned[2].text.as_str(), owned[2].numbers.as_slice(), owned[2].yes), ("abcdefg", &[9, 9][..], true));
    let read: Vec<_> = view.r#dyn().map(|element| (element.yes(), element.numbers().to_vec())).collect();
    assert_eq!(read, [(true, vec![7]), (false, vec![]), (true, vec![9, 9])]);
    for (mut element, number) in view.dyn_mut().zip(1..).skip(1) {
        element.numbers_mut().fill(number);
    }
    assert_eq!(view.r#dyn().flat_map(|element| element.numbers().to_vec()).collect::<Vec<_>>(), [7, 3, 3]);
}

/// Puts lists, and messages of fixed size, after texts of every length, so that their elements begin at every offset.
#[test]
fn elements_of_lists_begin_at_any_offset() {
    for length in 0..9 {
        let text = &"12345678"[..length];
        let shape = OddsShape { text, odds: 3, texts: &[OddTextShape { text, odds: 2 }; 3] };
        let mut view = Odds::build(used::<Odds>(shape), shape).unwrap();
        let mut numbers = 1..;
        let mut write = |mut odd: OddView<&mut [u8]>| {
            let number = numbers.next().unwrap();
            odd.set_flag(true);
            odd.set_number(f64::from(number));
            odd.parts_mut().for_each(|mut part| part.set_small(number));
            odd.set_last(number as u8);
            let owned = View::to_message(&odd).unwrap();
            assert_eq!((owned.number, owned.parts[2].small), (f64::from(number), number));
        };
        view.odds_mut().for_each(&mut write);
        for mut element in view.texts_mut() {
            assert_eq!(element.text(), text);
            element.odds_mut().for_each(&mut write);
        }
        let owned = View::to_message(&view).unwrap();
        let odds = owned.odds.iter().chain(owned.texts.iter().flat_map(|text| &text.odds));
        let part = |small| OddPart { flag: false, small };
        let expected =
            (1..10).map(|n| Odd { flag: true, number: f64::from(n), parts: [n; 3].map(part), last: n as u8 });
        assert!(odds.eq(&expected.collect::<Vec<_>>()), "{owned:?}");
        let mut copy = Odds::build(used::<Odds>(shape), shape).unwrap();
        copy.odds_mut().assign(&owned.odds).unwrap();
        copy.texts_mut().assign(&owned.texts).unwrap();
        assert_eq!(*View::to_message(&copy).unwrap(), *owned);
        assert_eq!(owned.to_cdr().unwrap()[4..], *View::memory(&view).as_ref());
        assert_eq!(View::memory(&copy).as_ref(), View::memory(&view).as_ref());
    }
}

#[test]
fn an_element_of_another_length_is_named() {
    let strings = [StringShape { text: "ab", numbers: 1 }, StringShape { text: "cd", numbers: 1 }];
    let shape = KeywordsShape { r#dyn: &strings[..], ..KeywordsShape::DEFAULT };
    let mut view = Keywords::build(used::<Keywords>(shape), shape).unwrap();
    let own =
        |text: &str, numbers: usize| ugly_msgs::msg::String { text: text.into(), numbers: vec![0; numbers], yes: true };
    let mut told = |values: &[ugly_msgs::msg::String]| view.dyn_mut().assign(values).unwrap_err().to_string();
    let fixed =
        |length, expected| format!("its length is {length} and was fixed as {expected} when the message was built");
    let list = "of ugly_msgs/msg/Keywords";
    assert_eq!(told(&[own("ab", 1)]), format!("`dyn` {list}: {}", fixed(1, 2)));
    assert_eq!(told(&[own("ab", 1), own("x", 1)]), format!("`dyn[1].text` {list}: {}", fixed(1, 2)));
    assert_eq!(told(&[own("ab", 3), own("cd", 1)]), format!("`dyn[0].numbers` {list}: {}", fixed(3, 1)));
    view.dyn_mut().assign(&[own("xy", 1), own("zw", 1)]).unwrap();
    assert!(view.r#dyn().map(|element| element.text()).eq(["xy", "zw"]));
}
