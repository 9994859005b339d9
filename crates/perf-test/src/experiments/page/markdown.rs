//! The table of a folder as Markdown, for a README.

use super::figures::{FIGURES, FIRST, OTHERS};
use super::folder::Folder;
use super::group::{Group, Groups, MEANING};
use super::ratios::{self, Matrix, matrices, note};
use super::robots::{Robot, RobotGroup, robots};
use super::settings::{in_words, machine_in_short, size};
use crate::experiments::batch::Shortfall;
use crate::experiments::conditions::FIGURES as ROBOT_FIGURES;
use perf_worker::choice::Choice;

/// The table with a sentence on the machine above it and the notes below it.
pub fn table(folder: &Folder, groups: &Groups) -> String {
    let machines: Vec<String> =
        folder.machines.iter().map(machine_in_short).filter(|machine| !machine.is_empty()).collect();
    let machine = match machines.as_slice() {
        [] => String::new(),
        [machine] => format!(" Machine: {}.", cell(machine)),
        machines => format!(" Machines: {}.", cell(&machines.join("; "))),
    };
    let mut text = format!("{MEANING}{machine}\n\n");
    if !(groups.groups.is_empty() && folder.shortfalls.is_empty()) {
        text.push_str(&of_groups(folder, groups));
    }
    robots(&folder.robots).iter().for_each(|robot| text.push_str(&of_robot(robot)));
    for (file, ratios) in &folder.ratios {
        text.push_str(&format!("\nRatios of {}. {}\n", cell(file), note(ratios)));
        matrices(ratios).iter().for_each(|matrix| text.push_str(&of_base(matrix)));
    }
    text
}

/// The table of the groups, with the runs without figures.
fn of_groups(folder: &Folder, groups: &Groups) -> String {
    let mut text = String::new();
    let names = ["middleware", "settings", "message", "rate", "readers wait", "path", "runs"];
    let heads: Vec<&str> = names.into_iter().chain(columns().map(|index| FIGURES[index].column)).collect();
    let rule = heads.iter().enumerate().map(|(i, _)| if i < names.len() - 1 { "---" } else { "---:" });
    text.push_str(&format!("| {} |\n| {} |\n", heads.join(" | "), rule.collect::<Vec<&str>>().join(" | ")));
    for group in &groups.groups {
        text.push_str(&row(groups, group));
    }
    let empty = " |".repeat(heads.len() - 2);
    for (_, shortfall) in &folder.shortfalls {
        let Shortfall { contestant, title, kind, sentence, .. } = shortfall;
        let [contestant, title, sentence] = [contestant, title, sentence].map(|text| cell(text));
        text.push_str(&format!("| {contestant} | no figures, {kind}: {title}: {sentence}{empty}\n"));
    }
    if groups.groups.iter().any(|group| group.uncertain.contains(&true)) {
        text.push_str("\n\\* rests on fewer than 10 samples beyond the percentile in one of the runs.\n");
    }
    text
}

/// The indices of the figures in the order of the columns.
fn columns() -> impl Iterator<Item = usize> {
    FIRST.into_iter().chain(OTHERS)
}

/// The table of a topology.
fn of_robot(robot: &Robot) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = ["middleware", "executor", "settings", "runs"]
        .into_iter()
        .chain(ROBOT_FIGURES.iter().map(|figure| figure.column));
    let heads: Vec<String> = names.map(str::to_owned).collect();
    let rule = format!("|{}{}\n", " --- |".repeat(3), " ---: |".repeat(heads.len() - 3));
    let row = |group: &RobotGroup| {
        let (all, good) = (group.runs.len(), group.good());
        let runs = if all == good { good.to_string() } else { format!("{good} of {all}") };
        let conditions = [group.middleware, group.executor, &group.settings].map(cell);
        let figures = ROBOT_FIGURES.iter().zip(&group.values);
        let figures =
            figures.map(|(figure, found)| found.as_ref().map_or("-".to_owned(), |found| figure.show_median(found)));
        line(conditions.into_iter().chain([runs]).chain(figures).collect())
    };
    let rows: String = robot.groups.iter().map(row).collect();
    format!("\nTopology {}\n\n{}{rule}{rows}", cell(robot.name), line(heads))
}

fn row(groups: &Groups, group: &Group) -> String {
    let spec = group.conditions();
    let (all, good) = (group.runs.len(), group.good().count());
    let mut cells = vec![
        cell(&group.contestant()),
        cell(&groups.settings_in_words(group).join(", ")),
        cell(&format!("{}, {}", spec.message.name, size(spec.message.bytes as u64))),
        in_words("rate_hz", &spec.rate_hz.to_string()),
        cell(spec.wait.name()),
        in_words("zero_copy", &spec.zero_copy.to_string()),
        if all == good { good.to_string() } else { format!("{good} of {all}") },
    ];
    for i in columns() {
        let figure = FIGURES[i];
        let mark = if group.uncertain[i] { "\\*" } else { "" };
        let median = figure.show_or_dash(group.values[i].map(|found| found.median));
        let interval = group.values[i].and_then(|found| figure.show_interval(&found));
        cells.push(format!("{median}{mark}{}", interval.map(|text| format!(" {text}")).unwrap_or_default()));
    }
    format!("| {} |\n", cells.join(" | "))
}

/// The table of the ratios of one base.
fn of_base(matrix: &Matrix) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = line(matrix.heads.iter().map(|head| cell(head)).collect());
    let rule = format!("|{}\n", " --- |".repeat(matrix.heads.len()));
    let rows = matrix.rows.iter().map(|(other, of_other)| {
        let values = of_other.iter().map(|ratio| ratios::cell(*ratio));
        line(std::iter::once(cell(other)).chain(values).collect())
    });
    format!("\n{heads}{rule}{}", rows.collect::<String>())
}

/// A text in a cell: it ends neither the cell nor the row, and is no markup.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' => cell.extend(['\\', c]),
            c if c.is_control() => cell.push(' '),
            c => cell.push(c),
        }
    }
    if cell.trim().is_empty() { "-".to_owned() } else { cell }
}
