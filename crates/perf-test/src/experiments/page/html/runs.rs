//! The runs of each group with their logs, and their settings as they took effect.

use super::escape::escape;
use super::table::{filtered_by, message};
use crate::experiments::page::figures::FIGURES;
use crate::experiments::page::group::{Group, Groups};
use crate::experiments::page::run::{Ending, Run};

/// A part for each group, closed at first. Its content is in a `noscript` element: thousands of tables that are closed
/// would delay the page, so a script unfolds those that a reader opens.
pub fn details(groups: &Groups) -> String {
    groups.groups.iter().enumerate().map(|(index, group)| detail(groups, index, group)).collect()
}

fn detail(groups: &Groups, index: usize, group: &Group) -> String {
    let spec = group.conditions();
    let label = escape(&groups.series[group.series].label);
    let rate = if spec.rate_hz == 0 { "as fast as possible".to_owned() } else { format!("{} Hz", spec.rate_hz) };
    let (count, runs) = (group.runs.len(), if group.runs.len() == 1 { "run" } else { "runs" });
    let head: String =
        FIGURES.iter().map(|figure| format!("<th scope=\"col\" class=\"number\">{}</th>", figure.column)).collect();
    let rows: String = group.runs.iter().map(|run| row(run)).collect();
    let settings: String = group
        .settings
        .iter()
        .filter(|(name, _)| !groups.common.contains_key(*name))
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value)))
        .collect();
    // The path of the program is that of its own machine.
    let arguments = group.runs[0].entry.command_line.iter().skip(1).map(String::as_str);
    let command = escape(&std::iter::once("perf_test").chain(arguments).collect::<Vec<&str>>().join(" "));
    format!(
        "<details id=\"runs-{index}\" class=\"runs\" {filtered_by}>\n\
         <summary>{label}<span>{}, {rate}</span><span>{count} {runs}</span></summary>\n<noscript>\
         <div class=\"scroll\" role=\"region\" aria-label=\"Runs of {label}\" tabindex=\"0\"><table>\n<thead><tr>\
         <th scope=\"col\">Log</th><th scope=\"col\">Time (UTC)</th><th scope=\"col\" class=\"number\">Samples</th>{head}\
         <th scope=\"col\">Warnings</th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n\
         <h4>Settings in effect, besides those that all rows have in common</h4>\n<dl>{settings}</dl>\n<h4>Command</h4>\n\
         <pre>{command}</pre></noscript>\n</details>\n",
        escape(&message(group)),
        filtered_by = filtered_by(group),
    )
}

fn row(run: &Run) -> String {
    let figures: String = FIGURES
        .iter()
        .zip(run.values)
        .map(|(figure, value)| {
            let mark = if value.is_some() && figure.is_uncertain(run.samples) { "*" } else { "" };
            format!("<td class=\"number\">{}{mark}</td>", figure.show_or_dash(value))
        })
        .collect();
    let ending = match &run.ending {
        Ending::Good => None,
        Ending::Failed(why) => Some(format!("failed: {why}")),
        Ending::Stopped => Some(format!("stopped: it ended early, after {:.1} s", run.measured_s)),
        Ending::Killed => Some(format!("killed, or still running: no summary after {:.1} s", run.measured_s)),
    };
    let warnings = run.warnings.iter().map(|warning| format!("{}: {}", warning.kind, warning.sentence));
    let shown: Vec<String> = ending.into_iter().chain(warnings).collect();
    let warnings = match shown.as_slice() {
        [] => "-".to_owned(),
        shown => shown.iter().map(|sentence| format!("<p>{}</p>", escape(sentence))).collect(),
    };
    format!(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"number\">{}</td>{figures}<td class=\"warnings\">{warnings}</td></tr>\n",
        escape(&run.file),
        utc(run.entry.created_unix_ms),
        run.samples
    )
}

/// A time by the wall clock, as 2026-01-31 12:34:56.
pub fn utc(unix_ms: u64) -> String {
    let (days, second) = (unix_ms / 86_400_000, unix_ms / 1000 % 86_400);
    // The Gregorian calendar repeats after 400 years of 146 097 days; years begin in March, so that leap days are last.
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
