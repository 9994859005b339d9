//! Writing of MCAP files. Large messages are copied into the page cache, or written from their publishers' memory.

mod bag_writer;
mod chunk;
mod compression;
mod direct_file;
mod direct_parts;
mod encode;
mod file_writer;
mod summary;
mod whole_file;

pub use bag_writer::{BagWriter, DROPS, FileLimits, FolderMetadata, Written};
pub use chunk::{Body, Chunk};
pub use compression::{Compression, Packed};
pub use file_writer::{FileWriter, Route};
