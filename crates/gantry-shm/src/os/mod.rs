//! The operating system: files, mappings, locks, signals, scheduling, clocks. Messages and topics do not occur here.

pub(crate) mod asymmetric_fence;
pub(crate) mod clock;
pub(crate) mod directory;
pub(crate) mod event_fd;
pub(crate) mod file;
pub(crate) mod fork;
pub(crate) mod lock;
pub(crate) mod mapping;
pub(crate) mod page_probe;
pub(crate) mod pages;
pub(crate) mod region;
pub(crate) mod schedule;
pub(crate) mod signals;
pub(crate) mod spin;
