//! The latencies as tables.

use perf_test::{experiments::results_file::Table, report::tables::cells};

use super::{Latency, row::LatencyRow};
use crate::published::latency::ROWS;

/// The notes about the differences between the published measurement and this one.
const DIFFERENCES: [&str; 6] = [
    "published: a Renesas EK-RA6M5 with micro-ROS; one exchange of each transport (n = 1)",
    "client publish: from the board to the host by the board's synchronised clock; agent publish: the rest of the round trip, with what the host needs",
    "true: by the host's clock, which both sides of this rig can read; clock error: the board's synchronised clock minus the agent's",
    "here: a thread of this host with gantry-micro on a line with the speed of the real one, so the CPU of a microcontroller is not in the figures",
    "can-fd: the published figures were measured like can-fd-no-brs, because the code of the published test does not switch the bit rate",
    "udp: the loopback interface; tcp: the speed of the WiFi module's serial line, without its WiFi",
];

impl Latency {
    /// The table of the medians beside the published medians, and the table of the distributions.
    pub(super) fn tables(&self) -> Vec<Table> {
        let header = [
            "transport",
            "n",
            "client publish",
            "agent publish",
            "round trip",
            "published: client",
            "agent",
            "round trip",
        ];
        let mut medians = vec![cells(header)];
        medians.extend(self.rows.iter().map(LatencyRow::medians));
        medians.extend(ROWS.iter().filter(|row| row.like.is_none()).map(|row| {
            let [client, agent, round_trip] = row.texts();
            cells([&format!("{}: published only", row.name), "1", "-", "-", "-", &client, &agent, &round_trip])
        }));
        let mut distributions = vec![cells(["transport", "of", "min", "median", "p99", "p99.9", "max"])];
        distributions.extend(self.rows.iter().flat_map(LatencyRow::distributions));
        let title = format!("Latency of Int64, reliable (ms), an exchange each {} ms, medians", self.period_ms);
        let notes = DIFFERENCES.map(str::to_owned).into();
        vec![
            Table { title, rows: medians, notes: Vec::new() },
            Table { title: "Distributions (ms)".to_owned(), rows: distributions, notes },
        ]
    }
}
