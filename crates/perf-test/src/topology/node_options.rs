//! The options that apply to all nodes of a topology.

use clap::ValueEnum;
use serde::Serialize;

use crate::common::units::format_ns;
use perf_worker::run_spec::{PassBy, Threshold};

/// The division of a topology into processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Processes {
    /// One process for each file.
    #[default]
    File,
    /// One process for each node.
    Node,
    /// One process for all nodes.
    One,
}

/// The options that apply to all nodes of a topology.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions {
    /// The division of the nodes into processes.
    pub processes: Processes,
    /// The kind of pointer in which callbacks pass messages, instead of the value in the files. `None` keeps the files'
    /// value.
    pub pass_by: Option<PassBy>,
    /// The latency above which a sample is late.
    pub late: Threshold,
    /// The latency above which a sample is too late instead of late.
    pub too_late: Threshold,
}

impl NodeOptions {
    /// The limits of late and too late messages, as text.
    #[must_use]
    pub fn limits(&self) -> String {
        let above = |threshold: &Threshold| {
            let part = threshold.part_of_period.map(|part| format!("{:.0} % of the publisher's period", part * 100.0));
            let absolute = threshold.absolute_ns.map(|ns| format_ns(ns as f64));
            part.into_iter().chain(absolute).collect::<Vec<String>>().join(" or ")
        };
        format!(
            "latency from send above {}, the smaller; too late above {}; both stay in all statistics",
            above(&self.late),
            above(&self.too_late)
        )
    }
}
