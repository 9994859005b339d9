//! Tests properties of every message type of the crate with random and damaged messages, and exchanges messages with
//! other implementations (`interop`). If a test of a property fails, it prints the type and the seed.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod by_field;
mod corpus;
mod damaged;
mod definitions;
mod hashes;
mod interop;
mod valid;

use by_field::ByField;
use fastrand::Rng;
use gantry_dynamic::{MessageType, testing::random_body};
use gantry_idl::Definitions;
use gantry_msgs::gantry_cdr::{AlignedBytes, ByteOrder};

/// Calls a generic function for every message type.
macro_rules! for_every_type {
    ($function:ident) => {
        macro_rules! call {
            ($message:path) => {
                $function::<$message>();
            };
        }
        gantry_msgs::for_each_message!(call);
    };
}
use for_every_type;

/// Makes the dynamic message type from the definition of the generated type.
fn message_type<T: ByField>() -> MessageType {
    let name = T::TYPE_NAME.parse().unwrap();
    let definitions = Definitions::from_text(&name, T::DEFINITION).unwrap();
    MessageType::new(&definitions, &name).unwrap()
}

fn aligned_random_body(message_type: &MessageType, rng: &mut Rng) -> AlignedBytes {
    AlignedBytes::copy_of(&random_body(message_type, rng, ByteOrder::LittleEndian))
}

/// The number of tries in a test whose work grows with the length of a message: fewer tries for longer messages.
fn tries(body: &AlignedBytes, most: usize) -> usize {
    ((1 << 14) / body.as_ref().len().max(1)).clamp(1, most)
}

/// Prints the type and the seed if the test panics.
struct Tried<T: ByField>(u64, std::marker::PhantomData<T>);

impl<T: ByField> Tried<T> {
    fn now(rng: &Rng) -> Self {
        Tried(rng.get_seed(), std::marker::PhantomData)
    }
}

impl<T: ByField> Drop for Tried<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, seed {:#x}", std::any::type_name::<T>(), self.0);
        }
    }
}
