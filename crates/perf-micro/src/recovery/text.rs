//! The recovery as text.

use perf_worker::choice::Choice;

use super::{
    Recovery, Scenario,
    lost_frame::LostFrame,
    outcome::Outcome,
    scenario::{DAMAGED_BYTES_PER_MILLION, LOST_FRAMES_PER_MILLION},
};
use perf_test::report::tables::table;

const COLUMNS: [&str; 13] = [
    "fault",
    "published",
    "received",
    "refused: no session",
    "refused: no room",
    "lost",
    "reported",
    "in silence",
    "twice",
    "out of order",
    "longest gap (ms)",
    "time to data (ms)",
    "delay, median / max (ms)",
];

impl Recovery {
    /// The results as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.lost_frame.iter().flat_map(LostFrame::lines));
        let rows = std::iter::once(COLUMNS.map(str::to_owned).into()).chain(self.outcomes.iter().map(Outcome::cells));
        let title = format!("Faults of {}: reliable numbers at 50 Hz", self.transport.name());
        lines.extend(table(&title, &rows.collect::<Vec<_>>()));
        lines.push(String::new());
        lines.extend([
            format!(
                "loss: {} % of the frames; corruption: {} % of the bytes; both ways",
                f64::from(LOST_FRAMES_PER_MILLION) / 1e4,
                f64::from(DAMAGED_BYTES_PER_MILLION) / 1e4
            ),
            "refused: the publisher's caller had an error; reported: the client said that it had forgotten so many, or a reset board had them"
                .to_owned(),
            "in silence: lost, and not among those that were reported".to_owned(),
            "time to data: from the moment when the cable was in, the agent ready, or the board reset, to the first number published after it".to_owned(),
        ]);
        for outcome in self.outcomes.iter().filter(|outcome| !outcome.events.is_empty()) {
            lines.push(String::new());
            lines.push(format!("{}: {}", outcome.scenario.name(), outcome.scenario.description()));
            let line =
                |event: &super::outcome::Event| format!("  {:>9.1} ms  {}: {}", event.after_ms, event.side, event.what);
            lines.extend(outcome.events.iter().take(MOST_EVENTS).map(line));
            let more = outcome.events.len().saturating_sub(MOST_EVENTS);
            lines.extend((more > 0).then(|| format!("  and {more} more, which are in the JSON")));
        }
        lines.push(String::new());
        lines.extend(self.failures.iter().map(|sentence| format!("failed: {sentence}")));
        lines.extend(
            self.lost_frame.iter().map(|of| format!("figure lost-frame-round-trips {:.2}", of.cost_round_trips())),
        );
        lines.extend(self.outcomes.iter().flat_map(Outcome::figures));
        lines
    }
}

/// The events of a scenario that are printed.
const MOST_EVENTS: usize = 12;

impl LostFrame {
    fn lines(&self) -> Vec<String> {
        let header = ["lost frame", "median round trip (ms)", "cost (round trips)"].map(str::to_owned).to_vec();
        let row = |name: &str, ms: f64| {
            vec![name.to_owned(), format!("{ms:.2}"), format!("{:.2}", ms / self.round_trip_ms - 1.0)]
        };
        let rows = [
            header,
            row("none", self.round_trip_ms),
            row("from the board", self.from_board_ms),
            row("to the board", self.to_board_ms),
            row("p90 of both", self.p90_ms),
            row("the worst of all", self.max_ms),
        ];
        let mut lines = table(&format!("One lost frame in an exchange of Int64, n = {}", self.n), &rows);
        lines.push(String::new());
        lines
    }
}

impl Outcome {
    fn cells(&self) -> Vec<String> {
        let number = |value: u64| value.to_string();
        vec![
            self.scenario.name().to_owned(),
            self.published.to_string(),
            self.received.to_string(),
            number(self.not_connected),
            number(self.full),
            self.lost.to_string(),
            self.forgotten.to_string(),
            self.lost_in_silence.to_string(),
            number(self.duplicates),
            number(self.reordered),
            format!("{:.0}", self.longest_gap_ms),
            self.time_to_data_ms.map_or("-".to_owned(), |ms| format!("{ms:.0}")),
            format!("{:.1} / {:.1}", self.delay_median_ms, self.delay_max_ms),
        ]
    }

    fn figures(&self) -> Vec<String> {
        let name = self.scenario.name();
        let mut figures = vec![
            format!("figure {name}-lost-in-silence {}", self.lost_in_silence),
            format!("figure {name}-longest-gap-ms {:.0}", self.longest_gap_ms),
        ];
        if matches!(self.scenario, Scenario::Cut | Scenario::AgentRestart | Scenario::BoardReset) {
            figures.extend(self.time_to_data_ms.map(|ms| format!("figure {name}-time-to-data-ms {ms:.0}")));
        }
        figures
    }
}
