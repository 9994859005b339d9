//! `gantry interface cpp`.

use crate::{known_types::KnownTypes, names::Names, session::Session};
use clap::Args;
use gantry_command::{Failure, Result};
use gantry_idl::cpp_headers;
use std::{collections::BTreeSet, fs, path::PathBuf};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Folders of packages: FOLDER/PACKAGE/{msg,srv}/*.{msg,srv}; without one, the standard packages
    #[arg(name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The folder for the headers, which is created; it becomes the include path, such as build/messages
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Arguments {
    /// Writes the headers, and prints their paths. A header that has not changed keeps its modification time, so
    /// that nothing is compiled again.
    pub fn run(self, session: Session) -> Result<()> {
        let own = self.packages()?;
        let definitions = KnownTypes::standard().definitions()?.with_packages(&self.folders).map_err(Failure::new)?;
        let is_asked = |package: &str| self.folders.is_empty() || own.contains(package);
        let headers = cpp_headers(&definitions, is_asked).map_err(Failure::new)?;
        let mut written = Vec::new();
        for (name, text) in headers {
            let path = self.output.join(&name);
            if !fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                let folder = path.parent().unwrap_or(&self.output);
                let failed = |error| Failure::new(format!("{} cannot be written: {error}", path.display()));
                fs::create_dir_all(folder).and_then(|()| fs::write(&path, &text)).map_err(failed)?;
            }
            written.push(path.display().to_string());
        }
        session.output.print(&Names::List(written))
    }

    /// The packages in the folders.
    fn packages(&self) -> Result<BTreeSet<String>> {
        let mut packages = BTreeSet::new();
        for folder in &self.folders {
            let failed = |error| Failure::new(format!("{} cannot be read: {error}", folder.display()));
            let entries = fs::read_dir(folder).map_err(failed)?;
            packages.extend(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()));
        }
        Ok(packages)
    }
}
