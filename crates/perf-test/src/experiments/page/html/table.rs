//! The main table: a row for each group, and one for each run without figures.

use super::escape::escape;
use crate::experiments::batch::Shortfall;
use crate::experiments::page::figures::{FIGURES, FIRST, OTHERS};
use crate::experiments::page::folder::{Folder, middleware};
use crate::experiments::page::group::{Group, Groups};
use crate::experiments::page::run::Ending;
use crate::experiments::page::settings::{in_words, size};
use perf_worker::choice::Choice;

/// The columns that name a row; the second value says whether they hold numbers. The first figures follow.
const NAMES: [(&str, bool); 2] = [("Middleware, settings", false), ("Message", true)];
/// The other conditions, before the other figures.
const CONDITIONS: [(&str, bool); 4] = [("Rate", true), ("Wait", false), ("Path", false), ("Runs", true)];

/// The cells of the head.
pub fn head() -> String {
    let column = |index: usize| (FIGURES[index].column, true);
    let cell = |(name, is_number): (&str, bool)| {
        let class = if is_number { " class=\"number\"" } else { "" };
        format!("<th scope=\"col\"{class} aria-sort=\"none\"><button type=\"button\">{name}</button></th>\n")
    };
    let first = NAMES.into_iter().chain(FIRST.map(column));
    first.chain(CONDITIONS).chain(OTHERS.map(column)).map(cell).collect()
}

/// All rows.
pub fn rows(folder: &Folder, groups: &Groups) -> String {
    let of_groups = groups.groups.iter().enumerate().map(|(index, group)| row(groups, index, group));
    of_groups.chain(folder.shortfalls.iter().map(|found| missing(&folder.experiments.of(&found.0), found))).collect()
}

fn row(groups: &Groups, index: usize, group: &Group) -> String {
    let spec = group.conditions();
    let contestant = escape(&group.contestant());
    let settings = escape(&groups.settings_in_words(group).join(", "));
    let rate_key = if spec.rate_hz == 0 { u32::MAX } else { spec.rate_hz };
    let mut cells = format!(
        "<th scope=\"row\" data-sort=\"{contestant}\"><a href=\"#runs-{index}\">{contestant}</a><small>{settings}</small></th>\n\
         <td class=\"number\" data-sort=\"{}\">{}<small>{}</small></td>\n",
        spec.message.bytes,
        size(spec.message.bytes as u64),
        escape(&spec.message.name),
    );
    cells.extend(FIRST.map(|index| figure_cell(group, index)));
    cells.push_str(&format!(
        "<td class=\"number\" data-sort=\"{rate_key}\">{}</td>\n<td>{}</td>\n<td>{}</td>\n",
        in_words("rate_hz", &spec.rate_hz.to_string()),
        escape(spec.wait.name()),
        in_words("zero_copy", &spec.zero_copy.to_string()),
    ));
    cells.push_str(&runs_cell(group));
    cells.extend(OTHERS.map(|index| figure_cell(group, index)));
    format!("<tr data-group=\"{index}\" {}>\n{cells}</tr>\n", filtered_by(group))
}

/// The attributes by which the page filters the rows and the runs of a group.
pub fn filtered_by(group: &Group) -> String {
    let name = escape(&group.conditions().communicator.to_lowercase());
    let (key, experiment) = (escape(&message_key(group)), escape(group.experiment()));
    format!("data-middleware=\"{name}\" data-message=\"{key}\" data-experiment=\"{experiment}\"")
}

fn figure_cell(group: &Group, index: usize) -> String {
    let figure = FIGURES[index];
    let Some(found) = group.values[index] else { return "<td class=\"number\">-</td>\n".to_owned() };
    let median = figure.show(found.median);
    let mark = if group.uncertain[index] { "<abbr title=\"few samples\">*</abbr>" } else { "" };
    let interval = figure.show_interval(&found).map(|interval| format!("<small>{interval}</small>"));
    let (interval, sort) = (interval.unwrap_or_default(), found.median);
    format!("<td class=\"number\" data-sort=\"{sort}\">{median}{mark}{interval}</td>\n")
}

/// The number of runs that measured, and those that did not.
fn runs_cell(group: &Group) -> String {
    let (all, good) = (group.runs.len(), group.good().count());
    let ended = |ending: &Ending| group.runs.iter().filter(|run| run.ending == *ending).count();
    let (stopped, killed) = (ended(&Ending::Stopped), ended(&Ending::Killed));
    let failed = all - good - stopped - killed;
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let others = [counted(stopped, "stopped early"), counted(killed, "killed"), counted(failed, "failed")];
    let others = others.into_iter().flatten().collect::<Vec<String>>();
    let others = if others.is_empty() { String::new() } else { format!("<small>{}</small>", others.join(", ")) };
    format!("<td class=\"number\" data-sort=\"{good}\">{good}{others}</td>\n")
}

fn missing(experiment: &str, (file, shortfall): &(String, Shortfall)) -> String {
    let Shortfall { contestant, title, kind, sentence, .. } = shortfall;
    let name = escape(&middleware(shortfall).to_lowercase());
    let columns = NAMES.len() + CONDITIONS.len() + FIGURES.len() - 1;
    format!(
        "<tr class=\"failed\" data-middleware=\"{name}\" data-experiment=\"{experiment}\">\n<th scope=\"row\" data-sort=\"{contestant}\">{contestant}</th>\n\
         <td colspan=\"{columns}\"><strong>No figures, {kind}.</strong> {}: {}<small>{}</small></td>\n</tr>\n",
        escape(title),
        escape(sentence),
        escape(file),
        experiment = escape(experiment),
        contestant = escape(contestant),
    )
}

/// The message of a group and its size.
pub fn message(group: &Group) -> String {
    let spec = group.conditions();
    format!("{}, {}", spec.message.name, size(spec.message.bytes as u64))
}

/// The message of a group in the page's address.
pub fn message_key(group: &Group) -> String {
    let spec = group.conditions();
    format!("{}:{}", spec.message.name, spec.message.bytes)
}
