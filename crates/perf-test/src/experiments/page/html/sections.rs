//! The sections that a page has only if the folder contains them: topologies, and the tables of results files.

use super::escape::escape;
use super::table::table;
use crate::experiments::page::folder::Folder;
use crate::experiments::page::group::Groups;
use crate::experiments::page::run::Run;
use crate::experiments::page::table::PageTable;
use crate::experiments::results_file::Table;

/// The section of topologies: for each topology a table, and an element in which a script draws the plots.
pub fn topologies(folder: &Folder) -> String {
    let topologies = Groups::of_topologies(&folder.robots);
    let note = "Each row is a group of runs of whole systems of nodes with equal settings. CPU time and memory include \
        all processes; late, too late and lost are parts of the messages of all subscriptions. Figures are medians of the \
        runs, with the interval in brackets.";
    let of_one = |(index, (name, groups)): (usize, &(&str, Groups))| {
        let logs: String = groups.groups.iter().flat_map(|group| &group.runs).map(|run| log(run)).collect();
        format!(
            "<h3>{}</h3>\n{}<div class=\"robot plots\" data-robot=\"{index}\"></div>\n\
             <details><summary>Logs</summary><ul>{logs}</ul></details>\n",
            escape(name),
            table(&PageTable::of_topology(groups), &format!("Topology {name}")),
        )
    };
    let parts = topologies.iter().enumerate().map(of_one);
    section(
        "topologies",
        "Topologies",
        std::iter::once(format!("<p class=\"note\">{note}</p>\n")).chain(parts),
        topologies.len(),
    )
}

fn log(run: &Run) -> String {
    let fault = run.fault.as_ref().map_or("measured".to_owned(), |fault| format!("{}: {}", fault.kind, fault.sentence));
    format!("<li><code>{}</code> {}</li>", escape(&run.file), escape(&fault))
}

/// The tables of each results file: knees, ratios and all runs.
pub fn tables(folder: &Folder) -> String {
    let of_table = |file: &str, found: &Table| {
        let notes: String = found.notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
        let notes = if notes.is_empty() { notes } else { format!("<ul class=\"note\">\n{notes}</ul>\n") };
        let title = &found.title;
        format!(
            "<h4>{}</h4>\n{}{notes}",
            escape(title),
            table(&PageTable::of_results(found), &format!("{title} of {file}"))
        )
    };
    let of_file = |(file, command, tables): &(String, String, Vec<Table>)| {
        let tables: String = tables.iter().map(|table| of_table(file, table)).collect();
        let (experiment, file, command) = (escape(&folder.experiments.folder(file)), escape(file), escape(command));
        format!(
            "<div data-experiment=\"{experiment}\">\n<h3><code>{file}</code></h3>\n<p class=\"note\">perf_test \
             {command}</p>\n{tables}</div>\n"
        )
    };
    section("tables", "Experiments and comparisons", folder.tables.iter().map(of_file), folder.tables.len())
}

/// A section with these `count` parts; no section if `count` is 0.
fn section(id: &str, title: &str, parts: impl Iterator<Item = String>, count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let parts: String = parts.collect();
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{parts}</section>\n"
    )
}
