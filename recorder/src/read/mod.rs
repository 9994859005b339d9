//! Reading of bags, including bags whose last file has no end.

mod bag;
mod bag_file;
mod chunk_records;
mod contents;
mod messages;
mod scan;

pub use bag::{Bag, type_name};
pub use bag_file::BagFile;
pub use chunk_records::visit as visit_chunk;
pub use contents::MAX_CHUNK_BYTES;
pub use messages::{Filter, Message, Messages};
