//! The standard types of ROS 2, which a command can use before any program does.

use gantry::{Message, TypeDescription};

/// The standard type of this name, as `std_msgs/msg/String`.
pub fn standard_type(name: &str) -> Option<TypeDescription> {
    let mut found = None;
    // The older messages of performance_test have names of newer ones, which come first.
    macro_rules! compare {
        ($message:ty) => {
            if found.is_none() && <$message as Message>::TYPE_NAME == name {
                found = Some(TypeDescription {
                    name: name.to_owned(),
                    hash: <$message as Message>::TYPE_HASH,
                    definition: <$message as Message>::DEFINITION.to_owned(),
                    payload_bytes: <$message as Message>::MAX_BYTES,
                });
            }
        };
    }
    gantry_msgs::for_each_message!(compare);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_their_names() {
        let string = standard_type("std_msgs/msg/String").map(|found| found.definition);
        assert_eq!(string.as_deref().map(str::trim), Some("string data"));
        assert!(standard_type("std_srvs/srv/SetBool_Request").is_some());
        assert!(standard_type("std_msgs/msg/Strong").is_none());
    }
}
