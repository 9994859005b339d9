//! Checks whether a middleware supports a run, by its declared capabilities.

use super::RunSpec;
use crate::{
    choice::Choice,
    spec::{
        capabilities::{Capabilities, DeliveryKind},
        matching::MatchingKind,
        qos::History,
        ways::{Roundtrip, Strategy, Wait},
    },
};

impl Capabilities {
    /// Checks whether the middleware supports all options of the run.
    ///
    /// # Errors
    /// The first option that the middleware does not support, its possible values and an alternative, in a sentence.
    pub fn check(&self, spec: &RunSpec) -> Result<(), String> {
        let name = &spec.communicator;
        self.check_path(name, spec)?;
        let (qos, wait) = (spec.qos, spec.wait);
        has(name, "--reliability", qos.reliability, &self.reliability)?;
        has(name, "--durability", qos.durability, &self.durability)?;
        has(name, "--history", qos.history, &self.history)?;
        if let Some(most) = self.history_depth_max.filter(|most| qos.history == History::KeepLast && qos.depth > *most)
        {
            let depth = qos.depth;
            return Err(format!("{name} keeps at most {most} samples: give --history-depth {most} instead of {depth}"));
        }
        if self.delivery == DeliveryKind::Push {
            check_push(name, spec)?;
        } else {
            has(name, "--wait", wait, &self.wait)?;
        }
        self.check_executor(name, spec)?;
        let publishers = spec.publishers.max(spec.expected_publishers);
        if !self.sources && publishers > 1 {
            return Err(format!(
                "{name} does not distinguish the publishers of a topic, and this run has {publishers}: give -p 1, or \
                 --expected-num-pubs 1 for a publisher of another program"
            ));
        }
        Ok(())
    }

    /// Checks whether the middleware has the requested executor, and whether it counts matched endpoints.
    fn check_executor(&self, name: &str, spec: &RunSpec) -> Result<(), String> {
        let Some(executor) = &spec.executor else { return Ok(()) };
        if self.executors.is_empty() {
            return Err(format!("{name} has no executors, in which the nodes of a topology run: give another -c"));
        }
        if !self.executors.contains(executor) {
            let others: Vec<String> = self.executors.iter().map(|other| format!("-x {other}")).collect();
            return Err(format!("{name} has no executor `{executor}`: give {}", others.join(" or ")));
        }
        if self.matching != MatchingKind::Count {
            let kind = self.matching.name();
            return Err(format!(
                "{name} does not count the endpoints that are matched (its matching is `{kind}`), and a topology waits \
                 until all of them are: give another -c"
            ));
        }
        Ok(())
    }

    /// Checks whether the middleware supports the options that select how a message travels (zero copy, raw bytes,
    /// round trips).
    fn check_path(&self, name: &str, spec: &RunSpec) -> Result<(), String> {
        if !spec.zero_copy && !self.copies {
            return Err(format!("{name} only loans messages and does not copy them in and out: add --zero-copy"));
        }
        if spec.zero_copy && self.zero_copy.is_empty() {
            return Err(format!(
                "{name} has no --zero-copy, because it copies messages in and out: leave out --zero-copy"
            ));
        }
        if spec.zero_copy && !self.zero_copy.contains(&spec.message.content) {
            let (message, content, loaned) = (&spec.message.name, spec.message.content, &self.zero_copy);
            return Err(format!(
                "{name} does not loan {message}, which is {content:?}; it loans {loaned:?}: leave out --zero-copy, or give \
                 another -m"
            ));
        }
        // With an executor the check is skipped: an executor without services refuses the first client or server
        // itself.
        if spec.roundtrip == Roundtrip::Service && !self.services && spec.executor.is_none() {
            let instead = match self.delivery {
                DeliveryKind::Pull => "give --roundtrip-mode Both, which goes over topics there and back",
                DeliveryKind::Push => "leave out --roundtrip-mode Service",
            };
            let place = if self.executors.is_empty() { "" } else { " outside of topologies" };
            return Err(format!("{name} has no services{place}: {instead}"));
        }
        if spec.raw && !self.raw {
            return Err(format!("{name} has no --raw, because its messages have types: leave out --raw"));
        }
        if spec.phases && !self.phases {
            return Err(format!(
                "{name} has no --phases, because it does not show a message's way: leave out --phases"
            ));
        }
        Ok(())
    }
}

/// Checks whether the middleware has the requested value of an option. `values` are the values that it has.
fn has<T: Choice>(name: &str, option: &str, asked: T, values: &[T]) -> Result<(), String> {
    if values.contains(&asked) {
        return Ok(());
    }
    let alternatives: Vec<String> = values.iter().map(|value| format!("{option} {}", value.name())).collect();
    Err(format!("{name} has no {option} {}: give {}", asked.name(), alternatives.join(" or ")))
}

/// Checks whether a middleware that delivers messages on its own threads can execute the run.
fn check_push(name: &str, spec: &RunSpec) -> Result<(), String> {
    let delivers = format!("{name} delivers messages on threads of its own");
    let wait = spec.wait.name();
    if spec.wait != Wait::Adaptive {
        Err(format!("{delivers}, so its subscriptions do not support --wait {wait}: leave out --wait {wait}"))
    } else if spec.strategy == Strategy::IntraThread {
        Err(format!("{delivers}, and -e INTRA_THREAD takes them on the publisher's thread: give -e INTER_THREAD"))
    } else if matches!(spec.roundtrip, Roundtrip::Relay | Roundtrip::Both) {
        let mode = spec.roundtrip.name();
        Err(format!("{delivers}, and a relay takes them on its own: leave out --roundtrip-mode {mode}"))
    } else if spec.check_memory {
        Err(format!(
            "{delivers}, and --check-memory counts the allocations of the thread that takes them: leave out \
             --check-memory"
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_spec::{Content, Durability, Reliability, tests::example};

    #[test]
    fn each_option_that_is_not_carried_out_is_refused_with_the_alternative() {
        type Change<T> = fn(&mut T);
        let cases: [(Change<Capabilities>, Change<RunSpec>, &str); 18] = [
            (|of| of.services = false, |run| run.roundtrip = Roundtrip::Service, "give --roundtrip-mode Both"),
            (|of| of.zero_copy.clear(), |run| run.zero_copy = true, "echo has no --zero-copy"),
            (|of| of.zero_copy = vec![Content::Text], |run| run.zero_copy = true, "which is Plain; it loans [Text]"),
            (|of| of.copies = false, |_| (), "add --zero-copy"),
            (|of| of.raw = false, |run| run.raw = true, "echo has no --raw"),
            (|of| of.phases = false, |run| run.phases = true, "echo has no --phases"),
            (
                |of| of.reliability = vec![Reliability::Reliable],
                |_| (),
                "echo has no --reliability BEST_EFFORT: give --reliability RELIABLE",
            ),
            (
                |of| of.durability = vec![Durability::Volatile],
                |run| run.qos.durability = Durability::TransientLocal,
                "give --durability VOLATILE",
            ),
            (|of| of.history = vec![History::KeepAll], |_| (), "echo has no --history KEEP_LAST"),
            (|of| of.history_depth_max = Some(15), |_| (), "give --history-depth 15 instead of 16"),
            (
                |of| of.wait = vec![Wait::Block, Wait::Adaptive],
                |run| run.wait = Wait::Spin,
                "echo has no --wait spin: give --wait block or --wait adaptive",
            ),
            (|of| of.delivery = DeliveryKind::Push, |run| run.wait = Wait::Block, "do not support --wait block"),
            (|of| of.delivery = DeliveryKind::Push, |run| run.strategy = Strategy::IntraThread, "give -e INTER_THREAD"),
            (|of| of.delivery = DeliveryKind::Push, |run| run.roundtrip = Roundtrip::Both, "--roundtrip-mode Both"),
            (|of| of.delivery = DeliveryKind::Push, |run| run.roundtrip = Roundtrip::Relay, "--roundtrip-mode Relay"),
            (|of| of.delivery = DeliveryKind::Push, |run| run.check_memory = true, "--check-memory"),
            (|of| of.sources = false, |run| run.publishers = 2, "this run has 2: give -p 1"),
            (|of| of.sources = false, |run| run.expected_publishers = 3, "this run has 3: give -p 1"),
        ];
        let all = Capabilities { phases: true, ..Capabilities::all() };
        for (limit, ask, words) in cases {
            let (mut run, mut capabilities) = (example(), all.clone());
            ask(&mut run);
            assert_eq!(all.check(&run), Ok(()), "{words}");
            limit(&mut capabilities);
            let sentence = capabilities.check(&run).unwrap_err();
            assert!(sentence.starts_with("echo ") && sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn an_executor_is_one_that_the_middleware_has_and_needs_matching_by_count() {
        let capabilities = Capabilities {
            executors: vec!["single".to_owned(), "multi".to_owned()],
            services: false,
            ..Capabilities::all()
        };
        let run = |executor: &str| RunSpec { executor: Some(executor.to_owned()), ..example() };
        assert_eq!((capabilities.check(&run("multi")), Capabilities::all().check(&example())), (Ok(()), Ok(())));
        // The capability `services` concerns only services outside of executors.
        assert_eq!(capabilities.check(&RunSpec { roundtrip: Roundtrip::Service, ..run("multi") }), Ok(()));
        let none = Capabilities::all().check(&run("single")).unwrap_err();
        assert!(none.starts_with("echo has no executors"), "{none}");
        let other = capabilities.check(&run("events")).unwrap_err();
        assert!(other.ends_with("no executor `events`: give -x single or -x multi"), "{other}");
        let unknown = Capabilities { matching: MatchingKind::Any, ..capabilities }.check(&run("single")).unwrap_err();
        assert!(unknown.contains("its matching is `any`"), "{unknown}");
    }

    #[test]
    fn push_delivery_serves_the_end_of_a_round_trip_that_is_no_relay() {
        let capabilities = Capabilities { delivery: DeliveryKind::Push, wait: Vec::new(), ..Capabilities::all() };
        for roundtrip in [Roundtrip::None, Roundtrip::Main, Roundtrip::Service] {
            assert_eq!(capabilities.check(&RunSpec { roundtrip, ..example() }), Ok(()));
        }
        // A depth has no effect with KEEP_ALL, so it is no reason to refuse the run.
        let mut run = example();
        run.qos.history = History::KeepAll;
        assert_eq!(Capabilities { history_depth_max: Some(1), ..Capabilities::all() }.check(&run), Ok(()));
    }
}
