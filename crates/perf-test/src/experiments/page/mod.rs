//! A folder of results as one page (`perf_test report`): every full log in the folder, in groups of runs with
//! equal settings.
//!
//! The page is one HTML file that refers to no other file. The tables are HTML, so that they can be read, printed
//! and searched without a script; scripts only filter, sort and draw. No measured value is left out: a group shows
//! the medians of its runs with their intervals, and below it stands each run with its log.
//!
//! ```text
//! folder ─► run ─► group ─► headline, table ─► html, markdown
//! ```

mod experiment;
mod figures;
mod folder;
mod group;
mod headline;
mod html;
mod markdown;
mod run;
mod settings;
mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use folder::Folder;
use group::Groups;

/// The file name of the page within the folder, if the user gives no other.
const PAGE: &str = "report.html";

/// Writes the page of a folder into the file `page`, or into `report.html` in the folder, and the page's tables
/// into the file `markdown`, if it is given. Returns the names of the written files.
///
/// # Errors
/// The reason, as a sentence: the folder cannot be read or has no log, or a file cannot be written.
pub fn report(folder: &Path, page: Option<&Path>, markdown: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let found = Folder::read(folder)?;
    let groups = Groups::new(&found.runs);
    let page = page.map_or_else(|| folder.join(PAGE), Path::to_owned);
    let mut written = vec![(page, html::html(&found, &groups))];
    written.extend(markdown.map(|file| (file.to_owned(), markdown::text(&found, &groups))));
    for (file, text) in &written {
        std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(written.into_iter().map(|(file, _)| file).collect())
}
