//! Reads folders of packages: `<folder>/<package>/msg/<Name>.msg` and `<folder>/<package>/srv/<Name>.srv`. Other files
//! are ignored.

use crate::{
    definitions::Definitions,
    error::{Errors, Location, Report},
    model::BaseType,
    name::{Namespace, TypeName, check_interface, check_package},
    parser::{Parser, Reference, lines},
    resolve,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

impl Definitions {
    /// Reads folders of packages: `<folder>/<package>/{msg,srv}/*.{msg,srv}`. A message in one folder may contain
    /// messages from another folder.
    ///
    /// # Errors
    /// All errors in all files.
    pub fn read_packages<P: AsRef<Path>>(folders: &[P]) -> Result<Self, Errors> {
        Self::default().with_packages(folders)
    }

    /// Reads folders of packages like [`Definitions::read_packages`]. Their messages may also contain messages of
    /// `self`. If a file defines a type that `self` also has, the definition in the file is used.
    ///
    /// # Errors
    /// All errors in all files; or a message contains itself.
    pub fn with_packages<P: AsRef<Path>>(&self, folders: &[P]) -> Result<Self, Errors> {
        let mut report = Report::new(usize::MAX);
        let mut definitions = Self::default();
        let mut references = Vec::new();
        for folder in folders {
            for (name, path) in files(folder.as_ref(), &mut report) {
                let shown = path.display().to_string();
                let text = match fs::read_to_string(&path) {
                    Ok(text) => text,
                    Err(error) => {
                        report.push(Location::file(&shown).error(format!("it cannot be read: {error}")));
                        continue;
                    }
                };
                let mut parser = Parser { path: &shown, report: &mut report, references: &mut references };
                if !definitions.parse_interface(&mut parser, &name, &lines(&text)) {
                    let sentence = format!("`{name}` is defined twice: the folders hold another file of this name");
                    report.push(Location::file(&shown).error(sentence));
                }
            }
        }
        definitions.add_missing(self, &mut references);
        resolve::check(&definitions, &references, &mut report);
        report.into_result().map(|()| definitions)
    }

    /// Adds the definitions of `known` whose names are not used yet, with their references to nested messages.
    pub(crate) fn add_missing(&mut self, known: &Self, references: &mut Vec<Reference>) {
        for (name, message) in &known.messages {
            if self.messages.contains_key(name) {
                continue;
            }
            let nested = message.fields.iter().filter_map(|field| match &field.field_type.base {
                BaseType::Message(target) => Some(target),
                _ => None,
            });
            let location = Location::file(name);
            references.extend(nested.map(|target| Reference {
                owner: name.clone(),
                target: target.clone(),
                written: target.to_string(),
                location: location.clone(),
            }));
            self.messages.insert(name.clone(), message.clone());
        }
        for (name, service) in &known.services {
            self.services.entry(name.clone()).or_insert_with(|| service.clone());
        }
    }
}

/// The `.msg` and `.srv` files in a folder of packages, in order.
fn files(folder: &Path, report: &mut Report) -> Vec<(TypeName, PathBuf)> {
    let mut files = Vec::new();
    for package in children(folder, report) {
        for (namespace, extension) in [(Namespace::Msg, "msg"), (Namespace::Srv, "srv")] {
            let interfaces = package.join(extension);
            if !interfaces.is_dir() {
                continue;
            }
            let package_name = file_stem(&package, false);
            if let Err(why) = check_package(&package_name) {
                report.push(Location::file(interfaces.display()).error(why));
                continue;
            }
            for path in children(&interfaces, report) {
                if path.extension().is_none_or(|found| found != extension) {
                    continue;
                }
                let name = file_stem(&path, true);
                // The rule for messages applies, because a file name must not end with `_Request` or `_Response`.
                match check_interface(&name, Namespace::Msg) {
                    Ok(()) => files.push((TypeName { package: package_name.clone(), namespace, name }, path)),
                    Err(why) => report.push(Location::file(path.display()).error(why)),
                }
            }
        }
    }
    files
}

fn file_stem(path: &Path, without_extension: bool) -> String {
    let name = if without_extension { path.file_stem() } else { path.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

fn children(folder: &Path, report: &mut Report) -> Vec<PathBuf> {
    let read = || fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    let mut children = read().unwrap_or_else(|error| {
        report.push(Location::file(folder.display()).error(format!("this folder cannot be read: {error}")));
        Vec::new()
    });
    children.sort();
    children
}
