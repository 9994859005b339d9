//! The tables of the commands of several runs, as their files of results have them: knees, ratios and every run.

use super::escape::escape;
use crate::experiments::page::folder::Folder;
use crate::experiments::results_file::Table;

/// The section; nothing without a table.
pub fn section(folder: &Folder) -> String {
    if folder.tables.is_empty() {
        return String::new();
    }
    let files: String = folder.tables.iter().map(|found| of_file(&folder.experiments.of(&found.0), found)).collect();
    format!(
        "<section id=\"tables\" aria-labelledby=\"tables-title\">\n<h2 id=\"tables-title\">Experiments and \
         comparisons</h2>\n{files}</section>\n"
    )
}

fn of_file(experiment: &str, (file, command, tables): &(String, String, Vec<Table>)) -> String {
    let (experiment, file, command) = (escape(experiment), escape(file), escape(command));
    let tables: String = tables.iter().map(|table| of_table(&file, table)).collect();
    format!(
        "<div data-experiment=\"{experiment}\">\n<h3><code>{file}</code></h3>\n<p class=\"note\">perf_test {command}</p>\n\
         {tables}</div>\n"
    )
}

fn of_table(file: &str, table: &Table) -> String {
    let title = escape(&table.title);
    let columns = table.rows.first().map_or(0, Vec::len);
    let mut rows = table.rows.iter();
    let heads = rows.next().into_iter().flatten().map(|head| format!("<th scope=\"col\">{}</th>", escape(head)));
    let heads: String = heads.collect();
    let row = |cells: &Vec<String>| {
        let cell = |index: usize| cells.get(index).map_or(String::new(), |cell| escape(cell));
        let others: String = (1..columns).map(|index| format!("<td>{}</td>", cell(index))).collect();
        format!("<tr><th scope=\"row\">{}</th>{others}</tr>\n", cell(0))
    };
    let rows: String = rows.map(row).collect();
    let notes: String = table.notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
    let notes = if notes.is_empty() { notes } else { format!("<ul class=\"note\">\n{notes}</ul>\n") };
    format!(
        "<h4>{title}</h4>\n<div class=\"scroll\" role=\"region\" aria-label=\"{title} of {file}\" tabindex=\"0\"><table>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n{notes}"
    )
}
