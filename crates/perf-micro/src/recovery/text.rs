//! The recovery as tables.

use perf_test::{
    experiments::results_file::{Column, Table},
    report::tables::cells,
};

use super::{
    Recovery, Scenario,
    lost_frame::LostFrame,
    note::Note,
    outcome::Outcome,
    scenario::{DAMAGED_BYTES_PER_MILLION, LOST_FRAMES_PER_MILLION},
};
use crate::options::Named;

/// The largest number of events that are printed for a scenario.
const MOST_EVENTS: usize = 12;
const COLUMNS: [Column<Outcome>; 13] = [
    ("fault", |of| of.scenario.name()),
    ("published", |of| of.published.to_string()),
    ("received", |of| of.received.to_string()),
    ("refused: no session", |of| of.not_connected.to_string()),
    ("refused: no room", |of| of.full.to_string()),
    ("lost", |of| of.lost.to_string()),
    ("reported", |of| of.forgotten.to_string()),
    ("in silence", |of| of.lost_in_silence.to_string()),
    ("twice", |of| of.duplicates.to_string()),
    ("out of order", |of| of.reordered.to_string()),
    ("longest gap (ms)", |of| format!("{:.0}", of.longest_gap_ms)),
    ("time to data (ms)", |of| of.time_to_data_ms.map_or("-".to_owned(), |ms| format!("{ms:.0}"))),
    ("delay, median / max (ms)", |of| format!("{:.1} / {:.1}", of.delay_median_ms, of.delay_max_ms)),
];

impl Recovery {
    /// The table of lost frames, and the table of the faults with their events below it.
    pub(super) fn tables(&self) -> Vec<Table> {
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
        let of_faults = Table::of_columns(title, notes, &COLUMNS, &self.outcomes);
        self.lost_frame.iter().map(LostFrame::table).chain([of_faults]).collect()
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
    /// The lines with the first events after the start of the fault.
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
