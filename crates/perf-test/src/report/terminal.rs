//! The tables of one second on the console: titles and columns as in performance_test 1.x.
//!
//! Used through [`Reports`](super::Reports). On a terminal each set is drawn over the one before, if
//! it fits the window; anywhere else sets are appended and contain no escape sequences.

use std::io::{self, IsTerminal, Write};

use rustix::termios::tcgetwinsize;

use super::tables::{cells, side_by_side, table};
use crate::measure::moments::Moments;
use crate::measure::usage::FIELDS;
use crate::row::Row;

/// The console of a run.
#[derive(Debug, Default)]
pub struct Terminal {
    /// Lines of the last set of tables, if nothing was written below it.
    drawn_lines: usize,
}

impl Terminal {
    /// A console on which nothing has been drawn.
    #[must_use]
    pub fn new() -> Self {
        Terminal::default()
    }

    /// Writes lines below whatever is there.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        self.drawn_lines = 0;
        write_lines(lines)
    }

    /// Draws the tables of a row, over those of the row before where that is possible.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let mut lines = row_lines(row);
        let height = lines.len();
        if fits_window(&lines) {
            // To the first line of the set before, if there is one; each line clears what was right of it.
            let up = if self.drawn_lines > 0 { format!("\x1b[{}F", self.drawn_lines) } else { String::new() };
            lines.iter_mut().for_each(|line| line.push_str("\x1b[K"));
            if let Some(first) = lines.first_mut() {
                first.insert_str(0, &up);
            }
            self.drawn_lines = height;
        } else {
            self.drawn_lines = 0;
        }
        write_lines(&lines)
    }
}

/// Writes lines to standard output in one piece.
///
/// # Errors
/// If it cannot be written.
pub fn write_lines(lines: &[String]) -> io::Result<()> {
    let mut text = lines.join("\n");
    text.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn fits_window(lines: &[String]) -> bool {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return false;
    }
    let Ok(window) = tcgetwinsize(&stdout) else { return false };
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    lines.len() < usize::from(window.ws_row) && widest <= usize::from(window.ws_col)
}

/// All tables of a row.
fn row_lines(row: &Row) -> Vec<String> {
    let run_time =
        ["T_experiment".to_owned(), seconds(row.t_experiment_s()), "T_loop".to_owned(), seconds(row.t_loop_s())];
    let mut lines = table("run time", &[run_time.into()]);
    lines.push(String::new());
    lines.extend(side_by_side(&[
        (samples(row), moments("latency", &row.latency_s())),
        (moments("publisher loop", &row.publisher_loop_s()), moments("subscriber loop", &Moments::default())),
    ]));
    lines.extend(system_usage(row));
    lines.push(String::new());
    let received = &row.received;
    let (lost, overwritten) = (received.lost(), received.overwritten);
    lines.push(format!(
        "lost: {overwritten} left the history, {} unexplained; {} duplicates, {} reordered",
        lost.saturating_sub(overwritten),
        received.duplicates,
        received.reordered
    ));
    lines.push(format!(
        "CPU:  {:.1} % of one core, {:.1} % of all {}",
        row.core_percent,
        row.all_cores_percent(),
        row.cores
    ));
    lines.push(String::new());
    lines
}

fn samples(row: &Row) -> Vec<String> {
    let values = vec![
        row.per_second(row.received.samples).to_string(),
        row.per_second(row.sent.samples).to_string(),
        row.per_second(row.received.lost()).to_string(),
        row.data_received().to_string(),
        seconds(row.relative_loss()),
    ];
    table("samples", &[cells(["recv", "sent", "lost", "data_recv", "relative_loss"]), values])
}

fn moments(title: &str, moments: &Moments) -> Vec<String> {
    let values = [moments.min, moments.max, moments.mean, moments.variance()].map(seconds);
    table(title, &[cells(["min", "max", "mean", "variance"]), values.into()])
}

fn system_usage(row: &Row) -> Vec<String> {
    let values = row.usage.fields().map(|value| value.to_string());
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
    use crate::row::documented_row;

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
        assert_eq!(row_lines(&documented_row()).join("\n"), expected);
    }
}
