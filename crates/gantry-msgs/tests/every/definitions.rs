//! Tests of the constants of generated types: the definition, the hash, and the largest size.

use crate::{
    by_field::{ByField, SERVICES},
    for_every_type,
};
use gantry_idl::Definitions;

#[test]
fn definitions_are_read_back_with_the_same_hash_text_and_greatest_size() {
    fn check<T: ByField>() {
        let name = T::TYPE_NAME.parse().unwrap();
        let definitions = Definitions::from_text(&name, T::DEFINITION).unwrap();
        assert_eq!(definitions.hash(&name), Some(T::TYPE_HASH), "{name}");
        assert_eq!(definitions.definition_text(&name).as_deref(), Some(T::DEFINITION), "{name}");
        assert_eq!(definitions.max_size_bytes(&name).unwrap_or(usize::MAX), T::MAX_BYTES, "{name}");
        assert_ne!(T::TYPE_HASH, [0; 32], "{name}");
    }
    for_every_type!(check);
}

#[test]
fn the_list_of_messages_has_all_messages_of_the_packages() {
    let mut listed = Vec::new();
    macro_rules! list {
        ($message:path) => {
            listed.push(<$message as gantry_msgs::gantry_cdr::Message>::TYPE_NAME.to_owned());
        };
    }
    gantry_msgs::for_each_message!(list);
    let mut defined = Vec::new();
    let mut services = Vec::new();
    for root in ["packages", "packages-1.x"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let definitions = Definitions::read_packages(&[folder]).unwrap();
        defined.extend(definitions.messages().map(|message| message.name.to_string()));
        for service in definitions.services() {
            services.push((service.name.to_string(), definitions.service_hash(&service.name).unwrap()));
        }
    }
    assert_eq!(listed, defined);
    assert_eq!(SERVICES.iter().map(|service| (service.name.to_owned(), service.hash)).collect::<Vec<_>>(), services);
    assert!(SERVICES.iter().all(|service| service.module.starts_with("gantry_msgs")));
}

/// The expected hashes come from the type descriptions that ROS 2 Jazzy installs (`share/<package>/msg/<Name>.json`).
#[test]
fn parameters_logs_and_the_clock_have_the_hashes_of_ros_2() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packages");
    let definitions = Definitions::read_packages(&[folder]).unwrap();
    for (name, hash) in [
        ("rcl_interfaces/msg/FloatingPointRange", "e6af23a23c177fee5f3075c8b1e435162a9b63c863d78c06017460b49684262d"),
        ("rcl_interfaces/msg/IntegerRange", "f7b7fdc0f65f07702e099218e13288c3963bcb9345bde78b560e6cd19800fc5a"),
        ("rcl_interfaces/msg/ListParametersResult", "237ae3428413dcbcfb452b510c42355f3a2b021dc091afa3e18526d57022f1cd"),
        ("rcl_interfaces/msg/Log", "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"),
        ("rcl_interfaces/msg/LoggerLevel", "95785cc42f048ab4f395af65035aeaf2181d8e1c7a44edb8ad4558445fdb43c0"),
        ("rcl_interfaces/msg/Parameter", "ddfe6442cffc462317adb5c92536a7b6dd55858c5c3e1e328165a6b73c2831af"),
        ("rcl_interfaces/msg/ParameterDescriptor", "52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704"),
        ("rcl_interfaces/msg/ParameterEvent", "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"),
        (
            "rcl_interfaces/msg/ParameterEventDescriptors",
            "456f90915d72ef69379e702ef3ba2a115098ff677eab9c0080fa11239c6b147e",
        ),
        ("rcl_interfaces/msg/ParameterType", "df29ed057a834862187be24dd187d981790ff3ea6502f4cd27b432cbc42c6d46"),
        ("rcl_interfaces/msg/ParameterValue", "115fc089a387e23c7ecd3525c9189c379109119d6ab82e8dfbde0fdf6a7f9b68"),
        (
            "rcl_interfaces/msg/SetLoggerLevelsResult",
            "9316e5e679a5b72d2dd7fd80c539bae9e106fa0890a06dc5da3a8177a3ff6909",
        ),
        ("rcl_interfaces/msg/SetParametersResult", "cfcc0fb0371ee5159b403960ef4300f8f9d2f1fd6117c8666b7f9654d528a9b1"),
        ("rcl_interfaces/srv/DescribeParameters", "845b484d71eb0673dae682f2e3ba3c4851a65a3dcfb97bddd82c5b57e91e4cff"),
        ("rcl_interfaces/srv/GetLoggerLevels", "03bf1bebd0d6514c7ed0ba7c5e08dc9f2f39c759fe99e1e30ea4157d7674f72d"),
        ("rcl_interfaces/srv/GetParameterTypes", "da199c878688b3e530bdfe3ca8f74cb9fa0c303101e980a9e8f260e25e1c80ca"),
        ("rcl_interfaces/srv/GetParameters", "bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc"),
        ("rcl_interfaces/srv/ListParameters", "3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d"),
        ("rcl_interfaces/srv/SetLoggerLevels", "3ff86cb4e91fbf9abae15c234ecc874448de6ece8e193401c077cf116e4f6d78"),
        ("rcl_interfaces/srv/SetParameters", "56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0"),
        (
            "rcl_interfaces/srv/SetParametersAtomically",
            "0e192ef259c07fc3c07a13191d27002222e65e00ccec653ca05e856f79285fcd",
        ),
        ("rosgraph_msgs/msg/Clock", "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"),
    ] {
        let parsed = name.parse().unwrap();
        let own = if name.contains("/srv/") { definitions.service_hash(&parsed) } else { definitions.hash(&parsed) };
        let digits = own.map(|own| own.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        assert_eq!(digits.as_deref(), Some(hash), "{name}");
    }
}
