//! The parts of the page besides the figures: machines, common settings, warnings, and files that are not shown.

use std::collections::BTreeMap;

use super::escape::escape;
use super::runs::utc;
use crate::common::units::several;
use crate::common::warning::Warning;
use crate::experiments::page::folder::Folder;
use crate::experiments::page::group::Groups;
use crate::experiments::page::headline::Headline;
use crate::experiments::page::run::Run;
use crate::experiments::page::settings::machine_in_short;
use crate::system::{System, advice::advice, text};

/// The lines below the title of the page.
pub fn head(folder: &Folder, groups: &Groups) -> String {
    let times = || folder.all_runs().map(|run| run.entry.created_unix_ms);
    let first = times().min().map(|ms| utc(ms).get(..10).unwrap_or_default().to_owned());
    let last = times().max().map(|ms| utc(ms).get(..10).unwrap_or_default().to_owned());
    let time = match (first, last) {
        (Some(first), Some(last)) if first != last => Some(format!("{first} to {last}")),
        (first, _) => first,
    };
    let rows = several(groups.groups.len(), "group", "groups");
    let runs = |count: usize| (count > 0).then(|| several(count, "run", "runs"));
    let grouped = runs(folder.runs.len()).map(|runs| format!("{runs} in {rows} of equal settings"));
    let robots = runs(folder.robots.len()).map(|runs| format!("{runs} of topologies"));
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

/// The sentences at the top of the page. The first sentence is emphasised.
pub fn headlines(headlines: &[Headline]) -> String {
    let sentence = |Headline { experiment, sentence, .. }: &Headline| {
        format!("<li data-experiment=\"{}\">{}</li>\n", escape(experiment), escape(sentence))
    };
    let sentences: String = headlines.iter().map(sentence).collect();
    if sentences.is_empty() {
        return sentences;
    }
    let note = "Ratios of median latencies, with intervals of 95 % or more; the ratios of <code>compare middlewares</code> are \
        paired by rounds. Each sentence has its own interval, without a correction for their number. Baselines, which are \
        no middlewares, are in the tables only.";
    format!("<ul class=\"headlines\">\n{sentences}</ul>\n<p class=\"note\">{note}</p>\n")
}

/// A sentence with the number of runs that have a warning, or the statement that no run has one.
pub fn warnings_in_short(folder: &Folder) -> String {
    let with = folder.all_runs().filter(|run| run.problems().next().is_some()).count();
    let of = folder.all_runs().count();
    if with == 0 {
        return "No run has a warning.".to_owned();
    }
    let mut kinds: Vec<(&str, usize)> = by_kind(folder).iter().map(|(kind, all)| (*kind, all.len())).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{} ({count})", escape(kind))).collect();
    format!("{with} of {of} runs have <a href=\"#warnings\">warnings</a>: {}.", kinds.join(", "))
}

/// The warnings of all runs, grouped by the kind of warning.
pub fn warnings(folder: &Folder) -> String {
    let kinds = by_kind(folder);
    if kinds.is_empty() {
        return "<p>No run has a warning.</p>".to_owned();
    }
    let list = |(kind, found): (&str, Vec<(&str, &Warning)>)| {
        let hint = found.first().map(|(_, warning)| escape(&warning.hint)).unwrap_or_default();
        let row = |(file, warning): &(&str, &Warning)| {
            format!("<li><code>{}</code> {}</li>", escape(file), escape(&warning.sentence))
        };
        let (kind, count, rows) = (escape(kind), found.len(), found.iter().map(row).collect::<String>());
        format!("<details><summary>{kind}<span>{count}</span></summary><p>{hint}</p><ul>{rows}</ul></details>\n")
    };
    kinds.into_iter().map(list).collect()
}

/// For each kind of warning, the logs with such a warning and the warning itself.
fn by_kind(folder: &Folder) -> BTreeMap<&str, Vec<(&str, &Warning)>> {
    let mut kinds: BTreeMap<&str, Vec<(&str, &Warning)>> = BTreeMap::new();
    for run in folder.all_runs() {
        run.problems().for_each(|problem| kinds.entry(&problem.kind).or_default().push((&run.file, problem)));
    }
    kinds
}

/// A section for each machine, with the same text as `perf_test system` prints.
pub fn machines(folder: &Folder) -> String {
    let section = |(index, machine): (usize, &System)| {
        let name = machine_in_short(machine);
        let of_machine = |run: &&Run| run.machine.as_ref().is_some_and(|own| machine_in_short(own) == name);
        let runs = several(folder.all_runs().filter(of_machine).count(), "run", "runs");
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

/// The list of the JSON files that are not shown.
pub fn skipped(folder: &Folder) -> String {
    let files = &folder.skipped;
    if files.is_empty() {
        return String::new();
    }
    let rows: String = files.iter().map(|why| format!("<li>{}</li>", escape(why))).collect();
    let files = several(files.len(), "other JSON file", "other JSON files");
    format!("<details><summary>{files} skipped</summary><ul>{rows}</ul></details>")
}
