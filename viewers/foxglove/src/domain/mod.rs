//! The part of the server that uses Gantry: the graph, the feeds of topics, publishers for viewers, service calls and
//! parameters.

mod feed;
mod graph;
mod parameters;
mod publication;
mod services;

pub use feed::Feed;
pub use graph::{Graph, GraphReader, Names};
pub use parameters::{Found, changes, get, nodes_of, set};
pub use publication::Publication;
pub use services::call;

use gantry::ENCAPSULATION;

/// Returns the bytes of a message without the encapsulation header.
///
/// # Errors
/// The reason, as a sentence: the bytes are not in a CDR encoding that Gantry supports.
pub fn body(cdr: &[u8]) -> Result<&[u8], String> {
    match cdr.split_first_chunk::<4>() {
        Some((start, body)) if start[..2] == ENCAPSULATION[..2] => Ok(body),
        Some((start, _)) => Err(format!("the encapsulation {start:02x?} is not little-endian CDR (00 01 00 00)")),
        None => Err(format!("{} bytes are not CDR, whose encapsulation has 4", cdr.len())),
    }
}
