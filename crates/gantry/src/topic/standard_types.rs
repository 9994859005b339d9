//! The descriptions of ROS 2's standard types.

use super::type_description;
use gantry_shm::TypeDescription;
use std::collections::BTreeMap;

/// Returns the types of `gantry-msgs` by name, such as `std_msgs/msg/String` or, for a service,
/// `std_srvs/srv/SetBool_Request`. It is meant for programs that get the name of a type at run time. Needs the feature
/// `standard-types`.
#[must_use]
pub fn standard_types() -> BTreeMap<String, TypeDescription> {
    let mut types = BTreeMap::new();
    // Some older messages of performance_test have the same names as newer ones. The newer messages are inserted first
    // and win.
    let mut insert = |description: TypeDescription| {
        types.entry(description.name.clone()).or_insert(description);
    };
    macro_rules! add {
        ($message:ty) => {
            insert(type_description::<$message>());
        };
    }
    gantry_msgs::for_each_message!(add);
    types
}

#[cfg(test)]
mod tests {
    #[test]
    fn standard_types_are_found_by_their_names() {
        let types = super::standard_types();
        let string = types.get("std_msgs/msg/String").map(|found| found.definition.trim());
        assert_eq!(string, Some("string data"));
        assert!(types.contains_key("std_srvs/srv/SetBool_Request") && !types.contains_key("std_msgs/msg/Strong"));
    }
}
