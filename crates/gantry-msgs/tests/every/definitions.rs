//! The constants of generated types: definition, hash, and largest size.

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
