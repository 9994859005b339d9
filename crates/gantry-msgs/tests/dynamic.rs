//! Tests that the generated view and the dynamic view of each message agree. Both accept the same bytes, and both
//! refuse the same bytes with the same field, offset and sentence.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use gantry_dynamic::{MessageType, testing::random_body};
use gantry_idl::Definitions;
use gantry_msgs::gantry_cdr::{
    AlignedBytes,
    ByteOrder::{BigEndian, LittleEndian},
    Message,
};

/// The largest message in this test, in bytes. Types with longer messages are left out, because shorter messages
/// contain all of their kinds of fields.
const MOST_BYTES: usize = 64 * 1024;

fn message_type<T: Message>() -> MessageType {
    let name = T::TYPE_NAME.parse().unwrap();
    MessageType::new(&Definitions::from_text(&name, T::DEFINITION).unwrap(), &name).unwrap()
}

/// Whether messages of the type are short enough for the test.
fn is_short<T: Message>() -> bool {
    T::MAX_BYTES <= MOST_BYTES || T::MAX_BYTES == usize::MAX
}

/// Checks random values. A message that is read from either byte order must be written as the little-endian bytes. A
/// big-endian body that is converted in place must have the same bytes.
fn reads_random_values<T: Message>() {
    let message_type = message_type::<T>();
    for seed in 0..5 {
        let little = random_body(&message_type, &mut Rng::with_seed(seed), LittleEndian);
        let big = random_body(&message_type, &mut Rng::with_seed(seed), BigEndian);
        T::view(AlignedBytes::copy_of(&little)).unwrap_or_else(|error| panic!("{}: {error}", T::TYPE_NAME));
        message_type.view(&little, LittleEndian).unwrap_or_else(|error| panic!("{}: {error}", T::TYPE_NAME));
        message_type.view(&big, BigEndian).unwrap_or_else(|error| panic!("{}: {error}", T::TYPE_NAME));
        for (body, order) in [(&little, LittleEndian), (&big, BigEndian)] {
            let mut message = T::new_box();
            message.read_body(body, order).unwrap();
            let mut again = vec![0; message.body_bytes().unwrap()];
            message.write_body(&mut again).unwrap();
            assert!(again == little, "{} from {order:?} is not written as it was", T::TYPE_NAME);
        }
        let mut turned = big;
        message_type.to_little_endian(&mut turned).unwrap();
        assert!(turned == little, "{} becomes another message", T::TYPE_NAME);
    }
}

fn refuses_damage<T: Message>() {
    let message_type = message_type::<T>();
    let mut rng = Rng::with_seed(1);
    for _ in 0..40 {
        let mut body = random_body(&message_type, &mut rng, LittleEndian);
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..body.len());
            body[at] = rng.u8(..);
        }
        if rng.bool() {
            body.truncate(rng.usize(..body.len()));
        }
        let generated = T::view(AlignedBytes::copy_of(&body)).err();
        let dynamic = message_type.view(&body, LittleEndian).err();
        assert_eq!(dynamic, generated, "{} of {body:?}", T::TYPE_NAME);
    }
}

#[test]
fn both_read_random_values_of_each_message() {
    let mut count = 0;
    macro_rules! each {
        ($message:path) => {
            if is_short::<$message>() {
                reads_random_values::<$message>();
                count += 1;
            }
        };
    }
    gantry_msgs::for_each_message!(each);
    assert!(count > 150, "only {count} messages were tested");
}

#[test]
fn both_refuse_the_same_damage_to_each_message() {
    let mut count = 0;
    macro_rules! each {
        ($message:path) => {
            if is_short::<$message>() {
                refuses_damage::<$message>();
                count += 1;
            }
        };
    }
    gantry_msgs::for_each_message!(each);
    assert!(count > 150, "only {count} messages were tested");
}
