//! The end of a run: makes the summary from the last reports, with losses and failed endpoints.

use std::collections::BTreeSet;

use super::{EndpointFailure, Run, WorkerEnd, chains, fleet::Worker, ledger::EndpointSums, needed};
use crate::{
    common::{
        units::format_ns,
        warning::{Warning, WarningKind},
    },
    log::{
        ChainEntry, NodeAndTopic, PublisherEntry, ServerEntry, Spread, SubscriptionEntry, Summary, TotalEntry,
        UsedEntry, WorkerEntry,
    },
    measure::overload::Growth,
};
use perf_worker::{
    clock::{SECOND_NS, now_ns},
    endpoint::Endpoint,
    measure::{cells::Cells, tally::Received, usage::Usage},
    run_spec::Wait,
    worker::own_cost,
};

impl Run<'_> {
    /// Makes the summary of the run after the workers have ended.
    pub(super) fn finish(mut self) -> Summary {
        let ended_ns = self.stopped_ns.unwrap_or_else(|| match self.spec.length_s() {
            None => now_ns(),
            Some(run_s) => self.start_ns + i64::from(run_s) * SECOND_NS,
        });
        let mismatches: BTreeSet<String> =
            self.endpoint_reports.values().flat_map(|report| report.mismatches.clone()).collect();
        let mismatch = |sentence| {
            Warning::new(WarningKind::Mismatch, sentence, "Give both sides the same type and compatible QoS")
        };
        self.summary.warnings.extend(mismatches.into_iter().map(mismatch));
        self.warn_of_late_starts();
        self.warn_of_missing_endpoints();
        let measured = self.ledger.accounts.measured();
        let subscriptions: Vec<SubscriptionEntry> = self.subscriptions().map(|of| self.subscription(of)).collect();
        let of_services = self.ledger.relays().filter(|_| self.spec.executor.is_some());
        let sent_at_least = self.all_sent_at_least();
        let measured_s = (seconds(ended_ns - self.start_ns) - f64::from(self.spec.left_out_s())).max(0.0);
        let publisher_seconds = measured_s * f64::from(self.spec.publishers);
        let lost = subscriptions.iter().map(|of| of.lost).sum();
        let overwritten = subscriptions.iter().map(SubscriptionEntry::overwritten).sum();
        let unexplained = u64::saturating_sub(lost, overwritten);
        let mut summary = Summary {
            stopped_early: self.stopped_ns.is_some(),
            measured_s,
            phases_ns: self.ledger.publishers().filter_map(|of| Some(self.plans.get(&of)?.phase_ns)).collect(),
            achieved_hz: if publisher_seconds > 0.0 { sent_at_least as f64 / publisher_seconds } else { 0.0 },
            total: self.total(lost),
            sent_at_least,
            lost,
            unexplained,
            before_matched: self.endpoint_reports.values().map(|report| report.before_matched).sum(),
            used: UsedEntry::from_usage(&measured.usage),
            instrument_used: UsedEntry::from_usage(&measured.instrument),
            core_percent: measured.core_percent,
            cpu_per_message_ns: self.cpu_per_message_ns(unexplained),
            cores: self.ledger.cores as u64,
            subscriptions,
            publishers: self.ledger.publishers().map(|endpoint| self.publisher(endpoint)).collect(),
            servers: of_services.map(|endpoint| self.server(endpoint)).collect(),
            chains: self.chains(),
            workers: self.workers(),
            coordinator_used: UsedEntry::from_usage(&Usage::of_this_process().unwrap_or_default()),
            own_cost: own_cost::measure(self.spec),
            exited: self.gone(),
            ..std::mem::take(&mut self.summary)
        };
        summary.failure = summary.find_failure(self.spec);
        summary
    }

    /// The counts and latencies of all endpoints. `lost` is the number of samples that all subscriptions together lost.
    fn total(&self, lost: u64) -> TotalEntry {
        let sums = &self.ledger.sums.total;
        // `lost` is computed from the number of sent samples. This is more exact than counting gaps in the ids: a
        // refused message leaves a gap but is not lost, and samples lost after the last received one leave no gap.
        let whole = self.spec.has_publishers() && self.failed_endpoints.is_empty();
        let missed = if whole { lost + sums.received.reordered } else { sums.received.missed };
        let received = Received { missed, ..sums.received };
        TotalEntry::new(sums, &received)
    }

    /// The CPU time of all workers and daemons per received message (per sent message if the run has no subscriptions),
    /// nanoseconds. The CPU time of perf_test's own threads does not count. Messages received after the end of the run
    /// count, with one exception: a reader that busy-waits after the run for samples that never come would add CPU
    /// time.
    fn cpu_per_message_ns(&self, unexplained: u64) -> Option<f64> {
        let daemons_ns: u64 = self.summary.daemons.iter().map(|daemon| daemon.cpu_ns).sum();
        let cost = self.ledger.message_cost(self.spec.wait != Wait::Spin || unexplained == 0);
        let messages = if self.spec.subscriptions == 0 { cost.sent } else { cost.received };
        (messages > 0).then(|| (cost.cpu_ns as f64 + daemons_ns as f64) / messages as f64)
    }

    fn workers(&mut self) -> Vec<WorkerEntry> {
        let entry = |(index, worker): (usize, &Worker)| {
            let resources = self.ledger.accounts.worker_resources(index);
            let WorkerEnd { footprint, threads, device, instrument_bytes } =
                self.ended.remove(&index).unwrap_or_default();
            WorkerEntry {
                label: worker.label.clone(),
                pid: worker.pid,
                used: UsedEntry::from_usage(&resources.usage),
                instrument_used: UsedEntry::from_usage(&resources.instrument),
                memory: resources.memory,
                footprint,
                device,
                instrument_bytes,
                threads,
            }
        };
        self.fleet.workers.iter().enumerate().map(entry).collect()
    }

    fn subscription(&self, endpoint: Endpoint) -> SubscriptionEntry {
        let EndpointSums { received, latencies, .. } = self.ledger.sums.endpoint_sums(endpoint);
        SubscriptionEntry {
            index: endpoint.index(),
            place: self.place(endpoint),
            sent: self.sent_at_least(self.ledger.senders_of(endpoint)),
            received: received.counts(),
            lost: self.lost_by(endpoint),
            latency: Spread::from_moments(&received.latency_ns),
            p50_ns: quantile_ns(received.latency_ns.n, &latencies, 0.5),
            p99_ns: quantile_ns(received.latency_ns.n, &latencies, 0.99),
            overload: self.growths.get(&endpoint).map(Growth::overload),
        }
    }

    fn publisher(&self, endpoint: Endpoint) -> PublisherEntry {
        let EndpointSums { sent, lateness, .. } = self.ledger.sums.endpoint_sums(endpoint);
        let interval_ns = self.endpoint_reports.get(&endpoint).map(|report| report.interval_ns).unwrap_or_default();
        PublisherEntry {
            index: endpoint.index(),
            place: self.place(endpoint),
            sent: sent.counts(),
            lateness: Spread::from_moments(&sent.lateness_ns),
            publish: Spread::from_moments(&sent.publish_ns),
            interval: Spread::from_moments(&interval_ns),
            p50_ns: quantile_ns(sent.lateness_ns.n, &lateness, 0.5),
            p99_ns: quantile_ns(sent.lateness_ns.n, &lateness, 0.99),
        }
    }

    /// All chains of the topology, including chains at whose end no message arrived.
    fn chains(&self) -> Vec<ChainEntry> {
        let mut chains = chains::merge(self.endpoint_reports.values().flat_map(|report| &report.chains));
        let subscriptions = self.plans.values().filter(|plan| matches!(plan.endpoint, Endpoint::Subscription(_)));
        for (plan, link) in subscriptions.flat_map(|plan| plan.chains.iter().map(move |link| (plan, link))) {
            chains.entry(link.chain.clone()).or_default().dropped += self.lost_by(plan.endpoint);
        }
        chains.into_iter().map(|(name, sums)| sums.entry(name)).collect()
    }

    fn server(&self, endpoint: Endpoint) -> ServerEntry {
        let sent = self.sent_at_least(self.ledger.senders_of(endpoint));
        ServerEntry { index: endpoint.index(), sent, relayed: self.ledger.sums.endpoint_sums(endpoint).relayed }
    }

    /// The node and the topic of an endpoint; `None` in a run without a topology.
    fn place(&self, endpoint: Endpoint) -> Option<NodeAndTopic> {
        let plan = self.plans.get(&endpoint).filter(|plan| !plan.node.is_empty())?;
        Some(NodeAndTopic { node: plan.node.clone(), topic: plan.given_topic().to_owned() })
    }

    /// The least number of samples that these publishers have sent in the measured seconds. The last samples of a
    /// killed publisher are in no report; a subscription that received them shows that they were sent.
    fn sent_at_least(&self, senders: &[Endpoint]) -> u64 {
        let sent = self.ledger.sums.sent_by(senders);
        let Some(first) = senders.first() else { return sent.counted };
        if !senders.iter().any(|sender| self.failed_endpoints.contains_key(sender)) {
            return sent.counted;
        }
        let receivers =
            self.ledger.receivers_of(*first).iter().filter(|endpoint| self.ledger.senders_of(**endpoint) == senders);
        let reports = receivers.filter_map(|endpoint| self.endpoint_reports.get(endpoint));
        let seen = reports.map(|report| report.last_seen).max().unwrap_or(0);
        sent.counted + seen.saturating_sub(sent.ids_ever)
    }

    /// The sum of `sent_at_least` over all publishers.
    fn all_sent_at_least(&self) -> u64 {
        let seen: BTreeSet<&[Endpoint]> =
            self.subscriptions().map(|endpoint| self.ledger.senders_of(endpoint)).collect();
        let received: BTreeSet<&Endpoint> = seen.iter().copied().flatten().collect();
        let unseen = self.ledger.publishers().filter(|publisher| !received.contains(publisher));
        let unseen = self.sent_at_least(&unseen.collect::<Vec<_>>());
        unseen + seen.iter().map(|senders| self.sent_at_least(senders)).sum::<u64>()
    }

    /// The number of samples that were sent after matching and that a subscription did not receive. If the number of
    /// sent samples is unknown (publishers of other programs) or the subscription exited, the gaps in the ids count
    /// instead.
    pub(super) fn lost_by(&self, subscription: Endpoint) -> u64 {
        let senders = self.ledger.senders_of(subscription);
        let received = self.ledger.sums.received_by(subscription);
        let has_exited = self.failed_endpoints.get(&subscription) == Some(&EndpointFailure::Exited);
        if !senders.is_empty() && !has_exited {
            self.sent_at_least(senders).saturating_sub(received.samples)
        } else {
            // Messages that the publishers refused leave gaps in the ids, too, but are not lost.
            received.lost().saturating_sub(self.ledger.sums.sent_by(senders).refused)
        }
    }

    pub(super) fn subscriptions(&self) -> impl Iterator<Item = Endpoint> + use<> {
        (0..self.spec.subscriptions).map(Endpoint::Subscription)
    }

    fn warn_of_late_starts(&mut self) {
        let Some((late_ns, label)) = self.late_starts.iter().max() else { return };
        let (late, of, all) = (format_ns(*late_ns as f64), self.late_starts.len(), self.fleet.workers.len());
        let sentence =
            format!("{of} of {all} workers started after the common start, at worst {label}: {late} after it");
        let hint = match self.spec.executor {
            Some(_) => "Their first seconds are not comparable: start fewer nodes, or use more cores",
            None => "Leave out the first seconds (--warmup), or start fewer endpoints",
        };
        self.summary.warnings.push(Warning::new(WarningKind::LateStart, sentence, hint));
    }

    fn warn_of_missing_endpoints(&mut self) {
        for endpoint in self.subscriptions() {
            if !self.ledger.senders_of(endpoint).is_empty()
                && self.failed_endpoints.get(&endpoint) == Some(&EndpointFailure::Unresponsive)
            {
                let lost = self.lost_by(endpoint);
                let name = self.name(endpoint);
                let sentence = format!("{name}: {lost} samples that it did not report count as lost");
                self.warn(WarningKind::Worker, [sentence]);
            }
        }
        let alone_since_ns = self.endpoint_reports.values().filter_map(|report| report.alone_since_ns).max();
        if let Some(alone_since_ns) = alone_since_ns.filter(|_| !self.spec.has_publishers()) {
            let since_s = seconds(alone_since_ns);
            self.warn(WarningKind::Alone, [format!("no publisher of the topic was left after {since_s:.1} s")]);
        }
    }

    /// The kind of endpoint (publishers or subscriptions) of which all have exited early; `None` if there is no such
    /// kind.
    fn gone(&self) -> Option<&'static str> {
        needed(self.spec).iter().find_map(|(kind, of_kind)| {
            let existed = self.endpoint_reports.keys().chain(self.failed_endpoints.keys()).any(of_kind);
            (existed && !self.endpoint_reports.keys().any(of_kind)).then_some(*kind)
        })
    }
}

fn quantile_ns(n: u64, cells: &Cells, quantile: f64) -> Option<u64> {
    (n > 0).then(|| cells.quantile_ns(quantile))
}

fn seconds(time_ns: i64) -> f64 {
    time_ns as f64 / SECOND_NS as f64
}
