//! The page: its parts are HTML from here, and style and scripts from the files beside this one.

mod data;
mod escape;
mod facts;
mod ratios;
mod robots;
mod runs;
mod table;
mod tables;

use plotly::Plot;

use super::figures::{FIGURES, title};
use super::folder::{Folder, middleware};
use super::group::{Groups, MEANING};
use crate::log::figures::Figure;
use escape::{escape, fill};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("state.js"),
    include_str!("table.js"),
    include_str!("style.js"),
    include_str!("plots.js"),
    include_str!("page.js"),
];

/// The page of a folder.
pub fn html(folder: &Folder, groups: &Groups) -> String {
    let name = escape(&folder.name);
    // Their tables and plots would be empty.
    let only_robots = folder.runs.is_empty() && folder.shortfalls.is_empty();
    let own = env!("CARGO_PKG_VERSION");
    fill(
        TEMPLATE,
        &[
            ("name", &name),
            ("style", STYLE),
            ("facts", &facts::head(folder, groups)),
            ("warnings-in-short", &facts::warnings_in_short(folder)),
            ("middlewares", &middlewares(folder)),
            ("messages", &messages(groups)),
            ("metrics", &metrics()),
            ("meaning", MEANING),
            ("head", &table::head()),
            ("rows", &table::rows(folder, groups)),
            ("topologies", &robots::section(folder)),
            ("without-groups", if only_robots { " hidden" } else { "" }),
            ("ratios", &ratios::section(folder)),
            ("tables", &tables::section(folder)),
            ("common", &facts::common(groups)),
            ("runs", &runs::details(groups)),
            ("warnings", &facts::warnings(folder)),
            ("machines", &facts::machines(folder)),
            ("skipped", &facts::skipped(folder)),
            ("version", own),
            ("data", &escape::json_in_script(&data::json(folder, groups))),
            ("plotly", &plotly_js()),
            ("scripts", &SCRIPTS.join("\n")),
        ],
    )
}

/// The `script` element with plotly.js. The crate adds a second one, which sets formulas in titles; no plot has one.
fn plotly_js() -> String {
    let mut sources = Plot::offline_js_sources();
    let end = sources.find("</script>").map_or(sources.len(), |at| at + "</script>".len());
    sources.truncate(end);
    sources
}

/// The names of the middlewares, without regard to case in order.
fn names(folder: &Folder) -> Vec<&str> {
    let of_runs = folder.runs.iter().map(|run| run.entry.spec.communicator.as_str());
    let mut names: Vec<&str> =
        of_runs.chain(folder.shortfalls.iter().map(|(_, shortfall)| middleware(shortfall))).collect();
    names.sort_by_key(|name| name.to_lowercase());
    names.dedup_by_key(|name| name.to_lowercase());
    names
}

fn middlewares(folder: &Folder) -> String {
    names(folder)
        .into_iter()
        .map(|name| {
            let (value, name) = (escape(&name.to_lowercase()), escape(name));
            format!("<label><input type=\"checkbox\" name=\"middleware\" value=\"{value}\" checked> {name}</label>\n")
        })
        .collect()
}

fn messages(groups: &Groups) -> String {
    let mut options: Vec<String> = Vec::new();
    for group in &groups.groups {
        let (key, text) = (escape(&table::message_key(group)), escape(&table::message(group)));
        let option = format!("<option value=\"{key}\">{text}</option>\n");
        // The groups are in the order of their sizes.
        if options.last() != Some(&option) {
            options.push(option);
        }
    }
    options.concat()
}

fn metrics() -> String {
    let option =
        |figure: &&Figure| format!("<option value=\"{}\">{}</option>\n", escape(figure.key), escape(&title(figure)));
    FIGURES.iter().map(option).collect()
}
