//! The heading of a topology's run: its options, the limits of late messages, and the wait strategy.

use std::collections::BTreeSet;

use clap::ValueEnum;

use super::TopologyRun;
use crate::{
    common::{
        units::several,
        warning::{Warning, WarningKind},
    },
    log::{NodesEntry, Summary},
    report::heading::{middleware, named_lines, settings},
    system::own_process,
    topology::{Counts, Liveliness, Processes},
};
use perf_worker::{choice::Choice, run_spec::PassBy, worker::protocol::Plan};

impl TopologyRun {
    /// The heading as lines of text.
    pub(super) fn heading(&self, plans: &[Plan]) -> Vec<String> {
        let spec = &self.spec;
        let executor = spec.executor.as_deref().unwrap_or_default();
        let lines = [
            ("program", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
            ("topology", format!("{}: {}", spec.topic, self.counts(plans).sentence())),
            ("middleware", middleware(spec)),
            ("settings", settings(spec)),
            ("executor", format!("{executor}; timers publish and subscriptions receive in callbacks on its threads")),
            ("waiting", format!("executors wait in the middleware's own way; threads have {}", scheduling())),
            ("processes", self.processes(plans)),
            ("path", self.path().to_owned()),
            (
                "payload",
                "the header (time, id) is written right before publish and read on reception; no other byte".to_owned(),
            ),
            (
                "schedule",
                "a timer expires first one period after the start, and skips periods that it misses".to_owned(),
            ),
            ("runtime", format!("{} s in domain {}", spec.max_runtime_s, spec.domain_id)),
            ("late", self.nodes.limits()),
        ];
        let notes = self.topology.notes.iter().chain(&self.spec.heading_notes).cloned().chain(self.liveliness());
        named_lines(lines.into_iter().chain(notes.map(|note| ("note", note))))
    }

    /// The counts of the topology, including the numbers of processes and executors in this run.
    fn counts(&self, plans: &[Plan]) -> Counts {
        let executors = plans.iter().map(|plan| plan.endpoints.iter().map(|of| of.executor).collect::<BTreeSet<u32>>());
        let executors = executors.map(|numbers| numbers.len()).sum();
        Counts { processes: plans.len(), executors, ..self.topology.counts() }
    }

    /// The options of the nodes, for the log.
    pub(super) fn nodes_entry(&self) -> NodesEntry {
        let processes = self.nodes.processes.to_possible_value();
        NodesEntry {
            processes: processes.map(|value| value.get_name().to_owned()).unwrap_or_default(),
            pass_by: self.nodes.pass_by.map(|way| way.name().to_owned()),
            late: self.nodes.limits(),
        }
    }

    fn processes(&self, plans: &[Plan]) -> String {
        let by = match self.nodes.processes {
            Processes::File => "one for each file",
            Processes::Node => "one for each node",
            Processes::One => "one for all nodes",
        };
        format!("{}: {by}", plans.len())
    }

    fn path(&self) -> &'static str {
        match self.nodes.pass_by {
            None => {
                "msg_pass_by of the files: loaned_msg publishes in place, pointers copy in; unique_ptr receives a copy, \
                 shared_ptr reads in place"
            }
            Some(PassBy::UniquePtr) => "unique_ptr everywhere: messages are copied in, and callbacks get copies",
            Some(PassBy::SharedPtr) => "shared_ptr everywhere: messages are copied in, and callbacks read in place",
            Some(PassBy::LoanedMsg) => "loaned_msg everywhere: messages are written and read in place",
        }
    }

    /// The note that liveliness has no effect; `None` if the topology does not set it.
    fn liveliness(&self) -> Option<String> {
        let nodes = || self.topology.processes.iter().flat_map(|process| &process.nodes);
        let publishers = nodes().flat_map(|node| &node.publishers).map(|of| of.qos.liveliness);
        let subscriptions = nodes().flat_map(|node| &node.subscriptions).map(|of| of.qos.liveliness);
        let mut all = publishers.chain(subscriptions);
        all.any(|of| of == Liveliness::ManualByTopic)
            .then(|| "qos_liveliness manual_by_topic was checked in the files; the endpoints have automatic".to_owned())
    }

    /// The warning that timers skipped messages; `None` if they skipped none.
    pub(super) fn skipped(&self, summary: &Summary) -> Option<Warning> {
        let skipped = summary.total.sent.skipped;
        let messages = several(skipped as usize, "message", "messages");
        let sentence = format!("timers passed over {messages}, because they were late by more than a period");
        let executor = self.spec.executor.as_deref().unwrap_or_default();
        let hint = format!(
            "Callbacks of the executor `{executor}` held them up, or the cores are full: see `skipped` of each publisher"
        );
        Warning::when(skipped > 0, WarningKind::RateNotHeld, sentence, hint)
    }
}

/// The scheduling policy and priority of this process, which the workers inherit.
fn scheduling() -> String {
    let process = own_process();
    match process.scheduling().filter(|_| process.is_special()) {
        Some(scheduling) => scheduling,
        None => "the system's default priority".to_owned(),
    }
}
