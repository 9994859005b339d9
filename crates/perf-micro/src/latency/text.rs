//! The latencies as text.

use perf_worker::choice::Choice;

use super::{
    Latency,
    statistics::{Distribution, Row},
};
use crate::published::latency::{ROWS, like};
use perf_test::report::tables::table;

/// The differences of the rigs.
const DIFFERENCES: [&str; 6] = [
    "published: a Renesas EK-RA6M5 with micro-ROS; one exchange of each transport (n = 1)",
    "client publish: from the board to the host by the board's synchronised clock; agent publish: the rest of the round trip, with what the host needs",
    "true: by the host's clock, which both sides of this rig can read; clock error: the board's synchronised clock minus the agent's",
    "here: a thread of this host with gantry-micro on a line with the speed of the real one, so the CPU of a microcontroller is not in the figures",
    "can-fd: the published figures are those of can-fd-no-brs, because the code of the published test does not switch the bit rate",
    "udp: the loopback interface; tcp: the speed of the WiFi module's serial line, without its WiFi",
];

impl Latency {
    /// The results as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let title = format!("Latency of Int64, reliable (ms), an exchange each {} ms, medians", self.period_ms);
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
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.rows.iter().map(Row::medians));
        let others = ROWS.iter().filter(|row| row.like.is_none());
        rows.extend(others.map(|row| {
            let ms = [row.client_publish_ms, row.agent_publish_ms, row.round_trip_ms];
            let [client, agent, round_trip] = ms.map(|ms| format!("{ms:.2}"));
            let name = format!("{}: published only", row.name);
            vec![name, "1".into(), "-".into(), "-".into(), "-".into(), client, agent, round_trip]
        }));
        let mut lines = table(&title, &rows);
        lines.push(String::new());
        let header = ["transport", "of", "min", "median", "p99", "p99.9", "max"].map(str::to_owned).to_vec();
        let details = self.rows.iter().flat_map(Row::details);
        lines.extend(table("Distributions (ms)", &std::iter::once(header).chain(details).collect::<Vec<_>>()));
        lines.push(String::new());
        lines.extend(DIFFERENCES.map(str::to_owned));
        lines.extend(self.failures.iter().map(|sentence| format!("failed: {sentence}")));
        lines.extend(self.rows.iter().flat_map(Row::figures));
        lines
    }
}

fn ms(ns: i64) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

impl Row {
    fn medians(&self) -> Vec<String> {
        let here = [self.client_publish, self.agent_publish, self.round_trip].map(|of| ms(of.p50_ns));
        let published =
            like(self.transport).map(|row| [row.client_publish_ms, row.agent_publish_ms, row.round_trip_ms]);
        let published = published.map_or(["-", "-", "-"].map(str::to_owned), |ms| ms.map(|ms| format!("{ms:.2}")));
        let name = [self.transport.name().to_owned(), self.n.to_string()];
        name.into_iter().chain(here).chain(published).collect()
    }

    fn quantities(&self) -> [(&'static str, Distribution); 6] {
        [
            ("client publish", self.client_publish),
            ("true client publish", self.true_client_publish),
            ("agent publish", self.agent_publish),
            ("true agent publish", self.true_agent_publish),
            ("round trip", self.round_trip),
            ("clock error", self.clock_error),
        ]
    }

    fn details(&self) -> Vec<Vec<String>> {
        let row = |(name, of): (&str, Distribution)| {
            let values = [of.min_ns, of.p50_ns, of.p99_ns, of.p99_9_ns, of.max_ns].map(ms);
            [self.transport.name().to_owned(), name.to_owned()].into_iter().chain(values).collect()
        };
        self.quantities().into_iter().map(row).collect()
    }

    fn figures(&self) -> Vec<String> {
        let name = self.transport.name();
        let figure = |of: &str, value: Distribution| format!("figure {name}-{of}-ms {}", ms(value.p50_ns));
        vec![
            figure("rtt", self.round_trip),
            figure("client-publish", self.client_publish),
            figure("agent-publish", self.agent_publish),
            figure("true-client-publish", self.true_client_publish),
            figure("true-agent-publish", self.true_agent_publish),
            figure("clock-error", self.clock_error),
        ]
    }
}
