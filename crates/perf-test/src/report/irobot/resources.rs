//! The file `resources.txt` in iRobot's format: CPU and memory of a process over time.

use super::style::{Column, Style, column};
use crate::log::WorkerRow;

const COLUMNS: [Column; 7] = [
    column("time[ms]", "time_ms", 15),
    column("cpu[%]", "cpu_perc", 10),
    column("arena[KB]", "arena_KB", 15),
    column("in_use[KB]", "in_use_KB", 15),
    column("mmap[KB]", "mmap_KB", 15),
    column("rss[KB]", "rss_KB", 15),
    column("vsz[KB]", "vsz_KB", 15),
];
/// The value in the columns about glibc's allocator. They are not measured, because a process may use another
/// allocator.
const UNKNOWN: &str = "nan";

/// The first two lines: the headers, and a line of zeros for the start, as in ros2-performance.
pub fn head(style: Style) -> [String; 2] {
    [style.head(&COLUMNS), style.line(&COLUMNS, COLUMNS.iter().map(|_| "0".to_owned()))]
}

/// The line of a period. `end_ns` is the end of the period, counted from the start of the run. As in ros2-performance,
/// CPU time is a percentage of all `cores`, and `rss` is the peak.
pub fn line(style: Style, end_ns: i64, cores: usize, worker: &WorkerRow) -> String {
    let WorkerRow { core_percent, memory } = worker;
    let unknown = || UNKNOWN.to_owned();
    let values = [
        format!("{:.0}", end_ns as f64 / 1e6),
        format!("{:.2}", core_percent / cores as f64),
        unknown(),
        unknown(),
        unknown(),
        memory.peak_rss_kib.to_string(),
        memory.virtual_kib.to_string(),
    ];
    style.line(&COLUMNS, values)
}
