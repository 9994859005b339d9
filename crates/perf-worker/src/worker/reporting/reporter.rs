//! The sender of a worker's reports. It runs on the main thread.
//!
//! Reports cost CPU time, because histograms are converted to JSON once a second. This time is `perf_test`'s and not
//! the middleware's, so each report states it separately.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::process_rows::{MANY_ENDPOINTS, ProcessRows};
use crate::{
    backend::Session,
    clock::work_cpu,
    endpoint::Endpoint,
    measure::{
        memory::Footprint,
        resources::Resources,
        tally::TALLIES,
        threads::{ThreadUsage, since},
        usage::Usage,
    },
    run_spec::RunSpec,
    worker::{
        channel::Channel,
        context::{account::InstrumentAccount, outgoing::Outgoing},
        protocol::Report,
    },
};

/// Sends all reports of a worker.
pub struct Reporter {
    reports: Receiver<Outgoing>,
    endpoints: usize,
    account: InstrumentAccount,
    session: Arc<dyn Session>,
    /// The usage (CPU time, context switches) of this thread for opening the middleware.
    opening: Usage,
    threads_before: Vec<ThreadUsage>,
    /// A delay before the start, which only the script of the mock sets.
    start_delay: Duration,
    /// CPU time that this thread wastes for each row, which only the script of the mock sets.
    row_work_ns: i64,
    /// Whether all rows of a second arrive together. This is the case with executors, where one thread (the keeper)
    /// sends the rows of all endpoints.
    rows_come_together: bool,
    /// The resources in the last report.
    reported: Resources,
    /// The second of the last row that was sent, and the resources in the rows of this second.
    second: Option<(u64, Resources)>,
    /// The sums over all endpoints, if the process has many endpoints.
    process: Option<ProcessRows>,
    /// The memory that the counts of finished endpoints used, bytes.
    counts_bytes: u64,
}

impl Reporter {
    /// Creates the sender of reports for a process with `endpoints` endpoints.
    pub fn new(
        reports: Receiver<Outgoing>,
        account: InstrumentAccount,
        session: Arc<dyn Session>,
        opening: Usage,
        spec: &RunSpec,
        endpoints: usize,
    ) -> Reporter {
        let start_delay = Duration::from_nanos(u64::try_from(spec.mock.start_ns).unwrap_or(0));
        let row_work_ns = spec.mock.report_ns;
        let rows_come_together = spec.executor.is_some();
        let (threads_before, second) = (Vec::new(), None);
        // Sums are possible only if statistics leave out no seconds and no single messages are tracked, because an
        // endpoint's total can do neither.
        let is_plain = spec.left_out_s() == 0 && !spec.tracking;
        let has_sums = rows_come_together && endpoints >= MANY_ENDPOINTS && is_plain;
        let process = has_sums.then(|| ProcessRows::new(endpoints));
        Reporter {
            reports,
            account,
            session,
            opening,
            threads_before,
            start_delay,
            row_work_ns,
            rows_come_together,
            reported: Resources::default(),
            second,
            process,
            counts_bytes: 0,
            endpoints,
        }
    }

    /// Sends reports over `channel` until the threads of all endpoints have ended.
    pub fn run(mut self, channel: &mut Channel) -> Result<(), String> {
        let (mut alive, mut unfinished) = (self.endpoints, self.endpoints);
        while alive > 0 {
            let Ok(outgoing) = self.reports.recv() else { break };
            let report = match outgoing {
                Outgoing::ThreadEnded => {
                    alive -= 1;
                    continue;
                }
                Outgoing::Control(report) => {
                    if let Report::Failed(Some(endpoint), _) = *report {
                        self.total(endpoint, channel)?;
                    }
                    *report
                }
                Outgoing::Started => {
                    std::thread::sleep(self.start_delay);
                    // The resources are read first, as close to the start as possible: `ThreadUsage` reads every thread
                    // in /proc, which takes time.
                    let resources = self.resources()?;
                    self.threads_before = ThreadUsage::all_of_this_process()?;
                    Report::Started(resources)
                }
                Outgoing::Row { endpoint, second, whole, mut tally, recycle } => {
                    work_cpu(self.row_work_ns);
                    let resources =
                        if whole || self.process.is_some() { self.resources_of_row(second) } else { self.resources() }?;
                    let reports = match &mut self.process {
                        Some(process) => process.add(endpoint, second, whole, &tally, resources),
                        None => {
                            let counts = Box::new(tally.counts());
                            vec![Report::Row { endpoint, second, whole, counts, resources }]
                        }
                    };
                    if !whole {
                        let total_bytes = self.process.as_ref().map_or(0, |process| process.memory_bytes(endpoint));
                        self.counts_bytes += (TALLIES * tally.memory_bytes() + total_bytes) as u64;
                    }
                    tally.clear();
                    // An error means that the endpoint has ended, so nothing needs the memory any more.
                    let _ = recycle.try_send(tally);
                    reports.iter().try_for_each(|report| channel.send(report))?;
                    continue;
                }
                Outgoing::Finished { endpoint, report } => {
                    unfinished = unfinished.saturating_sub(1);
                    self.total(endpoint, channel)?;
                    let rows = self.process.as_mut().filter(|_| unfinished == 0).map(ProcessRows::last);
                    rows.into_iter().flatten().try_for_each(|row| channel.send(&row))?;
                    let resources = self.resources_of_end(unfinished)?;
                    channel.send(&Report::Finished { endpoint, report, resources })?;
                    if unfinished > 0 {
                        continue;
                    }
                    let threads = since(&ThreadUsage::all_of_this_process()?, &self.threads_before);
                    let device = self.session.device_memory();
                    let instrument_bytes = Some(self.counts_bytes);
                    Report::Ended { footprint: Footprint::of_this_process()?, threads, device, instrument_bytes }
                }
            };
            channel.send(&report)?;
        }
        Ok(())
    }

    /// The resources for a whole row. Rows that arrive together share the resources of the first one, because reading
    /// resources costs more than a row.
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

    /// The resources for the report of a finished endpoint. A process that reports sums reads them again only after its
    /// last endpoint.
    fn resources_of_end(&mut self, unfinished: usize) -> Result<Resources, String> {
        match self.second.filter(|_| self.process.is_some() && unfinished > 0) {
            Some((_, resources)) => Ok(resources),
            None => self.resources(),
        }
    }

    /// Sends the total counts of an endpoint that has finished or failed, if the process reports sums.
    fn total(&mut self, endpoint: Endpoint, channel: &mut Channel) -> Result<(), String> {
        let total = self.process.as_mut().and_then(|process| process.total(endpoint));
        total.map_or(Ok(()), |total| channel.send(&total))
    }

    /// Reads the present resources. No value is lower than in the last report. The usage of `perf_test`'s other threads
    /// may be out of date: their work since its last update counts as the middleware's until the next reading.
    fn resources(&mut self) -> Result<Resources, String> {
        let now = Resources::of_this_process(&self.account.usage(), &self.opening)?;
        self.reported = Resources { usage: now.usage.at_least(&self.reported.usage), ..now };
        Ok(self.reported)
    }
}
