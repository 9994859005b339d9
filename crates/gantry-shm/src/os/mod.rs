//! The operating system: files, mappings, locks, signals, clocks. It knows nothing of messages or topics.

pub(crate) mod clock;
pub(crate) mod directory;
pub(crate) mod event_fd;
pub(crate) mod file;
pub(crate) mod fork;
pub(crate) mod lock;
pub(crate) mod page_probe;
pub(crate) mod region;
pub(crate) mod signals;
pub(crate) mod spin;
