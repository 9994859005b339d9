//! The checks that need two runs: a subscription that joins late, and a run that follows a killed publisher.

use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::{
    Check,
    faults::{Losses, judge},
    subject::{Measured, Subject, message_options},
};
use crate::{
    common::{error::Failure, interrupt::Interrupt, warning::WarningKind},
    log::Summary,
    run::runner::{measure_quietly, random_id},
};
use perf_worker::{
    backend::MatchingKind,
    choice::Choice,
    measure::tally::Sent,
    run_spec::{Durability, History, RunSpec},
};

/// A history depth that holds all messages of a publisher that runs for some seconds.
const DEPTH: u32 = 1000;
/// The depth of the history if the middleware refuses [`DEPTH`].
const SHORT_DEPTH: u32 = 16;
/// The name of the check [`killed_worker`].
pub const KILLED_PUBLISHER: &str = "killed publisher";
/// The name of the check [`matching`].
const MATCHING: &str = "matching";
/// The rate of the publisher in these checks, messages per second.
const RATE_HZ: u32 = 20;

/// Checks that a late subscription gets the history that the publisher's durability promises. Also checks the
/// publisher's count of messages that it sent while no subscription was matched.
pub fn late_join(subject: &Subject<'_>) -> Vec<Check> {
    let name = |durability: Durability| format!("late join, {}", durability.name());
    let all = Durability::ALL.iter().map(|(value, ..)| *value);
    if !all.clone().map(name).chain([MATCHING.to_owned()]).any(|name| subject.wants(&name)) {
        return Vec::new();
    }
    // The runs are sequential, because a machine may have only one daemon of the middleware.
    let join = |durability| {
        let is_declared = subject.can().durability.contains(&durability);
        (durability, is_declared.then(|| joined_late(subject, durability)))
    };
    let joined: Vec<(Durability, Option<Joined>)> = all.map(join).collect();
    let publisher = joined.iter().find_map(|(_, joined)| Some(joined.as_ref()?.as_ref().ok()?.0.1.total.sent));
    let matching = matching(subject, publisher);
    let check = |(durability, joined): (Durability, Option<Joined>)| {
        let name = name(durability);
        match joined {
            None => Check::not_declared(name, "it does not declare this durability"),
            // The middleware refused the options, for example because a setting excludes this durability.
            Some(Err(Failure::Usage(sentence))) => Check::not_declared(name, sentence),
            Some(joined) => {
                let judge = |(publisher, late): (Measured, Measured)| {
                    judge(subject, &publisher, Losses::None)?;
                    judge_late(subject, durability, &late)
                };
                Check::new(name, joined.map_err(|failure| failure.to_string()).and_then(judge), None)
            }
        }
    };
    joined.into_iter().map(check).chain([matching]).filter(|check| subject.wants(&check.name)).collect()
}

/// The results of two runs: the run of the publisher, and the run of the late subscription. The error is
/// [`Failure::Usage`] if the middleware refuses their options.
type Joined = Result<(Measured, Measured), Failure>;

/// Starts a publisher without subscriptions, and after a second a subscription. Returns the results of both runs.
fn joined_late(subject: &Subject<'_>, durability: Durability) -> Joined {
    let failed = Failure::Measurement;
    let message = message_options(subject.first());
    let topic = format!("conformance_{}", random_id()?);
    let reliability = if subject.is_reliable() { "RELIABLE" } else { "BEST_EFFORT" };
    let history = match subject.can().history.contains(&History::KeepLast) {
        true => format!("KEEP_LAST --history-depth {}", history_depth(subject, durability)),
        false => "KEEP_ALL".to_owned(),
    };
    let qos = format!("--reliability {reliability} --durability {} --history {history}", durability.name());
    let shared = format!("{message} -t {topic} -r {RATE_HZ} --touch full {qos}");
    let publisher = subject.spec(&format!("-s 0 {shared}"))?;
    let late = subject.spec(&format!("-p 0 --expected-num-pubs 1 --max-runtime 1 {shared}"))?;
    // The late subscription uses the daemons that the publisher's run has started, so its own run starts none.
    let late = RunSpec { daemon_commands: Vec::new(), ..late };
    let (stop, (rows, seconds)) = (Interrupt::of_program(), mpsc::channel());
    let joined = thread::scope(|scope| {
        let publishing = scope.spawn(|| measure_quietly(&publisher, &stop, Some(rows)));
        // `recv` returns after the publisher's first second, or when the publisher has failed.
        let joined = seconds.recv().ok().map(|_| measure_quietly(&late, subject.interrupt, None));
        stop.request();
        let published = publishing.join().map_err(|_| failed("the publisher's run panicked".to_owned()))?;
        let published = published.map_err(|failure| failed(format!("the publisher failed: {failure}")))?;
        let joined = joined.ok_or_else(|| failed("the publisher ended within its first second".to_owned()))?;
        let joined = joined.map_err(|failure| failed(format!("the late subscription failed: {failure}")))?;
        Ok((published, joined))
    });
    joined.map(|(published, joined)| ((publisher, published), (late, joined)))
}

/// The depth of the history for this durability. Some middlewares keep fewer messages for late subscriptions.
fn history_depth(subject: &Subject<'_>, durability: Durability) -> u32 {
    let message = message_options(subject.first());
    let depth = subject.depth(DEPTH);
    let options = format!("{message} --durability {} --history KEEP_LAST --history-depth {depth}", durability.name());
    if subject.spec(&options).is_ok() { depth } else { subject.depth(SHORT_DEPTH) }
}

fn judge_late(subject: &Subject<'_>, durability: Durability, late: &Measured) -> Result<String, String> {
    judge(subject, late, Losses::None)?;
    let (before, history) = (late.1.before_matched, late.1.total.received.history);
    let depth = match subject.can().history.contains(&History::KeepLast) {
        true => u64::from(history_depth(subject, durability)),
        false => u64::MAX,
    };
    match durability {
        Durability::TransientLocal if before > 0 && history < depth => Err(format!(
            "the first {before} messages are missing, although the history holds {depth} samples: the subscription got \
             {history} of the messages from before its creation"
        )),
        Durability::Volatile if before == 0 => Err(format!(
            "the subscription got {history} messages from the time before its creation, from the first message on"
        )),
        _ => Ok(format!("{before} messages not received from before, {history} received")),
    }
}

/// Checks that the publisher counts as unmatched in its first second, and as matched later.
fn matching(subject: &Subject<'_>, sent: Option<Sent>) -> Check {
    let name = MATCHING;
    if subject.can().matching == MatchingKind::Unknown {
        return Check::not_declared(name, "its endpoints do not report their matching");
    }
    let Some(sent) = sent else {
        return Check::new(name, Err("no publisher ran before its subscription".to_owned()), None);
    };
    let (unmatched, samples) = (sent.unmatched, sent.samples);
    let result = if unmatched == 0 {
        Err(format!("the publisher counts as matched before there is a subscription: all of its {samples} messages"))
    } else if unmatched == samples {
        Err(format!("the publisher never counts as matched: {samples} messages, and a subscription received some"))
    } else {
        Ok(format!("{unmatched} of {samples} messages were sent while no subscription was matched"))
    };
    Check::new(name, result, None)
}

/// Checks that a killed publisher leaves nothing behind that disturbs the next run.
pub fn killed_worker(subject: &Subject<'_>) -> Check {
    let options = subject.delivery(subject.first());
    let result = kill_publisher(subject, &options).and_then(|killed| {
        if let Some(left) = killed.warnings_of(WarningKind::LeftBehind).next() {
            return Err(left.sentence.clone());
        }
        let next = subject.measure(&options).map_err(|failure| format!("the next run failed: {failure}"))?;
        judge(subject, &next, Losses::None).map(|counts| format!("the next run is good: {counts}"))
    });
    Check::new(KILLED_PUBLISHER, result, None)
}

/// The summary of a run whose publisher is killed after its first second.
fn kill_publisher(subject: &Subject<'_>, options: &str) -> Result<Summary, String> {
    let spec = subject.spec(options).map_err(|failure| failure.to_string())?;
    // Without a maximum runtime, the run ends when its publisher ends.
    let spec = RunSpec { max_runtime_s: 0, ..spec };
    let (stop, (rows, seconds)) = (Interrupt::of_program(), mpsc::channel());
    thread::scope(|scope| {
        let run = scope.spawn(|| measure_quietly(&spec, &stop, Some(rows)));
        let killed = match seconds.recv() {
            Ok(_) => publisher_process().and_then(|pid| {
                kill_process(pid, Signal::KILL).map_err(|error| format!("cannot kill the publisher: {error}"))
            }),
            // The run failed before its first second was over, so there is no publisher to kill.
            Err(_) => Ok(()),
        };
        if killed.is_err() {
            stop.request();
        }
        let run = run.join().map_err(|_| "the run panicked".to_owned())?;
        killed?;
        run.map_err(|failure| failure.to_string())
    })
}

/// Finds the worker of the publisher: the child of this process whose last argument is the publisher's label. Only the
/// last argument is compared, because a worker program may be a script, whose interpreter comes first.
fn publisher_process() -> Result<Pid, String> {
    let own = getpid().as_raw_nonzero().get();
    let all = procfs::process::all_processes().map_err(|error| format!("cannot list the processes: {error}"))?;
    let is_publisher = |process: &procfs::process::Process| {
        let is_child = process.stat().is_ok_and(|stat| stat.ppid == own);
        is_child && process.cmdline().is_ok_and(|words| words.last().is_some_and(|label| label == "publisher 0"))
    };
    let found = all.flatten().find(is_publisher).and_then(|process| Pid::from_raw(process.pid));
    found.ok_or_else(|| "there is no worker of the publisher".to_owned())
}
