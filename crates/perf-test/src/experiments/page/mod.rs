//! The HTML page of a folder of results (`perf_test report`). It shows every full log in the folder, in groups of runs
//! with equal settings.
//!
//! The page is one HTML file without references to other files. The tables are plain HTML, so they can be read, printed
//! and searched without scripts; the scripts only filter, sort and draw. The page contains all measured values: a group
//! shows the medians of its runs with intervals, and lists each run with its log.
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

/// The default file name of the page in the folder.
const PAGE: &str = "report.html";

/// Writes the HTML page of a folder into the file `page`; the default is `report.html` in the folder. If `markdown` is
/// given, also writes the tables into this file. Returns the paths of the written files.
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
