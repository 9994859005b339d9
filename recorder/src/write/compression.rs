//! The compression of chunks.

use super::{chunk::Chunk, encode::ChunkStart};
use clap::ValueEnum;
use std::io::{self, Write};

/// The compression of the chunks in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Compression {
    /// No compression. Large messages stay in their publishers' memory until they are written.
    #[default]
    None,
    /// LZ4, which is fast.
    Lz4,
    /// Zstandard with level 1, whose results are smaller.
    Zstd,
}

/// A chunk in the form in which the file will have it.
#[derive(Debug)]
pub struct Packed {
    chunk: Chunk,
    start: ChunkStart,
    /// The compressed records; `None` without compression, when the parts of the chunk are written directly.
    compressed: Option<Vec<u8>>,
}

impl Compression {
    /// The name of the compression in MCAP files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        }
    }

    /// Compresses a chunk. With [`Compression::None`], the records stay unchanged.
    ///
    /// # Errors
    /// The compressor has too little memory.
    pub fn pack(self, chunk: Chunk) -> io::Result<Packed> {
        let mut crc = crc32fast::Hasher::new();
        let compressed = match self {
            Compression::None => None,
            Compression::Lz4 => {
                let mut encoder = lz4::EncoderBuilder::new().build(Vec::with_capacity(chunk.bytes() as usize / 2))?;
                compress(&chunk, &mut crc, &mut encoder)?;
                let (bytes, result) = encoder.finish();
                result.map(|()| Some(bytes))?
            }
            Compression::Zstd => {
                let bytes = Vec::with_capacity(chunk.bytes() as usize / 2);
                let mut encoder = zstd::stream::write::Encoder::new(bytes, 1)?;
                compress(&chunk, &mut crc, &mut encoder)?;
                Some(encoder.finish()?)
            }
        };
        let (first_ns, last_ns) = chunk.times().unwrap_or_default();
        let start = ChunkStart {
            first_ns,
            last_ns,
            uncompressed_bytes: chunk.bytes(),
            uncompressed_crc: if compressed.is_some() { crc.finalize() } else { 0 },
            compression: self.name(),
            compressed_bytes: compressed.as_ref().map_or(chunk.bytes(), |bytes| bytes.len() as u64),
        };
        Ok(Packed { chunk, start, compressed })
    }
}

fn compress(chunk: &Chunk, crc: &mut crc32fast::Hasher, encoder: &mut impl Write) -> io::Result<()> {
    for part in chunk.parts() {
        crc.update(part);
        encoder.write_all(part)?;
    }
    Ok(())
}

impl Packed {
    /// The chunk with its messages.
    #[must_use]
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The length of the chunk record in the file, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.start.record_bytes()
    }

    /// The size of the data that can be written from its publishers' memory, in bytes.
    pub(super) fn padded_bytes(&self) -> u64 {
        if self.compressed.is_some() { 0 } else { self.chunk.padded_bytes() }
    }

    pub(super) fn start(&self) -> &ChunkStart {
        &self.start
    }

    pub(super) fn parts(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match &self.compressed {
            Some(bytes) => Box::new(std::iter::once(&bytes[..])),
            None => Box::new(self.chunk.parts()),
        }
    }
}
