//! Writing of MCAP files. Large messages are copied once: into the page cache, or into a buffer for direct writes.

mod aligned_buffer;
mod bag_writer;
mod chunk;
mod compression;
mod direct_file;
mod encode;
mod file_writer;
mod whole_file;

pub use bag_writer::{BagWriter, DROPS, FileLimits, FolderMetadata, Written};
pub use chunk::{Body, Chunk};
pub use compression::{Compression, Packed};
pub use file_writer::{FileWriter, Route};
