//! The topologies of the page: a table for each, and a place for its plots.

use super::escape::escape;
use crate::experiments::conditions::FIGURES;
use crate::experiments::page::folder::Folder;
use crate::experiments::page::robots::{Robot, RobotGroup, robots};
use crate::experiments::page::run::Ending;

/// The section; nothing without runs of topologies.
pub fn section(folder: &Folder) -> String {
    if folder.robots.is_empty() {
        return String::new();
    }
    let tables: String = robots(&folder.robots).iter().enumerate().map(of_robot).collect();
    format!(
        "<section id=\"topologies\" aria-labelledby=\"topologies-title\">\n<h2 id=\"topologies-title\">Topologies</h2>\n\
         <p class=\"note\">Each row is a group of runs of whole systems of nodes with equal settings. CPU time and memory are \
         those of all processes; late, too late and lost are parts of the messages of all subscriptions. Figures are medians \
         of the runs, with the interval in brackets.</p>\n{tables}</section>\n"
    )
}

fn of_robot((index, robot): (usize, &Robot<'_>)) -> String {
    let name = escape(robot.name);
    let names = ["Middleware, settings", "Executor"].map(|name| ("", name)).into_iter();
    let numbers = ["Runs"].into_iter().chain(FIGURES.iter().map(|figure| figure.column));
    let heads = names.chain(numbers.map(|name| (" class=\"number\"", name)));
    let heads: String = heads.map(|(class, head)| format!("<th scope=\"col\"{class}>{}</th>", escape(head))).collect();
    let rows: String = robot.groups.iter().map(row).collect();
    let logs: String = robot
        .groups
        .iter()
        .flat_map(|group| &group.runs)
        .map(|run| {
            let ending = match &run.run.ending {
                Ending::Good => "measured".to_owned(),
                Ending::Failed(why) => format!("failed: {why}"),
                Ending::Stopped => "stopped early".to_owned(),
                Ending::Killed => "killed, or it still runs".to_owned(),
            };
            format!("<li><code>{}</code> {}</li>", escape(&run.run.file), escape(&ending))
        })
        .collect();
    format!(
        "<h3 id=\"topology-{index}\">{name}</h3>\n\
         <div class=\"scroll\" role=\"region\" aria-labelledby=\"topology-{index}\" tabindex=\"0\"><table>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <div class=\"robot plots\" data-robot=\"{index}\"></div>\n\
         <details><summary>Logs</summary><ul>{logs}</ul></details>\n"
    )
}

fn row(group: &RobotGroup<'_>) -> String {
    let (all, good) = (group.runs.len(), group.good());
    let others = if all > good { format!("<small>{} without figures</small>", all - good) } else { String::new() };
    let figures = FIGURES.iter().zip(&group.values).map(|(figure, found)| match found {
        None => "<td class=\"number\">-</td>".to_owned(),
        Some(found) => {
            let interval = figure.show_interval(found).map(|interval| format!("<small>{}</small>", escape(&interval)));
            let median = escape(&figure.show(found.median));
            format!("<td class=\"number\">{median}{}</td>", interval.unwrap_or_default())
        }
    });
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td>{}</td><td class=\"number\">{good}{others}</td>{}</tr>\n",
        escape(group.middleware),
        escape(&group.settings),
        escape(group.executor),
        figures.collect::<String>()
    )
}
