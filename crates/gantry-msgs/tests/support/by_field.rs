//! Builds every message in place as a user would, field by field, and compares it field by field.
//!
//! Used by the tests and by the example `interop`. The code for the messages is written by `build/by_field.rs`.

use gantry_msgs::gantry_cdr::{
    AlignedBytes, Kind, Message, Result, Service,
    kind::ListRef,
    zerocopy::{Immutable, IntoBytes},
};

/// A message with all its fields.
#[allow(dead_code, reason = "not every user needs all of it")]
pub trait ByField: Message {
    /// The shape that this message would be built with. What it needs on the heap is never given back.
    fn shape(&self) -> <Self as Kind>::Shape<'_>;
    /// Writes this message to one of its shape, with setters.
    fn fill(&self, target: <Self as Kind>::Mut<'_>);
    /// Whether every field is the same, numbers to the bit.
    fn same(&self, view: <Self as Kind>::Ref<'_>) -> bool;
    /// As `same`, with the getters of the other view.
    fn same_view<B: AsRef<[u8]>>(&self, view: &<Self as Message>::View<B>) -> bool;
    /// What `Debug` prints.
    fn print<B: AsRef<[u8]>>(view: &<Self as Message>::View<B>, out: &mut dyn std::fmt::Write) -> std::fmt::Result;

    /// Builds this message in place, in memory that holds `0xff` everywhere; returns the memory.
    fn built(&self) -> Result<(AlignedBytes, <Self as Kind>::Layout)> {
        use gantry_msgs::gantry_cdr::View;
        let mut memory = AlignedBytes::zeroed(Self::shape_bytes(self.shape())?);
        memory.as_mut().fill(0xff);
        let (_, layout) = Self::build(memory.as_mut(), self.shape())?.into_parts();
        self.fill(Self::get_mut(memory.as_mut(), layout));
        Ok((memory, layout))
    }
}

/// A service type: the path of the module that it is in, its name and its hash.
#[allow(dead_code, reason = "not every user needs it")]
pub struct ServiceEntry {
    pub module: &'static str,
    pub name: &'static str,
    pub hash: [u8; 32],
}

const fn service<S: Service>(module: &'static str) -> ServiceEntry {
    ServiceEntry { module, name: S::TYPE_NAME, hash: S::TYPE_HASH }
}

fn leaked<'a, T>(value: T) -> &'a T {
    Box::leak(Box::new(value))
}

fn same_bytes<T: IntoBytes + Immutable + ?Sized>(got: &T, owned: &T) -> bool {
    got.as_bytes() == owned.as_bytes()
}

fn same_list<'a, K: Kind>(
    got: ListRef<'a, K>,
    owned: &[K::Owned],
    same: impl Fn(K::Ref<'a>, &K::Owned) -> bool,
) -> bool {
    got.len() == owned.len() && got.zip(owned).all(|(got, owned)| same(got, owned))
}

#[allow(clippy::all, clippy::unwrap_used, reason = "written by a program for a program")]
mod code {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/by_field.rs"));
}
#[allow(unused_imports, reason = "not every user needs it")]
pub use code::SERVICES;
