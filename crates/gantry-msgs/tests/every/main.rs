//! What must be so for every message type of the crate, tried with random messages and with damaged ones.
//!
//! A failure names the type and the seed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

#[path = "../support/by_field.rs"]
mod by_field;
mod corpus;
mod damaged;
mod definitions;
mod valid;

use by_field::ByField;
use fastrand::Rng;
use gantry_idl::{
    Definitions,
    dynamic::{MessageType, testing::random_body},
};
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

/// A message type as the dynamic view has it, made of the definition that the generated type carries.
fn message_type<T: ByField>() -> MessageType {
    let name = T::TYPE_NAME.parse().unwrap();
    let definitions = Definitions::from_text(&name, T::DEFINITION).unwrap();
    MessageType::new(&definitions, &name).unwrap()
}

fn aligned_random_body(message_type: &MessageType, rng: &mut Rng) -> AlignedBytes {
    AlignedBytes::copy_of(&random_body(message_type, rng, ByteOrder::LittleEndian))
}

/// How often something is tried whose work grows with the bytes.
fn tries(body: &AlignedBytes, most: usize) -> usize {
    ((1 << 16) / body.as_ref().len().max(1)).clamp(1, most)
}

/// Says which type and which random numbers it was, if the work panics.
struct Tried<T: ByField>(u64, std::marker::PhantomData<T>);

impl<T: ByField> Tried<T> {
    fn now(rng: &Rng) -> Self {
        Tried(rng.get_seed(), std::marker::PhantomData)
    }
}

impl<T: ByField> Drop for Tried<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, random numbers from {:#x} on", std::any::type_name::<T>(), self.0);
        }
    }
}
