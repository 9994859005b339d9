//! The GID of an entity: the hash of its token.

use gantry::Gid;
use xxhash_rust::xxh3::xxh3_128;

/// The GID of the entity with this token: XXH3 of 128 bits over the whole text, low byte first.
pub fn gid_of(token: &str) -> Gid {
    Gid(xxh3_128(token.as_bytes()).to_le_bytes())
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
}
