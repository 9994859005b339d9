//! The tables of one second, with the titles and columns of performance_test 1.x or 2.x.

use crate::log::RowEntry;
use crate::report::outputs::Tables;
use crate::report::tables::{cells, side_by_side, table};
use perf_worker::measure::{moments::Moments, tally::Received, usage::FIELDS};

/// All tables of a row. `counts_overwritten` is true if the middleware counts messages that left the history before
/// they were taken.
#[must_use]
pub fn lines(row: &RowEntry, tables: Tables, counts_overwritten: bool) -> Vec<String> {
    if tables == Tables::None {
        return Vec::new();
    }
    let run_time = ["T_experiment".to_owned(), seconds(row.t_s), "T_loop".to_owned(), seconds(row.length_s)];
    let mut lines = table("run time", &[run_time.into()]);
    lines.push(String::new());
    let mut pairs = vec![(samples(row), moments("latency", &row.total.latency.moments_s()))];
    if tables == Tables::V1 {
        let reserve = moments("publisher loop", &row.total.loop_reserve.moments_s());
        pairs.push((reserve, moments("subscriber loop", &Moments::default())));
    }
    lines.extend(side_by_side(&pairs));
    lines.extend(system_usage(row));
    lines.push(String::new());
    let Received { overwritten, duplicates, reordered, .. } = row.total.received;
    let lost = match row.total.received.lost() {
        lost if counts_overwritten => {
            format!("{overwritten} left the history, {} unexplained", lost.saturating_sub(overwritten))
        }
        lost => format!("{lost} lost or overwritten"),
    };
    lines.push(format!("lost: {lost}; {duplicates} duplicates, {reordered} reordered"));
    let (one, all, cores) = (row.core_percent, row.all_cores_percent(), row.accounts.cores);
    lines.push(format!("CPU:  {one:.1} % of one core, {all:.1} % of all {cores}"));
    lines.push(String::new());
    lines
}

fn samples(row: &RowEntry) -> Vec<String> {
    let values = vec![
        row.per_second(row.total.received.samples).to_string(),
        row.per_second(row.total.sent.samples).to_string(),
        row.per_second(row.total.received.lost()).to_string(),
        row.data_received().to_string(),
        seconds(row.relative_loss()),
    ];
    table("samples", &[cells(["recv", "sent", "lost", "data_recv", "relative_loss"]), values])
}

fn moments(title: &str, moments: &Moments) -> Vec<String> {
    let values = [moments.min, moments.max, moments.mean, moments.variance()].map(seconds);
    table(title, &[cells(["min", "max", "mean", "variance"]), values.into()])
}

fn system_usage(row: &RowEntry) -> Vec<String> {
    let values = row.accounts.usage.fields().map(|value| value.to_string());
    let names = FIELDS.map(str::to_owned);
    let rows = [names[..8].into(), values[..8].into(), names[8..].into(), values[8..].into()];
    table("system usage", &rows)
}

fn seconds(value: f64) -> String {
    format!("{value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::documented_row;

    #[test]
    fn the_tables_are_those_of_the_zero_copy_documentation() {
        let expected = "\
run time

+--------------+-----------+--------+----------+
| T_experiment | 31.000000 | T_loop | 1.000000 |
+--------------+-----------+--------+----------+

samples                                              latency

+------+------+------+-----------+---------------+   +----------+----------+----------+----------+
| recv | sent | lost | data_recv | relative_loss |   | min      | max      | mean     | variance |
+------+------+------+-----------+---------------+   +----------+----------+----------+----------+
| 99   | 100  | 0    | 415236096 | 0.000000      |   | 0.004327 | 0.005605 | 0.004546 | 0.000000 |
+------+------+------+-----------+---------------+   +----------+----------+----------+----------+

publisher loop                                       subscriber loop

+----------+----------+----------+----------+        +----------+----------+----------+----------+
| min      | max      | mean     | variance |        | min      | max      | mean     | variance |
+----------+----------+----------+----------+        +----------+----------+----------+----------+
| 0.007260 | 0.008229 | 0.008057 | 0.000000 |        | 0.000000 | 0.000000 | 0.000000 | 0.000000 |
+----------+----------+----------+----------+        +----------+----------+----------+----------+

system usage

+-------------+-----------+---------+--------+--------+----------+--------+--------+
| utime       | stime     | maxrss  | ixrss  | idrss  | isrss    | minflt | majflt |
+-------------+-----------+---------+--------+--------+----------+--------+--------+
| 23120954000 | 121597000 | 65092   | 0      | 0      | 0        | 11578  | 2      |
+-------------+-----------+---------+--------+--------+----------+--------+--------+
| nswap       | inblock   | oublock | msgsnd | msgrcv | nsignals | nvcsw  | nivcsw |
+-------------+-----------+---------+--------+--------+----------+--------+--------+
| 0           | 0         | 0       | 0      | 0      | 0        | 9885   | 7193   |
+-------------+-----------+---------+--------+--------+----------+--------+--------+

lost: 0 left the history, 0 unexplained; 0 duplicates, 0 reordered
CPU:  76.2 % of one core, 38.1 % of all 2
";
        assert_eq!(lines(&documented_row(), Tables::V1, true).join("\n"), expected);
        // The only difference: the tables of 2.x have no publisher loop.
        let (above, below) = expected.split_once("publisher loop").unwrap();
        let (_, below) = below.split_once("\n\nsystem usage").unwrap();
        let without_loops = format!("{above}system usage{below}");
        assert_eq!(lines(&documented_row(), Tables::V2, true).join("\n"), without_loops);
    }
}
