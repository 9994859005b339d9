//! The sentences at the head of the page and the choices of its filters.

use super::escape::escape;
use super::table;
use crate::experiments::page::figures::{FIGURES, title};
use crate::experiments::page::folder::{Folder, middleware};
use crate::experiments::page::group::Groups;
use crate::experiments::page::headline::{Headline, experiments};
use crate::log::figures::Figure;

/// The sentences; the first one stands out.
pub fn headlines(headlines: &[Headline]) -> String {
    let sentence = |Headline { experiment, sentence, .. }: &Headline| {
        format!("<li data-experiment=\"{}\">{}</li>\n", escape(experiment), escape(sentence))
    };
    let sentences: String = headlines.iter().map(sentence).collect();
    if sentences.is_empty() {
        return sentences;
    }
    let note = "Ratios of median latencies, with intervals of 95 % or more; those of <code>compare middlewares</code> are \
        paired by rounds.";
    format!("<ul class=\"headlines\">\n{sentences}</ul>\n<p class=\"note\">{note}</p>\n")
}

/// The experiment that the page shows first: the first one whose ratios a file of results has. Empty if there is none.
pub fn first(headlines: &[Headline]) -> &str {
    headlines.iter().find(|headline| headline.is_paired).map_or("", |headline| &headline.experiment)
}

/// The choices of the experiment.
pub fn experiment_options(groups: &Groups) -> String {
    let names = experiments(groups);
    let names = names.iter().filter(|name| !name.is_empty()).map(|name| escape(name));
    names.map(|name| format!("<option value=\"{name}\">{name}</option>\n")).collect()
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

/// A box for each middleware.
pub fn middlewares(folder: &Folder) -> String {
    names(folder)
        .into_iter()
        .map(|name| {
            let (value, name) = (escape(&name.to_lowercase()), escape(name));
            format!("<label><input type=\"checkbox\" name=\"middleware\" value=\"{value}\" checked> {name}</label>\n")
        })
        .collect()
}

/// The choices of the message, by size.
pub fn messages(groups: &Groups) -> String {
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

/// The choices of the metric.
pub fn metrics() -> String {
    let option =
        |figure: &&Figure| format!("<option value=\"{}\">{}</option>\n", escape(figure.key), escape(&title(figure)));
    FIGURES.iter().map(option).collect()
}
