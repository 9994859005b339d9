//! Tests with damaged messages: all readers refuse the same messages, an accepted message can be read completely, and
//! nothing panics.

use crate::{Tried, aligned_random_body, by_field::ByField, for_every_type, message_type, tries};
use fastrand::Rng;
use gantry_dynamic::{MessageType, Yaml};
use gantry_msgs::gantry_cdr::{AlignedBytes, ByteOrder, View};
use std::fmt::Write;

/// Reads the bytes by each reader. Returns whether they are accepted.
fn read<T: ByField>(message_type: &MessageType, body: &AlignedBytes) -> bool {
    let dynamic = message_type.view(body.as_ref(), ByteOrder::LittleEndian);
    let mut copy = T::new_box();
    let copied = copy.read_body(body.as_ref(), ByteOrder::LittleEndian);
    match (T::view(body), dynamic) {
        (Ok(view), Ok(dynamic)) => {
            copied.unwrap();
            let message = view.to_message().unwrap();
            assert!(message.same_view(&view));
            assert!(copy.same_view(&view));
            if body.as_ref().len() < 1 << 12 {
                T::print(&view, &mut Discard).unwrap();
                Yaml::FULL_LENGTH.write(&dynamic, &mut Discard).unwrap();
            }
            true
        }
        (Err(typed), Err(dynamic)) => {
            assert_eq!(typed, dynamic);
            copied.unwrap_err();
            false
        }
        (Ok(_), Err(error)) => panic!("only the dynamic view refuses it: {error}"),
        (Err(error), Ok(_)) => panic!("only the typed view refuses it: {error}"),
    }
}

/// A writer that discards its input.
struct Discard;

impl Write for Discard {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Ok(())
    }
}

/// Changes the body at one to three offsets. Half of the changes write a word that makes a wrong length.
fn damage(body: &mut [u8], rng: &mut Rng) {
    for _ in 0..rng.usize(1..=3) {
        let at = rng.usize(..body.len());
        if rng.bool() {
            body[at] = rng.u8(..);
        } else {
            let word = [0, 1, 2, 5, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, u32::MAX, body.len() as u32, rng.u32(..)];
            let start = at & !3;
            for (byte, new) in body[start..].iter_mut().zip(rng.choice(word).unwrap_or(0).to_le_bytes()) {
                *byte = new;
            }
        }
    }
}

#[test]
fn typed_and_dynamic_views_refuse_the_same_damage_with_the_same_sentence() {
    fn check<T: ByField>() {
        let (message_type, mut rng) = (message_type::<T>(), Rng::new());
        let valid = aligned_random_body(&message_type, &mut rng);
        for number in 0..100 {
            let _tried = Tried::<T>::now(&rng);
            if number >= tries(&valid, 100) {
                break;
            }
            let mut body = if number % 8 == 7 { aligned_random_body(&message_type, &mut rng) } else { valid.clone() };
            damage(body.as_mut(), &mut rng);
            read::<T>(&message_type, &body);
        }
    }
    for_every_type!(check);
}

#[test]
fn a_message_truncated_anywhere_is_refused_and_any_bytes_may_follow_it() {
    fn check<T: ByField>() {
        let (message_type, mut rng) = (message_type::<T>(), Rng::new());
        let _tried = Tried::<T>::now(&rng);
        let body = aligned_random_body(&message_type, &mut rng);
        let body = body.as_ref();
        for length in (0..body.len()).rev().take(tries(&AlignedBytes::copy_of(body), 300)) {
            assert!(!read::<T>(&message_type, &AlignedBytes::copy_of(&body[..length])), "cut after {length} bytes");
        }
        for more in [0, 1, 4, 88] {
            let longer = [body, &[0xff; 88][..more]].concat();
            assert!(read::<T>(&message_type, &AlignedBytes::copy_of(&longer)), "{more} bytes more");
        }
    }
    for_every_type!(check);
}

#[test]
fn noise_is_read_or_refused() {
    fn check<T: ByField>() {
        let (message_type, mut rng) = (message_type::<T>(), Rng::new());
        for _ in 0..25 {
            let _tried = Tried::<T>::now(&rng);
            let mut body = AlignedBytes::zeroed(rng.usize(..400));
            // Many bytes are zeros. Otherwise nearly every length in the random bytes would be too large, and nothing
            // after it would be read.
            let density = rng.u8(1..=8);
            body.as_mut().fill_with(|| if rng.u8(..8) < density { 0 } else { rng.u8(..) });
            read::<T>(&message_type, &body);
        }
    }
    for_every_type!(check);
}
