//! The measurement: from the start time until all endpoints have finished.
//!
//! During the measurement a failure of a worker does not end the program. The failure becomes a warning, and the other
//! workers continue.

use std::time::Duration;

use super::{EndpointFailure, Run, TICK, WorkerEnd, fleet::Event, is_publisher, ledger::Entry, needed};
use crate::{
    common::{
        error::Failure,
        warning::{Warning, WarningKind},
    },
    log::RowEntry,
    measure::daemon::Daemon,
};
use perf_worker::{
    clock::{SECOND_NS, now_ns},
    endpoint::Endpoint,
    run_spec::Roundtrip,
    worker::protocol::{
        Order, Report, UNKNOWN,
        times::{FINISH_NS, ROW_OVERDUE_NS},
    },
};

/// The time that a worker has at its end to measure its memory and report it.
const ENDED_NS: i64 = 2 * SECOND_NS;

impl Run<'_> {
    /// Reports rows until the publishers have finished, the planned end is reached, or the run is interrupted.
    pub(super) fn measure(&mut self) -> Result<(), Failure> {
        let end_ns = self.spec.end_ns(self.start_ns);
        let mut stop_by_ns = end_ns.saturating_add(FINISH_NS);
        if let Some(run_s) = self.spec.length_s() {
            self.ledger.end_after(u64::from(run_s));
        }
        loop {
            self.handle_events()?;
            let now_ns = now_ns();
            self.watch_daemons(now_ns);
            let publishing = self.working.iter().any(is_publisher);
            if self.stopped_ns.is_none()
                && let Some(reason) = self.reason_to_stop(now_ns < end_ns)
            {
                self.warn(WarningKind::EarlyEnd, reason);
                self.stopped_ns = Some(now_ns);
                self.ledger.end_after(u64::try_from((now_ns - self.start_ns) / SECOND_NS).unwrap_or(0));
                stop_by_ns = now_ns + FINISH_NS;
                self.fleet.order(&Order::Stop);
            }
            let done =
                if self.spec.publishers > 0 { !publishing } else { now_ns >= end_ns || self.stopped_ns.is_some() };
            if done {
                return Ok(());
            }
            if now_ns > stop_by_ns {
                self.give_up_on(is_publisher);
                return Ok(());
            }
        }
    }

    /// Reads the CPU time and memory of the daemons at the first second that counts and at the end of each second. So
    /// these figures cover the same seconds as the figures of the workers.
    fn watch_daemons(&mut self, now_ns: i64) {
        let begin_ns = self.start_ns + i64::from(self.spec.left_out_s()) * SECOND_NS;
        if now_ns < begin_ns + self.daemon_readings * SECOND_NS {
            return;
        }
        self.daemon_readings = (now_ns - begin_ns) / SECOND_NS + 1;
        for mut daemon in std::mem::take(&mut self.daemons) {
            match self.exit_of(&daemon).map_or_else(|| daemon.read(), Err) {
                Ok(()) => self.daemons.push(daemon),
                Err(sentence) => self.end_daemon(daemon, Some(sentence)),
            }
        }
    }

    /// A sentence about the exit of a daemon that this run has started; `None` if the daemon is running.
    fn exit_of(&mut self, daemon: &Daemon) -> Option<String> {
        let started = self.started.iter_mut().find(|started| started.pid == daemon.pid)?;
        started.exit(&format!("after {:.1} s", (now_ns() - self.start_ns) as f64 / SECOND_NS as f64))
    }

    /// Adds the CPU time and memory of a daemon to the summary, or a warning if they cannot be read. `exit` is the
    /// sentence about the daemon's exit, if it has exited.
    fn end_daemon(&mut self, daemon: Daemon, exit: Option<String>) {
        let mut warn = |sentence, hint| self.summary.warnings.push(Warning::new(WarningKind::Daemon, sentence, hint));
        match daemon.end() {
            Ok(usage) => {
                self.summary.daemons.push(usage);
                exit.into_iter().for_each(|sentence| warn(sentence, "Its figures are from the seconds before"));
            }
            Err(sentence) => warn(exit.unwrap_or(sentence), "Its cost is in no figure"),
        }
    }

    /// `Some` if the run must end before its planned end. The inner value is the reason, as a sentence for the summary;
    /// it is `None` if the user interrupted the run.
    fn reason_to_stop(&self, before_end: bool) -> Option<Option<String>> {
        if !before_end {
            return None;
        }
        if self.interrupt.is_requested() {
            return Some(None);
        }
        needed(self.spec).iter().find_map(|(kind, of_kind)| {
            let existed = self.failed_endpoints.keys().any(of_kind);
            let left = self.working.iter().any(of_kind);
            (existed && !left).then(|| Some(format!("the run ended early: no {kind} were left")))
        })
    }

    /// Waits until the subscriptions have taken the samples that are still on the way.
    pub(super) fn drain(&mut self) -> Result<(), Failure> {
        for daemon in std::mem::take(&mut self.daemons) {
            let exit = self.exit_of(&daemon);
            self.end_daemon(daemon, exit);
        }
        let Run { ledger, failed_endpoints, stopped_ns, fleet, spec, .. } = self;
        let is_relay = |endpoint: &Endpoint| matches!(endpoint, Endpoint::Relay(_));
        let relay_lost = spec.executor.is_none() && failed_endpoints.keys().any(is_relay);
        let expected = |endpoint: Endpoint| {
            let senders = ledger.senders_of(endpoint);
            if senders.is_empty() && (stopped_ns.is_some() || spec.is_private()) {
                // The endpoint expects no samples of this run. Publishers of other programs may go on forever, so this
                // run does not wait for them; on a private topic there are none.
                0
            } else if senders.is_empty() || relay_lost || senders.iter().any(|of| failed_endpoints.contains_key(of)) {
                UNKNOWN
            } else {
                ledger.sums.sent_by(senders).ever
            }
        };
        fleet.drain(expected);
        let give_up_ns = now_ns() + FINISH_NS;
        while self.working.iter().any(|endpoint| !is_publisher(endpoint)) {
            self.handle_events()?;
            if now_ns() > give_up_ns {
                self.give_up_on(|endpoint| !is_publisher(endpoint));
            }
        }
        self.wait_for_ended()?;
        self.show_rows(|_| true)?;
        let lost = self.subscriptions().map(|endpoint| self.lost_by(endpoint)).sum();
        if let Some(row) = self.ledger.last_row(self.start_ns, now_ns(), lost) {
            // This row may be much shorter than a second, so its counts cannot be compared with other rows.
            self.log(row)?;
        }
        Ok(())
    }

    /// Waits for the last report of each worker whose endpoints have all finished.
    fn wait_for_ended(&mut self) -> Result<(), Failure> {
        let give_up_ns = now_ns() + ENDED_NS;
        let owes = |run: &Self, worker: usize| {
            let endpoints = run.fleet.workers.get(worker).map(|worker| worker.endpoints.as_slice()).unwrap_or_default();
            endpoints.iter().all(|endpoint| run.endpoint_reports.contains_key(endpoint))
                && !run.ended.contains_key(&worker)
        };
        while (0..self.fleet.workers.len()).any(|worker| owes(self, worker)) && now_ns() < give_up_ns {
            self.handle_events()?;
        }
        Ok(())
    }

    fn give_up_on(&mut self, which: impl Fn(&Endpoint) -> bool) {
        let given_up: Vec<Endpoint> = self.working.iter().copied().filter(which).collect();
        self.summary.hung |= !given_up.is_empty();
        for endpoint in given_up {
            let name = self.name(endpoint);
            self.warn(WarningKind::Worker, [format!("{name} did not finish within {} s", FINISH_NS / SECOND_NS)]);
            self.on_endpoint_failed(endpoint, EndpointFailure::Unresponsive);
        }
    }

    fn on_endpoint_failed(&mut self, endpoint: Endpoint, failure: EndpointFailure) {
        if self.working.remove(&endpoint) {
            self.failed_endpoints.insert(endpoint, failure);
        }
        self.ledger.finish_endpoint(endpoint);
    }

    /// Shows the complete rows, then handles all events. The order matters: showing may block on a slow console, and
    /// reports that arrive meanwhile must be handled before their endpoints are judged late.
    fn handle_events(&mut self) -> Result<(), Failure> {
        let (now_ns, start_ns) = (now_ns(), self.start_ns);
        self.show_rows(|second| now_ns > start_ns + (second as i64 + 1) * SECOND_NS + ROW_OVERDUE_NS)?;
        let given_up = self.reports.sample(now_ns, self.fleet.workers.iter().map(|worker| worker.pid));
        self.warn_of_logs(given_up);
        let until_sample = self.reports.next_sample_ns().map(|next_ns| u64::try_from(next_ns - now_ns).unwrap_or(0));
        let mut next = self.fleet.next(until_sample.map_or(TICK, |ns| TICK.min(Duration::from_nanos(ns))));
        while let Some((worker, event)) = next {
            self.handle(worker, event);
            next = self.fleet.next(Duration::ZERO);
        }
        Ok(())
    }

    fn handle(&mut self, worker: usize, event: Event) {
        match event {
            Event::Report(Report::Started(resources)) => {
                self.ledger.accounts.begin(worker, resources, self.start_ns);
                self.check_start(worker, resources.usage.taken_ns);
            }
            Event::Report(Report::Row { endpoint, second, whole, counts, resources }) => {
                if let Some(growth) = self.growths.get_mut(&endpoint) {
                    growth.add(second, whole, &counts.received.latency_ns);
                }
                let given_up = self.reports.events(endpoint, &counts.events);
                self.warn_of_logs(given_up);
                self.ledger.enter(endpoint, &Entry { worker, second, whole, counts: *counts, resources });
            }
            Event::Report(Report::ProcessRow { second, whole, counts, gaps, resources }) => {
                let endpoints =
                    self.fleet.workers.get(worker).map(|worker| worker.endpoints.clone()).unwrap_or_default();
                let entry = Entry { worker, second, whole, counts: *counts, resources };
                self.ledger.enter_process(&endpoints, gaps, &entry);
            }
            Event::Report(Report::Total { endpoint, counts }) => {
                // The report covers the whole run instead of one second, so the growth of the latency is unknown for
                // this endpoint.
                self.growths.remove(&endpoint);
                // The rows of each second come from the process as a whole, so this report only changes the sums.
                self.ledger.sums.add(endpoint, self.spec.left_out_s().into(), &counts);
            }
            Event::Report(Report::Finished { endpoint, report, resources }) => {
                self.ledger.accounts.end(worker, resources);
                self.ledger.finish_endpoint(endpoint);
                self.working.remove(&endpoint);
                self.endpoint_reports.insert(endpoint, report);
            }
            Event::Report(Report::Ended { footprint, threads, device, instrument_bytes }) => {
                let footprint = Some(footprint);
                self.ended.insert(worker, WorkerEnd { footprint, threads, device, instrument_bytes });
            }
            Event::Report(Report::Warning(endpoint, sentence)) => {
                self.warn(WarningKind::Endpoint, [format!("{}: {sentence}", self.name(endpoint))]);
            }
            Event::Report(Report::Failed(Some(endpoint), sentence)) => {
                self.warn(WarningKind::Worker, [format!("{} failed: {sentence}", self.name(endpoint))]);
                self.on_endpoint_failed(endpoint, EndpointFailure::Unresponsive);
            }
            Event::Report(Report::Failed(None, sentence)) => self.warn(WarningKind::Worker, [sentence]),
            Event::Report(_) => {}
            event @ (Event::Invalid(..) | Event::Closed) => self.on_worker_exit(worker, &event),
        }
    }

    /// Handles the exit of a worker or a line from it that is no report. If an endpoint of the worker was still
    /// working, adds a warning with the cause. Only the first invalid line has this warning; a warning at the end of
    /// the run has the number of invalid lines.
    fn on_worker_exit(&mut self, worker: usize, event: &Event) {
        if let (Event::Invalid(number, _), Some(of)) = (event, self.fleet.workers.get_mut(worker)) {
            of.invalid_lines = *number;
            if *number > 1 {
                return;
            }
        }
        let endpoints = self.fleet.workers.get(worker).map(|worker| worker.endpoints.clone()).unwrap_or_default();
        if endpoints.iter().any(|endpoint| self.working.contains(endpoint)) {
            let exit_description = self.exit_description(worker, event);
            let after_s = (now_ns() - self.start_ns) as f64 / SECOND_NS as f64;
            self.warn(WarningKind::Worker, [format!("{exit_description} after {after_s:.1} s")]);
        }
        if matches!(event, Event::Closed) {
            endpoints.into_iter().for_each(|endpoint| self.on_endpoint_failed(endpoint, EndpointFailure::Exited));
        }
    }

    /// Records a worker that got the order to start after the start time.
    fn check_start(&mut self, worker: usize, started_ns: i64) {
        let late_ns = started_ns - self.start_ns;
        if late_ns > 0 {
            let label = self.fleet.workers.get(worker).map(|worker| worker.label.clone()).unwrap_or_default();
            self.late_starts.push((late_ns, label));
        }
    }

    /// Shows a row and writes it to the logs. A log that cannot be written causes a warning.
    fn log(&mut self, row: RowEntry) -> Result<(), Failure> {
        let row = if self.spec.roundtrip == Roundtrip::Relay { row.with_relayed_counts() } else { row };
        let given_up = self.reports.row(&row)?;
        self.warn_of_logs(given_up);
        Ok(())
    }

    /// Adds a warning for each log that can no longer be written.
    pub(super) fn warn_of_logs(&mut self, given_up: impl IntoIterator<Item = String>) {
        let warning = |sentence| Warning::new(WarningKind::Log, sentence, "Make room and run again");
        self.summary.warnings.extend(given_up.into_iter().map(warning));
    }

    fn show_rows(&mut self, overdue: impl Fn(u64) -> bool) -> Result<(), Failure> {
        while let Some(row) = self.ledger.next_row(&overdue) {
            self.log(row)?;
        }
        Ok(())
    }
}
