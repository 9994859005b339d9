//! The tables of the ratios of `perf_test versus`.

use super::escape::escape;
use crate::results::folder::Folder;
use crate::results::ratios::{HEADS, cells};
use crate::versus::{Ratio, meaning};

/// The section; nothing without ratios.
pub fn section(folder: &Folder) -> String {
    if folder.ratios.is_empty() {
        return String::new();
    }
    let tables: String = folder.ratios.iter().map(|(file, ratios)| table(file, ratios)).collect();
    format!(
        "<section id=\"ratios\" aria-labelledby=\"ratios-title\">\n<h2 id=\"ratios-title\">Ratios</h2>\n\
         {tables}</section>\n"
    )
}

fn table(file: &str, ratios: &[Ratio]) -> String {
    let file = escape(file);
    let heads = HEADS.map(|head| format!("<th scope=\"col\">{head}</th>")).concat();
    let row = |ratio: &Ratio| {
        let [pair, others @ ..] = cells(ratio).map(|text| escape(&text));
        let others = others.map(|text| format!("<td>{text}</td>")).concat();
        format!("<tr><th scope=\"row\">{pair}</th>{others}</tr>\n")
    };
    let rows: String = ratios.iter().map(row).collect();
    format!(
        "<h3><code>{file}</code></h3>\n<p class=\"note\">{}</p>\n<div class=\"scroll\" role=\"region\" aria-label=\"Ratios of {file}\" tabindex=\"0\">\
         <table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        escape(&meaning(ratios).join(" "))
    )
}
