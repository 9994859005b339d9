//! The tables of a folder of results as Markdown, for example for a README.

use super::folder::Folder;
use super::group::Groups;
use super::settings::machine_in_short;
use super::table::{PageTable, plain};
use crate::experiments::results_file::MEANING_OF_INTERVALS;
use crate::experiments::results_file::ratio_tables;

/// A sentence about the machine, followed by the tables.
pub fn text(folder: &Folder, groups: &Groups) -> String {
    let machines: Vec<String> =
        folder.machines.iter().map(machine_in_short).filter(|machine| !machine.is_empty()).collect();
    let machine = match machines.as_slice() {
        [] => String::new(),
        [machine] => format!(" Machine: {}.", plain(machine)),
        machines => format!(" Machines: {}.", plain(&machines.join("; "))),
    };
    let mut text = format!("{MEANING_OF_INTERVALS}{machine}\n\n");
    if !(groups.groups.is_empty() && folder.shortfalls.is_empty()) {
        let table = PageTable::of_groups(folder, groups);
        text.push_str(&table.markdown());
        if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.is_uncertain) {
            text.push_str("\n\\* rests on fewer than 10 samples beyond the percentile in one of the runs.\n");
        }
    }
    for (name, groups) in Groups::of_topologies(&folder.robots) {
        text.push_str(&format!("\nTopology {}\n\n{}", plain(name), PageTable::of_topology(&groups).markdown()));
    }
    for (file, ratios) in &folder.ratios {
        for table in ratio_tables(ratios) {
            let (title, notes) = (plain(&format!("{} in {file}", table.title)), table.notes.join(" "));
            text.push_str(&format!("\n{title}. {notes}\n\n{}", PageTable::of_results(&table).markdown()));
        }
    }
    text
}
