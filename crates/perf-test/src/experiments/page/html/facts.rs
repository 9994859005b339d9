//! The facts around the figures: machines, common settings, warnings, and files that are not shown.

use std::collections::BTreeMap;

use super::escape::escape;
use super::runs::utc;
use crate::experiments::page::folder::Folder;
use crate::experiments::page::group::Groups;
use crate::experiments::page::run::{Ending, Run};
use crate::experiments::page::settings::machine_in_short;
use crate::system::{System, advice::advice, text};

/// The lines below the title.
pub fn head(folder: &Folder, groups: &Groups) -> String {
    let times = || folder.all_runs().map(|run| run.entry.created_unix_ms);
    let first = times().min().map(|ms| utc(ms).get(..10).unwrap_or_default().to_owned());
    let last = times().max().map(|ms| utc(ms).get(..10).unwrap_or_default().to_owned());
    let time = match (first, last) {
        (Some(first), Some(last)) if first != last => Some(format!("{first} to {last}")),
        (first, _) => first,
    };
    let runs = plural(folder.runs.len(), "run");
    let rows = plural(groups.groups.len(), "group");
    let grouped = (!folder.runs.is_empty()).then(|| format!("{runs} in {rows} of equal settings"));
    let robots = folder.robots.len();
    let robots = (robots > 0).then(|| format!("{} of topologies", plural(robots, "run")));
    let shortfalls = folder.shortfalls.len();
    let shortfalls = (shortfalls > 0).then(|| format!("{shortfalls} without figures"));
    let machines = folder.machines.iter().map(machine_in_short);
    [grouped, robots, shortfalls, time]
        .into_iter()
        .flatten()
        .chain(machines)
        .map(|fact| format!("<li>{}</li>", escape(&fact)))
        .collect()
}

/// The settings that all runs have in common.
pub fn common(groups: &Groups) -> String {
    let facts = groups.common.iter().filter(|(name, _)| *name != "machine");
    facts.map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))).collect()
}

/// One sentence on the warnings of all runs, or that there are none.
pub fn warnings_in_short(folder: &Folder) -> String {
    let with = folder.all_runs().filter(|run| !run.warnings.is_empty() || run.ending != Ending::Good).count();
    let of = folder.all_runs().count();
    if with == 0 {
        return "No run has a warning.".to_owned();
    }
    let mut kinds: Vec<(String, usize)> =
        by_kind(folder).into_iter().map(|(kind, sentences)| (kind, sentences.len())).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{} ({count})", escape(&kind))).collect();
    format!("{with} of {of} runs have <a href=\"#warnings\">warnings</a>: {}.", kinds.join(", "))
}

/// The warnings of all runs by their kinds.
pub fn warnings(folder: &Folder) -> String {
    let kinds = by_kind(folder);
    if kinds.is_empty() {
        return "<p>No run has a warning.</p>".to_owned();
    }
    let list = |(kind, sentences): (String, Vec<[String; 3]>)| {
        let hint = sentences.first().map(|[_, _, hint]| escape(hint)).unwrap_or_default();
        let rows: String = sentences
            .iter()
            .map(|[file, sentence, _]| format!("<li><code>{}</code> {}</li>", escape(file), escape(sentence)))
            .collect();
        let (kind, count) = (escape(&kind), sentences.len());
        format!("<details><summary>{kind}<span>{count}</span></summary><p>{hint}</p><ul>{rows}</ul></details>\n")
    };
    kinds.into_iter().map(list).collect()
}

/// Log, sentence and hint of each warning.
fn by_kind(folder: &Folder) -> BTreeMap<String, Vec<[String; 3]>> {
    let mut kinds: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for run in folder.all_runs() {
        let ending = match &run.ending {
            Ending::Good => None,
            Ending::Failed(why) => Some(("failed", why.as_str(), "The figures are in no median")),
            Ending::Stopped => Some(("stopped", "The run ended early", "The figures are in no median")),
            Ending::Killed => Some(("killed", "The log has no summary", "The figures are in no median")),
        };
        let warnings = run.warnings.iter().map(|w| (w.kind.as_str(), w.sentence.as_str(), w.hint.as_str()));
        for (kind, sentence, hint) in ending.into_iter().chain(warnings) {
            let texts = [&run.file, sentence, hint].map(str::to_owned);
            kinds.entry(kind.to_owned()).or_default().push(texts);
        }
    }
    kinds
}

/// A section for each machine, as `perf_test system` prints it.
pub fn machines(folder: &Folder) -> String {
    let section = |(index, machine): (usize, &System)| {
        let name = machine_in_short(machine);
        let of_machine = |run: &&Run| run.machine.as_ref().is_some_and(|own| machine_in_short(own) == name);
        let runs = plural(folder.all_runs().filter(of_machine).count(), "run");
        let lines = text::lines(machine, None, &advice(machine));
        format!(
            "<section id=\"machine-{index}\" aria-labelledby=\"machine-{index}-title\">\n\
             <h2 id=\"machine-{index}-title\">Machine</h2>\n<p class=\"note\">{}: {runs}</p>\n\
             <div class=\"scroll\" role=\"region\" aria-labelledby=\"machine-{index}-title\" tabindex=\"0\">\
             <pre>{}</pre></div>\n</section>\n",
            escape(if name.is_empty() { "not known" } else { &name }),
            escape(lines.join("\n").trim_end()),
        )
    };
    folder.machines.iter().enumerate().map(section).collect()
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The JSON files that are not shown.
pub fn skipped(folder: &Folder) -> String {
    let files = &folder.skipped;
    if files.is_empty() {
        return String::new();
    }
    let rows: String = files.iter().map(|why| format!("<li>{}</li>", escape(why))).collect();
    let (count, plural) = (files.len(), if files.len() == 1 { "" } else { "s" });
    format!("<details><summary>{count} other JSON file{plural} skipped</summary><ul>{rows}</ul></details>")
}
