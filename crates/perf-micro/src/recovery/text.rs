//! The recovery as tables.

use perf_test::{experiments::results_file::Table, report::tables::cells};
use perf_worker::choice::Choice;

use super::{
    Recovery, Scenario,
    lost_frame::LostFrame,
    note::Note,
    outcome::Outcome,
    scenario::{DAMAGED_BYTES_PER_MILLION, LOST_FRAMES_PER_MILLION},
};

/// The events of a scenario that are printed.
const MOST_EVENTS: usize = 12;
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
    /// A table of lost frames, and one of the faults, with their events below it.
    pub(super) fn tables(&self) -> Vec<Table> {
        let rows = std::iter::once(cells(COLUMNS)).chain(self.outcomes.iter().map(Outcome::cells)).collect();
        let mut notes = vec![
            format!(
                "loss: {} % of the frames; corruption: {} % of the bytes; both ways",
                f64::from(LOST_FRAMES_PER_MILLION) / 1e4,
                f64::from(DAMAGED_BYTES_PER_MILLION) / 1e4
            ),
            "refused: the publisher's caller had an error; reported: the client said how many it had forgotten, or a reset board had them"
                .to_owned(),
            "in silence: lost, and not among those that were reported".to_owned(),
            "time to data: from the moment when the cable was in, the agent ready, or the board reset, to the first number published after it".to_owned(),
        ];
        notes.extend(self.outcomes.iter().filter(|outcome| !outcome.events.is_empty()).flat_map(Outcome::event_lines));
        let title = format!("Faults of {}: reliable numbers at 50 Hz", self.transport.name());
        self.lost_frame.iter().map(LostFrame::table).chain([Table { title, rows, notes }]).collect()
    }

    pub(super) fn figures(&self) -> Vec<(String, String)> {
        let cost = self.lost_frame.iter().map(LostFrame::cost_round_trips);
        let cost = cost.map(|cost| ("lost-frame-round-trips".to_owned(), format!("{cost:.2}")));
        cost.chain(self.outcomes.iter().flat_map(Outcome::figures)).collect()
    }
}

impl LostFrame {
    fn table(&self) -> Table {
        let row =
            |name: &str, ms: f64| cells([name, &format!("{ms:.2}"), &format!("{:.2}", ms / self.round_trip_ms - 1.0)]);
        let rows = vec![
            cells(["lost frame", "median round trip (ms)", "cost (round trips)"]),
            row("none", self.round_trip_ms),
            row("from the board", self.from_board_ms),
            row("to the board", self.to_board_ms),
            row("p90 of both", self.p90_ms),
            row("the worst of all", self.max_ms),
        ];
        Table { title: format!("One lost frame in an exchange of Int64, n = {}", self.n), rows, notes: Vec::new() }
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

    /// The first events after the beginning of the fault.
    fn event_lines(&self) -> Vec<String> {
        let mut lines = vec![String::new(), format!("{}: {}", self.scenario.name(), self.scenario.description())];
        let line = |event: &Note| format!("  {:>9.1} ms  {}: {}", event.after_ms, event.side, event.what);
        lines.extend(self.events.iter().take(MOST_EVENTS).map(line));
        let more = self.events.len().saturating_sub(MOST_EVENTS);
        lines.extend((more > 0).then(|| format!("  and {more} more, which are in the JSON")));
        lines
    }

    fn figures(&self) -> Vec<(String, String)> {
        let name = self.scenario.name();
        let mut figures = vec![
            (format!("{name}-lost-in-silence"), self.lost_in_silence.to_string()),
            (format!("{name}-longest-gap-ms"), format!("{:.0}", self.longest_gap_ms)),
        ];
        if matches!(self.scenario, Scenario::Cut | Scenario::AgentRestart | Scenario::BoardReset) {
            figures.extend(self.time_to_data_ms.map(|ms| (format!("{name}-time-to-data-ms"), format!("{ms:.0}"))));
        }
        figures
    }
}
