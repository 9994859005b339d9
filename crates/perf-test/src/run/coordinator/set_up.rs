//! The set-up of a run: from started processes to the start of the measurement.
//!
//! Every error here ends the run, because nothing has been measured yet.

use std::collections::{BTreeMap, BTreeSet};

use super::{Run, TICK, fleet::Event, is_publisher};
use perf_worker::{
    backend::OtherClock,
    backend::Settings,
    clock::{SECOND_NS, now_ns},
    endpoint::{Endpoint, EndpointPlan, Source},
    run_spec::RunSpec,
    worker::protocol::{MatchStatus, Order, Report, times::READY_NS},
};

/// The fixed part of the time between the order `Go` and the start of the measurement. A part for each endpoint is
/// added, so that every endpoint gets the order before the start.
const LEAD_NS: i64 = SECOND_NS / 10;
/// The added time for each endpoint that has its own thread.
const LEAD_PER_ENDPOINT_NS: i64 = SECOND_NS / 500;
/// The added time for each endpoint in an executor. It is shorter, because these endpoints have no threads of their
/// own.
const LEAD_IN_EXECUTORS_NS: i64 = SECOND_NS / 2000;

impl Run<'_> {
    /// Waits until all endpoints exist and are matched. Then orders the workers to start.
    pub(super) fn set_up(&mut self) -> Result<(), String> {
        let mut not_ready: BTreeSet<Endpoint> = self.working.clone();
        let mut not_matched = not_ready.clone();
        let match_timeout_s = i64::from(self.spec.match_timeout_s);
        // The workers have their own timeout for matching, which begins when all endpoints exist.
        let give_up_ns = now_ns() + READY_NS + match_timeout_s * SECOND_NS;
        let (mut last_created_ns, mut last_matched_ns) = (0, 0);
        let (mut sources, mut clocks) = (BTreeMap::new(), BTreeMap::new());
        let mut not_opened: BTreeSet<usize> = (0..self.fleet.workers.len()).collect();
        while !(not_ready.is_empty() && not_matched.is_empty()) {
            if self.interrupt.is_requested() {
                return Err("interrupted before the start: nothing was measured".to_owned());
            }
            if let Some(sentence) = self.started.iter_mut().find_map(|daemon| daemon.exit("before the start")) {
                return Err(sentence);
            }
            if now_ns() > give_up_ns {
                let missing: Vec<String> = not_ready.union(&not_matched).map(|endpoint| self.name(*endpoint)).collect();
                let waited_s = READY_NS / SECOND_NS + match_timeout_s;
                self.summary.hung = true;
                return Err(format!("after {waited_s} s these were not ready: {}", missing.join(", ")));
            }
            match self.fleet.next(TICK) {
                None => {}
                Some((worker, Event::Report(Report::Opened { effective }))) => {
                    self.check_effective(&effective)?;
                    not_opened.remove(&worker);
                }
                Some((_, Event::Report(Report::Ready { endpoint, created_ns, source, clock }))) => {
                    not_ready.remove(&endpoint);
                    sources.extend(source.map(|source| (endpoint, source)));
                    clocks.insert(endpoint, clock);
                    last_created_ns = last_created_ns.max(created_ns);
                }
                Some((_, Event::Report(Report::Matched { endpoint, matched_ns }))) => {
                    not_matched.remove(&endpoint);
                    last_matched_ns = last_matched_ns.max(matched_ns);
                }
                Some((_, Event::Report(Report::Unmatched(status)))) => return Err(self.explain(&status)),
                Some((worker, Event::Report(Report::Failed(Some(endpoint), sentence)))) => {
                    let process = self.fleet.workers.get(worker).filter(|_| self.spec.executor.is_some());
                    // In a topology, `sentence` already mentions the endpoint, so the name of the process is added.
                    let name = process.map_or_else(|| endpoint.to_string(), |worker| worker.label.clone());
                    return Err(format!("{name} cannot begin: {sentence}"));
                }
                Some((_, Event::Report(Report::Failed(None, sentence)))) => return Err(sentence),
                Some((_, Event::Report(_))) => {}
                Some((worker, event @ (Event::Invalid(..) | Event::Closed))) => {
                    return Err(format!("{} before the start", self.exit_description(worker, &event)));
                }
            }
        }
        if !not_opened.is_empty() {
            return Err(format!(
                "{} does not say which settings are in effect: its workers must report `Opened`",
                self.spec.communicator
            ));
        }
        self.summary.matched_after_ns = (last_matched_ns - last_created_ns).max(0);
        self.summary.start_up_ns = Some((last_matched_ns - self.begun_ns).max(0));
        let of_each_ns = if self.spec.executor.is_some() { LEAD_IN_EXECUTORS_NS } else { LEAD_PER_ENDPOINT_NS };
        self.start_ns = now_ns() + LEAD_NS + self.plans.len() as i64 * of_each_ns;
        let sources = sources_of(self.spec, self.plans.values(), &sources, &clocks)?;
        self.summary.clock_error_ns = clock_error_ns(&clocks);
        self.fleet.order(&Order::Go { start_ns: self.start_ns, sources });
        let given_up = self.reports.started(self.start_ns, self.summary.matched_after_ns);
        self.warn_of_logs(given_up);
        Ok(())
    }

    /// Checks that all requested options and settings are in effect.
    fn check_effective(&self, effective: &Settings) -> Result<(), String> {
        let (options, settings) = (self.spec.options(), &self.spec.settings);
        let options = options.iter().map(|(name, asked)| (name, asked, format!("the option {name} {asked}")));
        let settings = settings.iter().map(|(name, asked)| (name, asked, format!("the setting {name}={asked}")));
        for (name, asked, sentence) in options.chain(settings) {
            let found = effective.get(name);
            if found != Some(asked) {
                let found = found.map_or("is not in effect".to_owned(), |value| format!("became {value}"));
                let middleware = &self.spec.communicator;
                return Err(format!("{sentence} of {middleware} {found}, so nothing was measured"));
            }
        }
        Ok(())
    }

    /// Asks all endpoints for the reasons why they are not matched. Returns a sentence with these reasons.
    fn explain(&mut self, unmatched: &MatchStatus) -> String {
        let (matched, expected) = (unmatched.matched, unmatched.expected);
        let option = if self.spec.executor.is_some() { "" } else { " (--wait-for-matched-timeout)" };
        let mut sentence = format!(
            "{} is matched with {matched} of {expected} {} after {} s{option}",
            self.name(unmatched.endpoint),
            others(unmatched.endpoint),
            self.spec.match_timeout_s
        );
        self.fleet.order(&Order::Explain);
        let give_up_ns = now_ns() + 2 * SECOND_NS;
        let mut unanswered: BTreeSet<Endpoint> = self.working.clone();
        while !unanswered.is_empty() && now_ns() < give_up_ns {
            if let Some((_, Event::Report(Report::Explained(status)))) = self.fleet.next(TICK) {
                unanswered.remove(&status.endpoint);
                if !status.matched.is_enough(status.expected) || !status.mismatches.is_empty() {
                    let why = if status.mismatches.is_empty() {
                        "no reason is known".to_owned()
                    } else {
                        status.mismatches.join("; ")
                    };
                    let (endpoint, matched) = (status.endpoint, status.matched);
                    let name = self.name(endpoint);
                    sentence.push_str(&format!(". {name} sees {matched} {}: {why}", others(endpoint)));
                }
            }
        }
        for endpoint in unanswered {
            sentence.push_str(&format!(". {} does not respond", self.name(endpoint)));
        }
        sentence
    }
}

/// The publishers whose messages a subscription can recognise by the source id in them. If there is only one publisher,
/// it is always among them.
fn sources_of<'a>(
    spec: &RunSpec,
    plans: impl Iterator<Item = &'a EndpointPlan>,
    ids: &BTreeMap<Endpoint, [u8; 16]>,
    clocks: &BTreeMap<Endpoint, Option<OtherClock>>,
) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for plan in plans.filter(|plan| is_publisher(&plan.endpoint)) {
        let clock = clocks.get(&plan.endpoint).copied().flatten();
        let id = ids.get(&plan.endpoint).copied();
        match if spec.publishers == 1 { Some(id.unwrap_or_default()) } else { id } {
            Some(source) if sources.iter().any(|other: &Source| other.source == source) => {
                return Err(format!(
                    "{plan} has the same source as another publisher, so {} cannot tell their messages apart",
                    spec.communicator
                ));
            }
            Some(source) => {
                let limits_ns = Some((plan.late_ns, plan.too_late_ns));
                sources.push(Source { source, phase_ns: plan.phase_ns, clock, limits_ns });
            }
            None if clock.is_some() => {
                return Err(format!(
                    "{plan} has a clock of its own, and {} does not report which messages this publisher sent, so the \
                     times in these messages cannot be converted: give -p 1",
                    spec.communicator
                ));
            }
            None => {}
        }
    }
    Ok(sources)
}

/// The largest error of a latency due to different clocks of publisher and subscription, nanoseconds; `None` if all
/// endpoints use one clock.
fn clock_error_ns(clocks: &BTreeMap<Endpoint, Option<OtherClock>>) -> Option<i64> {
    let of = |kind: fn(&Endpoint) -> bool| {
        let mut found: Vec<Option<OtherClock>> =
            clocks.iter().filter(|(endpoint, _)| kind(endpoint)).map(|(_, clock)| *clock).collect();
        if found.is_empty() {
            // There is no such endpoint in this run. Endpoints of other programs are assumed to use this host's clock.
            found.push(None);
        }
        found
    };
    let subscriptions = of(|endpoint| matches!(endpoint, Endpoint::Subscription(_)));
    let pairs = of(is_publisher).into_iter().flat_map(|one| subscriptions.iter().map(move |other| (one, *other)));
    pairs.filter(|(one, other)| one != other).map(|(one, other)| OtherClock::difference_error_ns(one, other)).max()
}

/// The kind of endpoints for which an endpoint waits.
fn others(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Publisher(_) => "subscriptions",
        Endpoint::Subscription(_) => "publishers",
        Endpoint::Relay(_) => "publishers or subscriptions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn clock(offset_ns: i64, error_ns: i64) -> Option<OtherClock> {
        Some(OtherClock { offset_ns, error_ns })
    }

    #[test]
    fn the_error_is_that_of_the_worst_pair_with_different_clocks() {
        let error_ns = |publishers: &[Option<OtherClock>], subscriptions: &[Option<OtherClock>]| {
            let publishers = publishers.iter().zip(0..).map(|(clock, index)| (Endpoint::Publisher(index), *clock));
            let others = subscriptions.iter().zip(0..).map(|(clock, index)| (Endpoint::Subscription(index), *clock));
            clock_error_ns(&publishers.chain(others).collect())
        };
        assert_eq!(error_ns(&[None, None], &[None]), None);
        assert_eq!(error_ns(&[clock(5, 2)], &[clock(5, 2)]), None);
        assert_eq!(error_ns(&[clock(5, 2), clock(7, 3)], &[None, clock(9, 4)]), Some(7));
        assert_eq!(error_ns(&[clock(5, 2)], &[clock(5, 2), None]), Some(2));
        // The publishers belong to another program, so this run has none.
        assert_eq!(error_ns(&[], &[clock(9, 4)]), Some(4));
    }

    #[test]
    fn a_single_publisher_needs_no_source_and_of_several_each_one_with_a_clock_does() {
        let spec = |publishers: &str| {
            let cli = cli::parse(["perf_test", "-p", publishers].map(Into::into)).unwrap();
            cli::resolve(&cli.options).unwrap().spec
        };
        let of = |spec: &RunSpec, ids: &[(Endpoint, [u8; 16])]| {
            let endpoint = |index| EndpointPlan::of_run(spec, Endpoint::Publisher(index), "/topic");
            let endpoints: Vec<EndpointPlan> = (0..spec.publishers).map(endpoint).collect();
            let clocks =
                [(Endpoint::Publisher(0), None), (Endpoint::Publisher(spec.publishers - 1), clock(5, 2))].into();
            sources_of(spec, endpoints.iter(), &ids.iter().copied().collect(), &clocks)
        };
        let limits_ns = Some((250_000, 1_000_000));
        let source = |id, clock| Source { source: [id; 16], phase_ns: 0, clock, limits_ns };
        assert_eq!(of(&spec("1"), &[]), Ok(vec![source(0, clock(5, 2))]));
        assert_eq!(of(&spec("2"), &[(Endpoint::Publisher(1), [7; 16])]), Ok(vec![source(7, clock(5, 2))]));
        let sentence = of(&spec("2"), &[(Endpoint::Publisher(0), [7; 16])]).unwrap_err();
        assert!(sentence.starts_with("publisher 1 has a clock of its own, and Gantry does not report"), "{sentence}");
    }
}
