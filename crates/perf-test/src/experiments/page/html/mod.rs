//! The HTML of the page. This module writes the body; style and scripts are files in this folder.

mod data;
mod escape;
mod facts;
mod runs;
mod sections;
mod table;

use super::folder::Folder;
use super::group::Groups;
use super::headline::headlines;
use super::table::PageTable;
use crate::experiments::results_file::MEANING_OF_INTERVALS;
use escape::{escape, fill};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The scripts, in the order in which the browser runs them. A script may only use scripts before it.
const SCRIPTS: [&str; 10] = [
    include_str!("state.js"),
    include_str!("csv.js"),
    include_str!("table.js"),
    include_str!("svg.js"),
    include_str!("style.js"),
    include_str!("axis.js"),
    include_str!("chart.js"),
    include_str!("marks.js"),
    include_str!("plots.js"),
    include_str!("page.js"),
];

/// The whole HTML page of a folder of results.
pub fn html(folder: &Folder, groups: &Groups) -> String {
    let name = escape(&folder.name);
    // The tables and plots of runs without a topology would be empty if the folder has only runs of topologies, so they
    // are hidden.
    let only_robots = folder.runs.is_empty() && folder.shortfalls.is_empty();
    let sentences = headlines(folder, groups);
    let results = PageTable::of_groups(folder, groups);
    // The page opens with the first experiment whose ratios compare runs of the same round.
    let first = sentences.iter().find(|headline| headline.is_paired).map_or("", |headline| &headline.experiment);
    let own = env!("CARGO_PKG_VERSION");
    fill(
        TEMPLATE,
        &[
            ("name", &name),
            ("style", STYLE),
            ("facts", &facts::head(folder, groups)),
            ("warnings-in-short", &facts::warnings_in_short(folder)),
            ("headlines", &facts::headlines(&sentences)),
            ("meaning", MEANING_OF_INTERVALS),
            ("head", &table::sorted_heads(&results)),
            ("rows", &table::rows(&results)),
            ("topologies", &sections::topologies(folder)),
            ("without-groups", if only_robots { " hidden" } else { "" }),
            ("tables", &sections::tables(folder)),
            ("common", &runs::settings(&groups.common, |name| name != "machine")),
            ("runs", &runs::details(groups)),
            ("warnings", &facts::warnings(folder)),
            ("machines", &facts::machines(folder)),
            ("skipped", &facts::skipped(folder)),
            ("version", own),
            ("data", &escape::json_in_script(&data::json(folder, groups, first))),
            ("scripts", &SCRIPTS.join("\n")),
        ],
    )
}
