//! The watch of the machine: it reads the state of the machine before and after a run, and warns of changes.
//!
//! The watch never fails: an unreadable value causes no warning. It does nothing during the run.

use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use super::container::throttled;
use super::cpu_idle::{SleepState, states};
use super::frequency::{Policy, performance_command, policies};
use super::load::{CpuTimes, own_ms};
use super::root::Root;
use crate::common::units::format_ns;
use crate::common::warning::{Warning, WarningKind};
use perf_worker::clock::{SECOND_NS, now_ns};

/// There is a warning if the hypervisor steals more than this fraction of all CPU time.
const STEAL_WARN_FRACTION: f64 = 0.01;
/// There is a warning if other programs use more than this fraction of all CPU time.
const LOAD_WARN_FRACTION: f64 = 0.10;
/// There is a warning if CPUs spend more than this fraction of all CPU time in deep sleep.
const SLEEP_WARN_FRACTION: f64 = 0.01;
/// There is a warning if the frequency changes by more than this fraction.
const FREQUENCY_WARN_FRACTION: f64 = 0.10;
/// The wall clock counts as stepped if it moves by more than this time against the monotonic clock. NTP's gradual
/// corrections do not count, because they slow or speed up both clocks alike.
const STEP_NS: i64 = 1_000_000;
/// The number of times that both clocks are read. The pair with the shortest time between its two readings is used.
const CLOCK_READINGS: usize = 8;

/// The state of the machine before a run.
#[derive(Debug)]
pub struct Watch {
    root: Root,
    before: Reading,
}

/// The state of the machine at one time.
#[derive(Debug, Default)]
struct Reading {
    wall_offset_ns: i64,
    cpu_times: Option<CpuTimes>,
    own_ms: Option<u64>,
    policies: Vec<Policy>,
    states: Vec<SleepState>,
    throttled: Option<u64>,
}

impl Watch {
    /// Reads the state of the machine before a run.
    #[must_use]
    pub fn start(root: &Path) -> Watch {
        let root = Root::new(root);
        Watch { before: Reading::take(&root), root }
    }

    /// Reads the state again and returns the warnings. Call it when all workers have ended, or while all of them are
    /// still running: otherwise the CPU time of ended workers would count as load of other programs.
    #[must_use]
    pub fn end(self) -> Vec<Warning> {
        let after = Reading::take(&self.root);
        let checks = [governor, frequency, sleep, throttling, steal, other_load, clock_step];
        checks.into_iter().filter_map(|check| check(&self.before, &after)).collect()
    }
}

impl Reading {
    fn take(root: &Root) -> Reading {
        Reading {
            wall_offset_ns: wall_offset_ns(),
            cpu_times: CpuTimes::read(root),
            own_ms: own_ms(root),
            policies: policies(root),
            states: states(root),
            throttled: throttled(root),
        }
    }
}

/// The difference between wall clock and monotonic clock, ns.
fn wall_offset_ns() -> i64 {
    let pair = || {
        let before_ns = now_ns();
        let wall = clock_gettime(ClockId::Realtime);
        let after_ns = now_ns();
        (after_ns - before_ns, wall.tv_sec * SECOND_NS + wall.tv_nsec - i64::midpoint(before_ns, after_ns))
    };
    // An interruption between the two readings makes a pair inexact, so the pair with the shortest distance is used.
    (0..CLOCK_READINGS).map(|_| pair()).min().map_or(0, |(_, offset_ns)| offset_ns)
}

/// The CPU times between the two readings; `None` if they are unknown or zero.
fn cpu_times(before: &Reading, after: &Reading) -> Option<CpuTimes> {
    let times = after.cpu_times?.since(&before.cpu_times?);
    (times.total_ms() > 0).then_some(times)
}

fn governor(before: &Reading, after: &Reading) -> Option<Warning> {
    let hint = |policies: &[Policy]| format!("Before the next run: {}", performance_command(policies));
    if let Some(policy) = after.policies.iter().find(|policy| policy.is_lowered()) {
        let others = after.policies.iter().filter(|policy| policy.is_lowered()).count() - 1;
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        let governor = policy.governor.as_deref().unwrap_or_default();
        let sentence = format!(
            "the CPU frequency governor of {}{others} is {governor}, not performance: CPUs slow down between messages",
            policy.name
        );
        return Some(Warning::new(WarningKind::Governor, sentence, hint(&after.policies)));
    }
    let policy = before.policies.iter().find(|policy| policy.is_lowered())?;
    let sentence = format!(
        "the CPU frequency governor of {} was {} at the start of the run and changed during it: the first part of the run is slower",
        policy.name,
        policy.governor.as_deref().unwrap_or_default()
    );
    Some(Warning::new(WarningKind::Governor, sentence, "Run again without changing governors during the run"))
}

fn frequency(before: &Reading, after: &Reading) -> Option<Warning> {
    let hint = "Check whether the CPUs overheat, set the governor to performance and turn off turbo; \
                `perf_test system` prints the commands";
    let warning = |sentence| Some(Warning::new(WarningKind::Frequency, sentence, hint));
    let capped = after.policies.iter().find_map(|policy| {
        let earlier = before.policies.iter().find(|earlier| earlier.name == policy.name)?;
        let (from_khz, to_khz) = (earlier.max_khz?, policy.max_khz?);
        (to_khz < from_khz).then_some((&policy.name, from_khz / 1000, to_khz / 1000))
    });
    if let Some((name, from_mhz, to_mhz)) = capped {
        return warning(format!(
            "the CPU frequency of {name} was limited to {to_mhz} MHz during the run, from {from_mhz} MHz"
        ));
    }
    // The frequency of a sleeping CPU is meaningless. The CPU that reads the files is awake, so the highest frequency
    // is valid.
    let fastest = |reading: &Reading| reading.policies.iter().filter_map(|policy| policy.current_khz).max();
    let (from_khz, to_khz) = (fastest(before)?, fastest(after)?);
    let change = to_khz.abs_diff(from_khz) as f64 / from_khz.max(1) as f64;
    if change <= FREQUENCY_WARN_FRACTION {
        return None;
    }
    warning(format!(
        "the fastest CPU ran at {} MHz before the run and at {} MHz after it",
        from_khz / 1000,
        to_khz / 1000
    ))
}

fn sleep(before: &Reading, after: &Reading) -> Option<Warning> {
    let all_us = cpu_times(before, after)?.total_ms() as f64 * 1000.0;
    let (mut slept_us, mut deepest): (u64, Option<&SleepState>) = (0, None);
    for state in after.states.iter().filter(|state| state.is_deep()) {
        let earlier = before.states.iter().find(|earlier| earlier.folder == state.folder);
        let Some((then_us, now_us)) = earlier.and_then(|earlier| earlier.time_us).zip(state.time_us) else { continue };
        let time_us = now_us.saturating_sub(then_us);
        slept_us = slept_us.saturating_add(time_us);
        if time_us > 0 && deepest.is_none_or(|deepest| deepest.latency_us < state.latency_us) {
            deepest = Some(state);
        }
    }
    let part = slept_us as f64 / all_us;
    let deepest = deepest.filter(|_| part > SLEEP_WARN_FRACTION)?;
    Some(Warning::new(
        WarningKind::CpuIdle,
        format!(
            "the CPUs were in deep sleep for {:.0} % of the run, down to {}, from which a wake-up takes up to {} µs",
            part.min(1.0) * 100.0,
            deepest.label(),
            deepest.latency_us.unwrap_or_default()
        ),
        "Run with --prevent-cpu-idle to measure without deep sleep",
    ))
}

fn throttling(before: &Reading, after: &Reading) -> Option<Warning> {
    let times = after.throttled?.saturating_sub(before.throttled?);
    Warning::when(
        times > 0,
        WarningKind::Throttled,
        format!("control groups were stopped {times} times because their CPU quota was exhausted"),
        "Remove the CPU limit of this container or service; `perf_test system` prints the command",
    )
}

fn steal(before: &Reading, after: &Reading) -> Option<Warning> {
    let part = cpu_times(before, after)?.stolen_part().filter(|part| *part > STEAL_WARN_FRACTION)?;
    Some(Warning::new(
        WarningKind::Steal,
        format!("the hypervisor gave {:.1} % of the CPU time to other machines", part * 100.0),
        "Measure on dedicated CPUs, or compare only alternating runs",
    ))
}

fn other_load(before: &Reading, after: &Reading) -> Option<Warning> {
    let times = cpu_times(before, after)?;
    let own_ms = after.own_ms?.saturating_sub(before.own_ms?);
    let part = times.busy_ms().saturating_sub(own_ms) as f64 / times.total_ms() as f64;
    Warning::when(
        part > LOAD_WARN_FRACTION,
        WarningKind::Load,
        format!("other programs used {:.0} % of the CPU time during the run", part * 100.0),
        "Stop the programs that `ps -eo pcpu,pid,comm --sort=-pcpu | head` lists, or give the run other CPUs with \
         `taskset -c`",
    )
}

fn clock_step(before: &Reading, after: &Reading) -> Option<Warning> {
    let step_ns = after.wall_offset_ns.saturating_sub(before.wall_offset_ns);
    let direction = if step_ns > 0 { "forward" } else { "back" };
    Warning::when(
        step_ns.saturating_abs() > STEP_NS,
        WarningKind::ClockStepped,
        format!("the wall clock was set {direction} by {}, or the machine slept", format_ns(step_ns.abs() as f64)),
        "Latencies use the monotonic clock and stay correct unless the machine slept; dates in logs, and \
         middlewares that stamp with the wall clock, do not: let time synchronisation settle first",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_wall_clock_is_a_warning_and_noise_of_reading_it_is_not() {
        let at = |wall_offset_ns| Reading { wall_offset_ns, ..Reading::default() };
        let begin_ns = 1_700_000_000 * SECOND_NS;
        assert_eq!(clock_step(&at(begin_ns), &at(begin_ns + STEP_NS)), None);
        assert_eq!(clock_step(&at(begin_ns), &at(begin_ns - STEP_NS)), None);
        let forward = clock_step(&at(begin_ns), &at(begin_ns + 2 * SECOND_NS)).unwrap();
        assert_eq!((forward.kind.as_str(), forward.sentence.contains("forward by 2.00 s")), ("clock-stepped", true));
        let back = clock_step(&at(begin_ns), &at(begin_ns - 5_000_000)).unwrap();
        assert!(back.sentence.contains("back by 5.00 ms"), "{back}");
        let machine = tempfile::tempdir().unwrap();
        let before = Reading { wall_offset_ns: wall_offset_ns() - 10 * SECOND_NS, ..Reading::default() };
        let warnings = Watch { root: Root::new(machine.path()), before }.end();
        assert_eq!(
            warnings.iter().map(|warning| warning.kind.clone()).collect::<Vec<_>>(),
            ["clock-stepped"],
            "{warnings:#?}"
        );
    }
}
