//! The attachment of each sample, request and reply: 33 bytes with the sequence number, the time and the GID of the
//! sender.

use gantry::Gid;

const LENGTH_BYTES: usize = 33;
/// The length of a GID. The serialiser of zenoh-ext writes it as one byte before the GID.
const GID_LENGTH: u8 = 16;

/// The attachment of a message on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The sequence number of the message, which the sender counts from 1.
    pub sequence: i64,
    /// The time of sending in ns since 1970.
    pub source_time_ns: i64,
    /// The GID of the sender.
    pub gid: Gid,
}

impl Attachment {
    pub fn to_bytes(self) -> [u8; LENGTH_BYTES] {
        let mut bytes = [0; LENGTH_BYTES];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.source_time_ns.to_le_bytes());
        bytes[16] = GID_LENGTH;
        bytes[17..].copy_from_slice(&self.gid.0);
        bytes
    }

    /// Parses an attachment. `None` if the bytes are malformed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Attachment> {
        let bytes: &[u8; LENGTH_BYTES] = bytes.try_into().ok()?;
        let (sequence, rest) = bytes.split_first_chunk()?;
        let (source_time_ns, rest) = rest.split_first_chunk()?;
        let (length, gid) = rest.split_first()?;
        let gid = Gid(gid.try_into().ok()?);
        let (sequence, source_time_ns) = (i64::from_le_bytes(*sequence), i64::from_le_bytes(*source_time_ns));
        (*length == GID_LENGTH).then_some(Attachment { sequence, source_time_ns, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Attachment {
        let gid = u128::from_be_bytes(0xc128_aa55_67af_01b7_163e_ae5e_2a83_62d7_u128.to_be_bytes());
        Attachment { sequence: 1, source_time_ns: 1_700_000_000_000_000_000, gid: Gid(gid.to_be_bytes()) }
    }

    #[test]
    fn an_attachment_has_the_bytes_of_rmw_zenoh() {
        let digits = example().to_bytes().map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(digits, "010000000000000000002a36fe9c971710c128aa5567af01b7163eae5e2a8362d7");
        assert_eq!(Attachment::from_bytes(&example().to_bytes()), Some(example()));
    }

    #[test]
    fn other_bytes_are_no_attachment() {
        let bytes = example().to_bytes();
        for length in (0..LENGTH_BYTES).chain([LENGTH_BYTES + 1, 100]) {
            let other: Vec<u8> = bytes.iter().copied().chain([0; 100]).take(length).collect();
            assert_eq!(Attachment::from_bytes(&other), None, "{length} bytes");
        }
        let mut longer_gid = bytes;
        longer_gid[16] = 17;
        assert_eq!(Attachment::from_bytes(&longer_gid), None);
    }
}
