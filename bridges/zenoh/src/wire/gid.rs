//! The GID of a node or an endpoint on the network: the hash of its token.

use super::Token;
use gantry::Gid;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128;

/// Returns the GID of the entity with this token: the 128-bit XXH3 hash of the text, in little endian.
pub fn gid_of(token: &str) -> Gid {
    Gid(xxh3_128(token.as_bytes()).to_le_bytes())
}

/// Returns the different GID that hiroz 0.2.1 gives this entity: 16 bytes of the SHA-256 hash of the session id and the
/// entity's number, each in little endian.
pub fn gid_in_hiroz(token: &Token) -> Gid {
    // The text cannot be malformed: `Token::parse` has checked the digits.
    let session = u128::from_str_radix(&token.session, 16).unwrap_or_default();
    let digest = Sha256::new().chain_update(session.to_le_bytes()).chain_update(token.number.to_le_bytes()).finalize();
    let mut gid = Gid::default();
    gid.0.copy_from_slice(&digest[..16]);
    gid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gids_are_those_of_rmw_zenoh() {
        let talker = "@ros2_lv/0/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/\
                      RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,";
        let client = "@ros2_lv/0/1234567890abcdef1234567890abcdef/0/1/SC/%/%/minimal_client/%add_two_ints/\
                      example_interfaces::srv::dds_::AddTwoInts_/\
                      RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a/::,10:,:,:,,";
        let digits = |gid: Gid| gid.0.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(digits(gid_of(talker)), "c128aa5567af01b7163eae5e2a8362d7");
        assert_eq!(digits(gid_of(client)), "b00e6a453f3c9507c802ac48b67ad0a9");
    }

    #[test]
    fn hiroz_hashes_the_session_and_the_number_of_an_entity() {
        let token = Token::parse("@ros2_lv/0/1234567890abcdef1234567890abcdef/0/7/NN/%/%/talker").unwrap();
        let digits = gid_in_hiroz(&token).0.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(digits, "1bc2bd425937319a9f35f321c1ee8a08");
    }
}
