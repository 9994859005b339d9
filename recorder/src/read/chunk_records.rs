//! Reads the records of a chunk: decompresses them and checks the chunk's checksum.
//!
//! Only messages, channels and schemas are parsed, because MCAP allows no other records in a chunk.

use super::contents::MAX_CHUNK_BYTES;
use mcap::{
    parse_record,
    records::{ChunkIndex, Record, op},
};
use std::{
    borrow::Cow,
    io::{self, Read},
};

/// Calls `visit` with each record of a chunk. `crc` is the checksum of the decompressed bytes, or 0 if there is none.
///
/// # Errors
/// A sentence with the reason why the chunk is damaged. Records before the damage have been visited, except if the
/// checksum is wrong.
pub fn visit(index: &ChunkIndex, crc: u32, bytes: &[u8], mut visit: impl FnMut(Record<'_>)) -> Result<(), String> {
    let records = decompress(index, bytes).map_err(|error| format!("it cannot be decompressed: {error}"))?;
    if crc != 0 && crc32fast::hash(&records) != crc {
        return Err("its checksum is wrong".to_owned());
    }
    let mut rest = &records[..];
    while let [opcode, length @ ..] = rest
        && let Some((length, content)) = length.split_first_chunk()
    {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((content, next)) = content.split_at_checked(length) else { break };
        if matches!(*opcode, op::MESSAGE | op::CHANNEL | op::SCHEMA) {
            visit(parse_record(*opcode, content).map_err(|error| error.to_string())?);
        }
        rest = next;
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err(format!("its last {} bytes are not a whole record", rest.len())),
    }
}

fn decompress<'a>(index: &ChunkIndex, bytes: &'a [u8]) -> io::Result<Cow<'a, [u8]>> {
    let size = index.uncompressed_size;
    if size > MAX_CHUNK_BYTES {
        return Err(io::Error::other(format!(
            "it says that it has {size} bytes, and a chunk has {MAX_CHUNK_BYTES} at most"
        )));
    }
    let mut records = Vec::new();
    // Decompression stops one byte beyond the stated size. This detects surplus bytes, and stops a decompression bomb.
    let limit = index.uncompressed_size.saturating_add(1);
    match index.compression.as_str() {
        "" => return Ok(Cow::Borrowed(bytes)),
        "lz4" => lz4::Decoder::new(bytes)?.take(limit).read_to_end(&mut records)?,
        "zstd" => zstd::stream::read::Decoder::new(bytes)?.take(limit).read_to_end(&mut records)?,
        other => return Err(io::Error::other(format!("the compression '{other}' is not known"))),
    };
    match records.len() as u64 == index.uncompressed_size {
        true => Ok(Cow::Owned(records)),
        false => Err(io::Error::other(format!(
            "the chunk does not have the {} bytes that its record states",
            index.uncompressed_size
        ))),
    }
}
