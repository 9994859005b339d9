//! Tests with random valid messages: all ways to read and to write a message have the same result.

use crate::{Tried, aligned_random_body, by_field::ByField, for_every_type, message_type, tries};
use fastrand::Rng;
use gantry_dynamic::testing::random_body;
use gantry_msgs::gantry_cdr::{AlignedBytes, ByteOrder, ENCAPSULATION, Message, View};

/// Serialises a message over memory that is not zero before.
fn body_of<T: Message>(message: &T) -> AlignedBytes {
    let mut body = AlignedBytes::zeroed(message.body_bytes().unwrap());
    body.as_mut().fill(0xff);
    message.write_body(body.as_mut()).unwrap();
    body
}

#[test]
fn a_view_its_copy_and_their_bytes_agree() {
    fn check<T: ByField>() {
        let (message_type, mut rng) = (message_type::<T>(), Rng::new());
        let mut reused = T::new_box();
        for number in 0..32 {
            let _tried = Tried::<T>::now(&rng);
            let body = aligned_random_body(&message_type, &mut rng);
            assert!(body.as_ref().len() <= T::MAX_BYTES);
            let view = T::view(&body).unwrap();
            let message = view.to_message().unwrap();
            assert!(message.same_view(&view), "the view's getters and its copy have different values");
            let (memory, layout) = view.into_parts();
            assert!(
                message.same(T::get(memory.as_ref(), layout)),
                "the borrowed view's getters and the copy have different values"
            );
            assert!(body_of::<T>(&message).as_ref() == body.as_ref());
            // Reads the body into a message that still has the values of another one.
            reused.read_body(body.as_ref(), ByteOrder::LittleEndian).unwrap();
            assert!(body_of::<T>(&reused).as_ref() == body.as_ref());
            let cdr = message.to_cdr().unwrap();
            assert!(cdr == [&ENCAPSULATION, body.as_ref()].concat());
            if number + 1 >= tries(&body, 32) {
                break;
            }
        }
    }
    for_every_type!(check);
}

#[test]
fn a_big_endian_message_is_the_same_message() {
    fn check<T: ByField>() {
        let (message_type, seed) = (message_type::<T>(), fastrand::u64(..));
        let _tried = Tried::<T>::now(&Rng::with_seed(seed));
        let [little, big] = [ByteOrder::LittleEndian, ByteOrder::BigEndian]
            .map(|order| random_body(&message_type, &mut Rng::with_seed(seed), order));
        let message = T::from_cdr(&[&[0, 0, 0, 0], &big[..]].concat()).unwrap();
        assert!(body_of::<T>(&message).as_ref() == little);
        message_type.view(&big, ByteOrder::BigEndian).unwrap();
        let mut converted = big;
        message_type.to_little_endian(&mut converted).unwrap();
        assert!(converted == little);
    }
    for_every_type!(check);
}

#[test]
fn a_message_built_in_place_is_the_serialised_one() {
    fn check<T: ByField>() {
        let (message_type, mut rng) = (message_type::<T>(), Rng::new());
        for number in 0..16 {
            let _tried = Tried::<T>::now(&rng);
            let body = aligned_random_body(&message_type, &mut rng);
            let message = T::view(&body).unwrap().to_message().unwrap();
            let (built, layout) = message.built().unwrap();
            assert!(built.as_ref() == body.as_ref());
            let (_, found) = T::view(&built).unwrap().into_parts();
            assert_eq!(layout, found, "the built layout is the one that a view finds");
            if number + 1 >= tries(&body, 16) {
                break;
            }
        }
    }
    for_every_type!(check);
}

#[test]
fn a_built_message_is_valid_before_its_fields_are_written() {
    // The size of a message equals the size of its shape. Memory that is one byte shorter or longer is refused.
    fn check<T: ByField>() {
        let mut rng = Rng::new();
        let _tried = Tried::<T>::now(&rng);
        let body = aligned_random_body(&message_type::<T>(), &mut rng);
        let message = T::view(&body).unwrap().to_message().unwrap();
        let length_bytes = T::shape_bytes(message.shape()).unwrap();
        assert_eq!(length_bytes, body.as_ref().len());
        let mut memory = AlignedBytes::zeroed(length_bytes);
        memory.as_mut().fill(0xff);
        let (_, layout) = T::build(memory.as_mut(), message.shape()).unwrap().into_parts();
        assert_eq!(T::view(&memory).unwrap().into_parts().1, layout);
        T::build(AlignedBytes::zeroed(length_bytes + 1), message.shape()).map(drop).unwrap_err();
        T::build(AlignedBytes::zeroed(length_bytes - 1), message.shape()).map(drop).unwrap_err();
    }
    for_every_type!(check);
}
