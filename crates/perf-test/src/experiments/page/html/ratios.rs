//! The ratios of `perf_test compare middlewares`: a table for each base.

use super::escape::escape;
use crate::experiments::page::folder::Folder;
use crate::experiments::page::ratios::{Matrix, cell, mark, matrices, note};
use crate::experiments::results_file::Ratio;

/// The section; nothing without ratios.
pub fn section(folder: &Folder) -> String {
    if folder.ratios.is_empty() {
        return String::new();
    }
    let files: String =
        folder.ratios.iter().map(|(file, ratios)| of_file(&folder.experiments.of(file), file, ratios)).collect();
    format!(
        "<section id=\"ratios\" aria-labelledby=\"ratios-title\">\n<h2 id=\"ratios-title\">Ratios</h2>\n\
         {files}</section>\n"
    )
}

fn of_file(experiment: &str, file: &str, ratios: &[Ratio]) -> String {
    let (experiment, file) = (escape(experiment), escape(file));
    let tables: String = matrices(ratios).iter().map(|matrix| table(&file, matrix)).collect();
    let note = escape(&note(ratios));
    format!(
        "<div data-experiment=\"{experiment}\">\n<h3><code>{file}</code></h3>\n<p class=\"note\">{note}</p>\n{tables}</div>\n"
    )
}

fn table(file: &str, matrix: &Matrix) -> String {
    let heads = matrix.heads.iter().map(|head| format!("<th scope=\"col\">{}</th>", escape(head)));
    let value = |ratio: &Option<&Ratio>| {
        let class = if ratio.is_some_and(|ratio| mark(ratio).is_none()) { "" } else { " class=\"pale\"" };
        format!("<td{class}>{}</td>", escape(&cell(*ratio)))
    };
    let row = |(other, ratios): &(&str, Vec<Option<&Ratio>>)| {
        let values: String = ratios.iter().map(value).collect();
        format!("<tr><th scope=\"row\">{}</th>{values}</tr>\n", escape(other))
    };
    let rows: String = matrix.rows.iter().map(row).collect();
    let label = escape(matrix.heads.first().map_or("", String::as_str));
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Ratios {label} of {file}\" tabindex=\"0\"><table>\n\
         <thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        heads.collect::<String>()
    )
}
