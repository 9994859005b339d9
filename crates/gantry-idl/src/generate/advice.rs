//! Advice to the author of a crate with definitions: about missing entries in the manifest, and about definitions that
//! do not mean what they seem to mean.

use crate::{
    definitions::Definitions,
    error::{Error, Location},
    value::Value,
};
use std::path::Path;

/// Refuses a crate that does not depend on `gantry-cdr`. Without this check, the compiler would report an error for
/// each line of the generated code.
pub(super) fn check_manifest(folder: &Path) -> Result<(), Error> {
    let path = folder.join("Cargo.toml");
    match std::fs::read_to_string(&path) {
        Ok(manifest) if !manifest.contains("gantry-cdr") && !manifest.contains("gantry_cdr") => {
            let sentence = "the generated code uses the crate `gantry-cdr`; add it to [dependencies]";
            Err(Location::file(path.display()).error(sentence.to_owned()))
        }
        _ => Ok(()),
    }
}

/// A warning for each action file in a folder of packages, because actions are not compiled.
pub(super) fn actions(folder: &Path) -> Vec<String> {
    let children = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = children(folder).flat_map(|package| children(&package.join("action"))).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "action"));
    files.sort();
    files.iter().map(|file| format!("{} is passed over: Gantry has no actions yet", file.display())).collect()
}

/// A warning for each text in which a `#` begins a comment before the closing quote.
pub(super) fn cut_texts(definitions: &Definitions) -> Vec<String> {
    const QUOTES: [char; 2] = ['"', '\''];
    let is_cut = |value: &Value| match value {
        Value::Text(text) => text.starts_with(QUOTES) && (text.len() == 1 || !text.ends_with(QUOTES)),
        _ => false,
    };
    let mut sentences = Vec::new();
    for message in definitions.messages() {
        let fields = message.fields.iter().filter_map(|field| Some((&field.name, field.default.as_ref()?)));
        let constants = message.constants.iter().map(|constant| (&constant.name, &constant.value));
        for (name, _) in fields.chain(constants).filter(|(_, value)| is_cut(value)) {
            let of = &message.name;
            sentences.push(format!(
                "the text of `{name}` in {of} ends where a comment begins: in ROS 2, a `#` begins one even in quotes; write it as \\x23"
            ));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str, text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        folder
    }

    #[test]
    fn a_crate_without_gantry_cdr_is_told_to_add_it() {
        let sentence =
            |text: &str| check_manifest(folder("Cargo.toml", text).path()).map_err(|error| error.to_string());
        let told = sentence("[dependencies]\ngantry = \"0.1\"\n").unwrap_err();
        assert!(told.contains("Cargo.toml: ") && told.contains("add it to [dependencies]"), "{told}");
        assert_eq!(sentence("[dependencies]\ngantry-cdr.workspace = true\n"), Ok(()));
        assert!(check_manifest(Path::new("/nowhere")).is_ok(), "there is no manifest to judge");
    }

    #[test]
    fn actions_are_named() {
        let folder = folder("my_robot/action/Go.action", "---\n---\n");
        let told = actions(folder.path());
        assert!(
            matches!(&told[..], [one] if one.ends_with("my_robot/action/Go.action is passed over: Gantry has no actions yet"))
        );
        assert!(actions(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn texts_that_a_comment_cuts_are_named() {
        let text = "string A=\"a # b\"\nstring b 'whole'  # \"comment\"\nstring c ' # d'\nstring d it's\n";
        let definitions = Definitions::from_text(&"a/msg/Cut".parse().unwrap(), text).unwrap();
        let told = cut_texts(&definitions);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("the text of `c` in a/msg/Cut") && told[1].contains("`A`"), "{told:?}");
    }
}
