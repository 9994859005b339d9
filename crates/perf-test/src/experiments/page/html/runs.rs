//! The list of the runs in each group, with their logs and the settings that were in effect.

use super::escape::escape;
use super::table::{data, table};
use crate::common::units::several;
use crate::experiments::page::figures::FIGURES;
use crate::experiments::page::group::{Group, Groups};
use crate::experiments::page::run::Run;
use crate::experiments::page::settings::{Settings, in_words};
use crate::experiments::page::table::{Cell, PageRow, PageTable};

/// The HTML of the runs: a closed `details` element for each group. The content is in a `noscript` element until the
/// reader opens it; then a script unpacks it. Without this, thousands of hidden tables would make the page slow.
pub fn details(groups: &Groups) -> String {
    groups.groups.iter().enumerate().map(|(index, group)| detail(groups, index, group)).collect()
}

fn detail(groups: &Groups, index: usize, group: &Group) -> String {
    let label = &groups.series[group.series].label;
    let rate = in_words("rate_hz", &group.conditions().rate_hz.to_string());
    let begin = [("Log", false), ("Time (UTC)", false), ("Samples", true)].into_iter();
    let heads = begin.chain(FIGURES.iter().map(|figure| (figure.column, true))).chain([("Warnings", false)]);
    let runs = PageTable {
        heads: heads.map(|(head, is_number)| (head.to_owned(), is_number)).collect(),
        rows: group.runs.iter().map(|run| row(run)).collect(),
    };
    // The path of the program is left out, because it is valid only on the machine that measured.
    let arguments = group.runs[0].entry.command_line.iter().skip(1).map(String::as_str);
    let command = std::iter::once("perf_test").chain(arguments).collect::<Vec<&str>>().join(" ");
    format!(
        "<details id=\"runs-{index}\" class=\"runs\"{}>\n<summary>{}<span>{}, {rate}</span><span>{}</span></summary>\n\
         <noscript>{}<h4>Settings in effect, besides those that all rows have in common</h4>\n<dl>{}</dl>\n<h4>Command</h4>\n\
         <pre>{}</pre></noscript>\n</details>\n",
        data(&group.filtered_by()),
        escape(label),
        escape(&group.message()),
        several(group.runs.len(), "run", "runs"),
        table(&runs, &format!("Runs of {label}")),
        settings(&group.settings, |name| !groups.common.contains_key(name)),
        escape(&command),
    )
}

/// Settings as an HTML definition list. `is_shown` selects the settings by name.
pub fn settings(settings: &Settings, is_shown: impl Fn(&str) -> bool) -> String {
    let shown = settings.iter().filter(|(name, _)| is_shown(name));
    shown.map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))).collect()
}

fn row(run: &Run) -> PageRow {
    let figure = |figure: &&'static crate::log::figures::Figure| {
        let value = run.values.get(figure);
        let is_uncertain = value.is_some() && figure.is_uncertain(run.samples);
        Cell { is_uncertain, ..Cell::new(figure.show_or_dash(value)) }
    };
    let problems =
        run.problems().map(|problem| format!("{}: {}\n", problem.kind, problem.sentence)).collect::<String>();
    let problems = Cell::new(if problems.is_empty() { "-".to_owned() } else { problems });
    let begin = [Cell::new(&run.file), Cell::new(utc(run.entry.created_unix_ms)), Cell::new(run.samples.to_string())];
    let cells = begin.into_iter().chain(FIGURES.iter().map(figure)).chain([problems]).collect();
    PageRow { cells, class: "log", data: Vec::new() }
}

/// A UTC time in the form 2026-01-31 12:34:56.
pub fn utc(unix_ms: u64) -> String {
    let (days, second) = (unix_ms / 86_400_000, unix_ms / 1000 % 86_400);
    // The Gregorian calendar repeats every 400 years, which are 146 097 days. A year starts in March here, so that a
    // leap day is its last day.
    let from_march_0000 = days + 719_468;
    let (era, day_of_era) = (from_march_0000 / 146_097, from_march_0000 % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn days_follow_the_calendar() {
        let shown = [0, 951_782_399_000, 951_782_400_000, 1_795_375_180_330].map(utc);
        assert_eq!(shown, ["1970-01-01 00:00:00", "2000-02-28 23:59:59", "2000-02-29 00:00:00", "2026-11-22 19:19:40"]);
    }
}
