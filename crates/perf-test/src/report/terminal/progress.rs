//! The progress line of a run: a bar, the elapsed and the remaining time, and the rates of the last second.

use crate::log::RowEntry;
use perf_worker::run_spec::RunSpec;

/// The greatest length of the bar, characters.
const MAX_BAR_CHARS: usize = 30;
/// The smallest length of the bar, characters. If less room is left, no bar is drawn.
const MIN_BAR_CHARS: usize = 10;

/// The properties of a run that its progress line needs.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The time from the first message to the last, s; `None` for a run that lasts until it is interrupted.
    length_s: Option<u32>,
    sends: bool,
    receives: bool,
}

impl Progress {
    /// Creates the progress of a run.
    #[must_use]
    pub fn new(spec: &RunSpec) -> Progress {
        let (sends, receives) = (spec.publishers > 0, spec.subscriptions > 0);
        Progress { length_s: spec.length_s(), sends, receives }
    }

    /// The progress line after `row`, for a window of `columns`; `None` if the window is too narrow.
    #[must_use]
    pub fn line(&self, row: &RowEntry, columns: usize) -> Option<String> {
        let elapsed_s = row.t_s.round() as u64;
        let mut parts = vec![match self.length_s {
            None => format!("{}, until Ctrl-C", duration(elapsed_s)),
            Some(length_s) => {
                let left_s = u64::from(length_s).saturating_sub(elapsed_s);
                format!("{} of {}, {} left", duration(elapsed_s), duration(length_s.into()), duration(left_s))
            }
        }];
        if self.sends {
            parts.push(format!("{} sent/s", row.per_second(row.total.sent.samples)));
        }
        if self.receives {
            parts.push(format!("{} received/s", row.per_second(row.total.received.samples)));
        }
        let text = parts.join("; ");
        let room = columns.checked_sub(text.chars().count() + 1)?;
        // Two brackets and a space take three characters.
        let bar = room.saturating_sub(3).min(MAX_BAR_CHARS);
        let Some(length_s) = self.length_s.filter(|_| bar >= MIN_BAR_CHARS) else { return Some(text) };
        let done = (bar as u64 * elapsed_s / u64::from(length_s).max(1)).min(bar as u64) as usize;
        Some(format!("[{}{}] {text}", "#".repeat(done), "-".repeat(bar - done)))
    }
}

/// A number of seconds as text, with minutes and hours.
pub(crate) fn duration(time_s: u64) -> String {
    match time_s {
        0..100 => format!("{time_s} s"),
        100..3600 => format!("{} min {:02} s", time_s / 60, time_s % 60),
        _ => format!("{} h {:02} min", time_s / 3600, time_s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::documented_row;

    const HOUR: Progress = Progress { length_s: Some(3600), sends: true, receives: true };

    #[test]
    fn the_bar_gives_way_to_the_figures() {
        // `documented_row` ends at second 31 and has 100 sent and 99 received messages.
        let half = Progress { length_s: Some(62), ..HOUR };
        let text = "31 s of 62 s, 31 s left; 100 sent/s; 99 received/s";
        let row = documented_row();
        assert_eq!(half.line(&row, 200).unwrap(), format!("[{}{}] {text}", "#".repeat(15), "-".repeat(15)));
        assert_eq!(half.line(&row, text.len() + 14).unwrap(), format!("[#####-----] {text}"));
        assert_eq!(half.line(&row, text.len() + 13).unwrap(), text);
        assert_eq!(half.line(&row, text.len() + 1).unwrap(), text);
        assert_eq!(half.line(&row, text.len()), None);
    }

    #[test]
    fn it_says_what_the_run_knows() {
        let row = documented_row();
        let line = |progress: Progress| progress.line(&row, 200).unwrap();
        assert!(line(HOUR).ends_with("31 s of 1 h 00 min, 59 min 29 s left; 100 sent/s; 99 received/s"));
        assert_eq!(line(Progress { length_s: None, sends: false, ..HOUR }), "31 s, until Ctrl-C; 99 received/s");
        // The last row may end later than the planned end of the run.
        let over = Progress { length_s: Some(30), receives: false, ..HOUR };
        assert_eq!(line(over), format!("[{}] 31 s of 30 s, 0 s left; 100 sent/s", "#".repeat(30)));
    }
}
