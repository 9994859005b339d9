//! The trait `ByField`. It builds every message in place, as a user's program does, and compares the result, both field
//! by field.
//!
//! `build/by_field.rs` writes the implementations of this trait.

use gantry_msgs::gantry_cdr::{
    AlignedBytes, Kind, Message, Result, Service, Shape,
    kind::ListRef,
    zerocopy::{Immutable, IntoBytes},
};

/// A message with all its fields.
pub trait ByField: Message {
    /// The shape of this message. Lists in the shape are iterators, so the shape uses no heap memory.
    fn shape(&self) -> impl Shape<Self>;
    /// Writes this message with setters into `target`, a message with the same shape.
    fn fill(&self, target: <Self as Kind>::Mut<'_>);
    /// Whether all fields are equal to the fields of `view`. Numbers are compared bit by bit.
    fn same(&self, view: <Self as Kind>::Ref<'_>) -> bool;
    /// Does the same as `same`, but with the getters of the owning view.
    fn same_view<B: AsRef<[u8]>>(&self, view: &<Self as Message>::View<B>) -> bool;
    /// Prints the view with `Debug`.
    fn print<B: AsRef<[u8]>>(view: &<Self as Message>::View<B>, out: &mut dyn std::fmt::Write) -> std::fmt::Result;

    /// Builds this message in place, in memory whose bytes are all `0xff` before. Returns the memory.
    fn built(&self) -> Result<(AlignedBytes, <Self as Kind>::Layout)> {
        use gantry_msgs::gantry_cdr::View;
        let mut memory = AlignedBytes::zeroed(Self::shape_bytes(self.shape())?);
        memory.as_mut().fill(0xff);
        let (_, layout) = Self::build(memory.as_mut(), self.shape())?.into_parts();
        self.fill(Self::get_mut(memory.as_mut(), layout));
        Ok((memory, layout))
    }
}

/// A service type: the path of its Rust module, its name and its hash.
pub struct ServiceEntry {
    pub module: &'static str,
    pub name: &'static str,
    pub hash: [u8; 32],
}

const fn service<S: Service>(module: &'static str) -> ServiceEntry {
    ServiceEntry { module, name: S::TYPE_NAME, hash: S::TYPE_HASH }
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

#[allow(clippy::all, clippy::unwrap_used, reason = "generated code")]
mod code {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/by_field.rs"));
}
pub use code::SERVICES;
