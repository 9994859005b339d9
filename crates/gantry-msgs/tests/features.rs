//! Tests of the features of the crate. Each message package has a feature with the same name.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use gantry_idl::{BaseType, Definitions};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// For each package, the packages whose messages it contains.
fn packages() -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages");
    let definitions = Definitions::read_packages(&[folder]).unwrap();
    let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for message in definitions.messages() {
        let contained = packages.entry(message.name.package.clone()).or_default();
        for field in &message.fields {
            if let BaseType::Message(nested) = &field.field_type.base
                && nested.package != message.name.package
            {
                contained.insert(nested.package.clone());
            }
        }
    }
    packages
}

/// The quoted words in the list of a feature in `Cargo.toml`.
fn feature(manifest: &str, name: &str) -> Option<BTreeSet<String>> {
    let (_, after) = manifest.split_once(&format!("\n{name} = ["))?;
    let (list, _) = after.split_once(']')?;
    Some(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

#[test]
fn each_package_is_a_feature_with_the_packages_that_it_contains() {
    let manifest = include_str!("../Cargo.toml");
    let packages = packages();
    assert_eq!(feature(manifest, "all"), Some(packages.keys().cloned().collect()));
    for (package, contained) in packages {
        assert_eq!(feature(manifest, &package), Some(contained), "{package}");
    }
}
