//! Output files of a topology's run in iRobot's format: their folders, and the text of `metadata.txt`.

use std::path::PathBuf;

use super::TopologyRun;
use crate::{
    cli::ROW_MS,
    common::error::Failure,
    report::irobot::{Files, Process},
    system::{System, root_folder},
    topology::numbered,
};
use perf_worker::{endpoint::EndpointPlan, worker::protocol::Plan};

impl TopologyRun {
    /// Creates iRobot's files if the options ask for them.
    ///
    /// # Errors
    /// A folder or a file cannot be created.
    pub(super) fn create_files(&self, plans: &[Plan], heading: &[String]) -> Result<Option<Files>, Failure> {
        if !self.irobot.has_files() {
            return Ok(None);
        }
        let process = |(plan, folder): (&Plan, PathBuf)| Process {
            folder,
            endpoints: plan.endpoints.iter().map(|plan| (plan.clone(), self.payload_bytes(plan))).collect(),
        };
        let processes: Vec<Process> = plans.iter().zip(self.folders(plans)).map(process).collect();
        let folders: Vec<String> = processes.iter().map(|process| process.folder.display().to_string()).collect();
        let files = Files::create(processes, self.irobot.style(), self.spec.tracking, &metadata(heading));
        let refused = |error| {
            let folders = folders.join(", ");
            Failure::Usage(format!("cannot create iRobot's files in {folders}: {error}. Give another --results-dir"))
        };
        let with_sampling = |files: Files| match self.sampling_ms {
            ROW_MS => files,
            period_ms => files.with_sampling(period_ms),
        };
        files.map(|files| Some(with_sampling(files))).map_err(refused)
    }

    /// The folder of each process. Two names that become equal as file names, such as `/a/b` and `/a_b`, get different
    /// folders.
    fn folders(&self, plans: &[Plan]) -> Vec<PathBuf> {
        let names = plans.iter().map(|plan| plan.name.trim_matches('/').replace(['/', ' '], "_")).collect();
        let folder = |name: String| match &self.irobot.results_dir {
            Some(folder) if plans.len() == 1 => folder.clone(),
            Some(folder) => folder.join(name),
            None => PathBuf::from(format!("{name}_log")),
        };
        numbered(names).into_iter().map(folder).collect()
    }

    fn payload_bytes(&self, plan: &EndpointPlan) -> u64 {
        self.topology.payload_bytes(plan.endpoint).unwrap_or_default()
    }
}

/// The lines of `metadata.txt`: the heading of the report with iRobot's keys, the command line and the machine.
fn metadata(heading: &[String]) -> Vec<String> {
    let system = System::read(&root_folder());
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let machine = [
        ("command_line", Some(arguments.collect::<Vec<String>>().join(" "))),
        ("cpu", system.cpu.model),
        ("kernel", system.kernel.release),
    ];
    let machine = machine.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    let of_heading = heading.iter().filter_map(|line| line.split_once(' '));
    of_heading.map(|(key, value)| format!("{key}: {}", value.trim())).chain(machine).collect()
}
