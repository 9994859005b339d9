//! The reporting thread of a worker, which is the main thread.
//!
//! Reports cost CPU time: histograms become JSON once a second. That is the instrument's time and not the middleware's, so each
//! report carries the two apart.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::{account::InstrumentAccount, channel::Channel, protocol::Report, rows::Outgoing};
use crate::{
    backend::Session,
    clock::work_cpu,
    measure::{
        memory::Footprint,
        resources::Resources,
        threads::{ThreadUsage, since},
        usage::Usage,
    },
    run_spec::RunSpec,
};

/// The sender of all reports; it lives on the main thread.
pub struct Reporter {
    reports: Receiver<Outgoing>,
    account: InstrumentAccount,
    session: Arc<dyn Session>,
    /// The usage of this thread for opening the middleware.
    opening: Usage,
    threads_before: Vec<ThreadUsage>,
    /// The delay of the start, in a test of it.
    start_delay: Duration,
    /// Work of this thread for each row, in a test of the accounts.
    row_work_ns: i64,
    /// The rows of a second come together, from the keeper of executors.
    rows_come_together: bool,
    /// The last second of a row, and the resources of its rows.
    second: Option<(u64, Resources)>,
}

impl Reporter {
    /// Sends what comes from `reports`.
    pub fn new(
        reports: Receiver<Outgoing>,
        account: InstrumentAccount,
        session: Arc<dyn Session>,
        opening: Usage,
        spec: &RunSpec,
    ) -> Reporter {
        let start_delay = Duration::from_nanos(u64::try_from(spec.mock.start_ns).unwrap_or(0));
        let row_work_ns = spec.mock.report_ns;
        let rows_come_together = spec.executor.is_some();
        let (threads_before, second) = (Vec::new(), None);
        Reporter {
            reports,
            account,
            session,
            opening,
            threads_before,
            start_delay,
            row_work_ns,
            rows_come_together,
            second,
        }
    }

    /// Sends reports over `channel` until the threads of all `endpoints` have ended.
    pub fn run(mut self, endpoints: usize, channel: &mut Channel) -> Result<(), String> {
        let (mut alive, mut unfinished) = (endpoints, endpoints);
        while alive > 0 {
            let Ok(outgoing) = self.reports.recv() else { break };
            let report = match outgoing {
                Outgoing::ThreadEnded => {
                    alive -= 1;
                    continue;
                }
                Outgoing::Control(report) => *report,
                Outgoing::Started => {
                    std::thread::sleep(self.start_delay);
                    // First, because its time is that of the start: the other reads every thread in /proc.
                    let resources = self.resources()?;
                    self.threads_before = ThreadUsage::all_of_this_process()?;
                    Report::Started(resources)
                }
                Outgoing::Row { endpoint, second, whole, mut tally, recycle } => {
                    work_cpu(self.row_work_ns);
                    let counts = Box::new(tally.counts());
                    tally.clear();
                    // Fails if the endpoint has ended; then the memory is not needed again.
                    let _ = recycle.try_send(tally);
                    let resources = if whole { self.resources_of_row(second) } else { self.resources() }?;
                    Report::Row { endpoint, second, whole, counts, resources }
                }
                Outgoing::Finished { endpoint, report } => {
                    unfinished = unfinished.saturating_sub(1);
                    channel.send(&Report::Finished { endpoint, report, resources: self.resources()? })?;
                    if unfinished > 0 {
                        continue;
                    }
                    let threads = since(&ThreadUsage::all_of_this_process()?, &self.threads_before);
                    let device = self.session.device_memory();
                    Report::Ended { footprint: Footprint::of_this_process()?, threads, device }
                }
            };
            channel.send(&report)?;
        }
        Ok(())
    }

    /// The resources for a whole row. Rows that come together have those of the first: reading them costs more than a row.
    fn resources_of_row(&mut self, second: u64) -> Result<Resources, String> {
        if let Some((of, resources)) = self.second.filter(|_| self.rows_come_together)
            && of == second
        {
            return Ok(resources);
        }
        let resources = self.resources()?;
        self.second = Some((second, resources));
        Ok(resources)
    }

    fn resources(&self) -> Result<Resources, String> {
        Resources::of_this_process(&self.account.usage(), &self.opening)
    }
}
