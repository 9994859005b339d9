//! The checks that need one run each, with the options and the expected result of each run.

use super::{
    Check,
    faults::{LOANED_BYTES, Losses, judge},
    subject::{Subject, message_options},
};
use crate::{common::error::Failure, run::runner::measure_quietly};
use perf_worker::{
    backend::{DeliveryKind, Setting},
    choice::Choice,
    run_spec::{Durability, History, Reliability, Wait},
};
use perf_worker_gantry::messages::MessageChoice;

/// The name of the check [`description`].
pub const DESCRIPTION: &str = "description";
/// A word that no middleware declares, as the name and as the value of a setting.
const UNDECLARED: &str = "perf_test_undeclared";

/// A check that has not been done yet.
pub struct Todo {
    /// The name of the check.
    pub name: String,
    run: Run,
}

/// The run of a check, with the result that is expected of it.
enum Run {
    /// All messages of a run with these options must arrive, except for losses that the rule `losses` allows.
    Delivers {
        options: String,
        losses: Losses,
        /// Whether the middleware may refuse the run before it starts. The check of a refused run has the outcome "not
        /// declared".
        may_refuse: bool,
    },
    /// The middleware must refuse a run with this option.
    RefusesOption(String),
    /// The middleware must refuse a run with this setting and value, or not confirm the setting. The coordinator does
    /// not check the setting in this run.
    RefusesSetting(String, String),
    /// There is no run, because the middleware does not declare the capability. The sentence is the reason.
    NotDeclared(String),
}

impl Todo {
    fn new(name: impl Into<String>, options: String) -> Todo {
        Todo { name: name.into(), run: Run::Delivers { options, losses: Losses::None, may_refuse: false } }
    }

    fn unless_refused(mut self) -> Todo {
        if let Run::Delivers { may_refuse, .. } = &mut self.run {
            *may_refuse = true;
        }
        self
    }

    fn refuses(what: &str, run: Run) -> Todo {
        Todo { name: format!("{what} is refused"), run }
    }

    fn not_declared(name: impl Into<String>, why: impl Into<String>) -> Todo {
        Todo { name: name.into(), run: Run::NotDeclared(why.into()) }
    }

    /// Does the run and judges its result.
    pub fn check(self, subject: &Subject<'_>) -> Check {
        let (result, options) = match self.run {
            Run::NotDeclared(why) => return Check::not_declared(self.name, why),
            Run::Delivers { options, losses, may_refuse } => {
                let result = match subject.measure(&options) {
                    Ok(measured) => judge(subject, &measured, losses),
                    Err(Failure::Usage(sentence)) if may_refuse => return Check::not_declared(self.name, sentence),
                    Err(failure) => Err(failure.to_string()),
                };
                (result, Some(options))
            }
            Run::RefusesOption(option) => {
                let options = format!("{} -r 100 --max-runtime 1 {option}", message_options(subject.first()));
                (refusal(subject.measure(&options), "the run was done"), Some(options))
            }
            Run::RefusesSetting(setting, value) => {
                let measured = subject.spec(&subject.delivery(subject.first())).and_then(|mut spec| {
                    spec.settings.insert(setting, value);
                    measure_quietly(&spec, subject.interrupt, None)
                });
                (refusal(measured, "a worker confirmed it: it must report the values that are in effect"), None)
            }
        };
        Check::new(self.name, result, options.map(|options| subject.command(&options)))
    }
}

/// Returns the reason with which a run was refused. If the run was not refused, the error says so and ends with `done`,
/// a description of the fault.
fn refusal<T>(measured: Result<T, Failure>, done: &str) -> Result<String, String> {
    match measured {
        Ok(_) => Err(format!("it is not declared, and {done}")),
        Err(failure) => Ok(failure.to_string()),
    }
}

/// Checks that the description of the middleware is complete and without contradictions.
pub fn description(subject: &Subject<'_>) -> Check {
    let (description, can) = (&subject.description, subject.can());
    let mut faults = Vec::new();
    let mut require = |holds: bool, fault: &str| faults.extend((!holds).then(|| fault.to_owned()));
    require(!description.version.is_empty(), "it has no version");
    require(!can.reliability.is_empty(), "it declares no value of --reliability");
    require(!can.durability.is_empty(), "it declares no value of --durability");
    require(!can.history.is_empty(), "it declares no value of --history");
    require(pushes(subject) || !can.wait.is_empty(), "it declares no value of --wait");
    require(can.copies || !can.zero_copy.is_empty(), "it declares neither copies nor zero copy");
    require(can.history_depth_max != Some(0), "its largest history has no message");
    for Setting { name, values, best, meaning } in &description.settings {
        let is_word = |word: &String| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '=');
        let is_complete = is_word(name) && !values.is_empty() && values.iter().all(is_word) && !meaning.is_empty();
        require(is_complete, &format!("the setting `{name}` lacks a value or a meaning, or has a blank in a word"));
        let is_value = best.as_ref().is_none_or(|best| values.contains(best));
        require(is_value, &format!("the recommended value of the setting `{name}` is none of its values"));
        let same = description.settings.iter().filter(|other| other.name == *name).count();
        require(same == 1, &format!("the setting `{name}` is declared {same} times"));
    }
    let found = format!("version {}, {} settings", description.version, description.settings.len());
    Check::new(DESCRIPTION, if faults.is_empty() { Ok(found) } else { Err(faults.join("; ")) }, None)
}

fn pushes(subject: &Subject<'_>) -> bool {
    subject.can().delivery == DeliveryKind::Push
}

/// The checks that undeclared options and settings are refused before a message is sent, one for each.
fn refusals(subject: &Subject<'_>) -> impl Iterator<Item = Todo> {
    let can = subject.can();
    let mut options: Vec<String> = Vec::new();
    options.extend(undeclared::<Reliability>("--reliability", &can.reliability));
    options.extend(undeclared::<Durability>("--durability", &can.durability));
    options.extend(undeclared::<History>("--history", &can.history));
    let waits = if pushes(subject) { &[Wait::Adaptive] } else { &can.wait[..] };
    options.extend(undeclared::<Wait>("--wait", waits));
    options.extend(can.history_depth_max.map(|max| format!("--history-depth {}", max.saturating_add(1))));
    if can.zero_copy.is_empty() {
        options.push("--zero-copy".to_owned());
    }
    let undeclared = [(can.raw, "--raw"), (can.phases, "--phases"), (can.services, "--roundtrip-mode Service")];
    options.extend(undeclared.into_iter().filter(|(can, _)| !can).map(|(_, option)| option.to_owned()));
    let of_option = |option: String| Todo::refuses(&option, Run::RefusesOption(option.clone()));
    let names = subject.description.settings.iter().map(|setting| setting.name.clone());
    let settings = names.map(|name| (name, UNDECLARED.to_owned())).chain([(UNDECLARED.to_owned(), "1".to_owned())]);
    let of_setting = |(name, value)| Todo::refuses(&format!("{name}={value}"), Run::RefusesSetting(name, value));
    options.into_iter().map(of_option).chain(settings.map(of_setting))
}

fn undeclared<T: Choice>(option: &str, declared: &[T]) -> Vec<String> {
    let others = T::ALL.iter().filter(|(value, ..)| !declared.contains(value));
    others.map(|(_, name, _)| format!("{option} {name}")).collect()
}

/// All checks that need one run: first the runs that must be refused, then the runs whose messages must arrive.
pub fn checks(subject: &Subject<'_>) -> Vec<Todo> {
    let mut runs: Vec<Todo> = refusals(subject).collect();
    runs.extend(subject.messages.iter().map(|message| every_message(subject, message)));
    let delivery = subject.delivery(subject.first());
    runs.extend(loans(subject));
    for Setting { name, values, .. } in &subject.description.settings {
        let is_fixed = subject.fixed_settings.contains(name);
        let others = values.iter().skip(1).filter(|_| !is_fixed);
        runs.extend(others.map(|value| {
            let setting = format!("{name}={value}");
            Todo::new(format!("setting {setting}"), format!("{delivery} --set {setting}"))
        }));
    }
    let publishers = if subject.can().sources { 2 } else { 1 };
    for strategy in ["INTER_PROCESS", "INTER_THREAD"] {
        let name = format!("{publishers} publishers and 2 subscriptions, {strategy}");
        let options = format!("{delivery} -p {publishers} -s 2 -e {strategy}");
        runs.push(Todo::new(name, options));
    }
    runs.extend(ways(subject, &delivery));
    runs.push(overload(subject));
    runs.push(match subject.can().delivery {
        DeliveryKind::Pull => Todo::new("round trip", format!("{delivery} --roundtrip-mode Both")).unless_refused(),
        DeliveryKind::Push => Todo::not_declared("round trip", "its own threads deliver messages"),
    });
    runs.push(if subject.can().services {
        Todo::new("services", format!("{delivery} --roundtrip-mode Service"))
    } else {
        Todo::not_declared("services", "it has none")
    });
    runs
}

/// The checks of the wait strategies that other checks do not use, of untyped messages, and of the phases of a latency.
fn ways(subject: &Subject<'_>, delivery: &str) -> Vec<Todo> {
    let can = subject.can();
    // The other checks use the default wait strategy. If the middleware does not declare it, they use the first
    // declared one.
    let usual = if can.wait.contains(&Wait::default()) { Some(Wait::default()) } else { can.wait.first().copied() };
    let waits = can.wait.iter().filter(|wait| Some(**wait) != usual && !pushes(subject));
    let mut options: Vec<String> = waits.map(|wait| format!("wait {}", wait.name())).collect();
    options.extend(can.raw.then(|| "raw".to_owned()));
    options.extend(can.phases.then(|| "phases".to_owned()));
    options.into_iter().map(|option| Todo::new(&*option, format!("{delivery} --{option}"))).collect()
}

/// The check that every message of this type arrives once, in order and intact.
fn every_message(subject: &Subject<'_>, message: &MessageChoice) -> Todo {
    let name = format!("every {}", message.name);
    if !subject.can().copies && !is_loaned(subject, message) {
        return Todo::not_declared(name, "it copies no messages, and does not loan these contents");
    }
    let run = Todo::new(name, subject.delivery(message));
    if subject.messages_are_given { run } else { run.unless_refused() }
}

fn is_loaned(subject: &Subject<'_>, message: &MessageChoice) -> bool {
    subject.can().zero_copy.contains(&message.content)
}

/// The longest message that must be loaned.
fn loaned<'a>(subject: &'a Subject<'_>) -> Option<&'a MessageChoice> {
    let loaned = subject.messages.iter().filter(|message| is_loaned(subject, message));
    loaned.filter(|message| message.bytes >= LOANED_BYTES).max_by_key(|message| message.bytes)
}

/// The check that a message is not copied if the middleware declares it as loanable.
fn loans(subject: &Subject<'_>) -> Option<Todo> {
    if !subject.can().copies {
        // Without copies, every run uses loans, so every check already checks them.
        return None;
    }
    let Some(message) = loaned(subject) else {
        let why =
            format!("it loans none of the messages, or they are shorter than {LOANED_BYTES} bytes and may be copied");
        return Some(Todo::not_declared("loans", why));
    };
    let options = format!("{} --zero-copy", subject.delivery(message));
    // A middleware may have no loans with its default settings, so it may refuse this run.
    Some(Todo::new(format!("loans of {}", message.name), options).unless_refused())
}

/// A check at the highest rate with the shortest history: losses must be counted, and no message may be overwritten
/// while a subscription reads it.
fn overload(subject: &Subject<'_>) -> Todo {
    let can = subject.can();
    let is_declared = can.reliability.contains(&Reliability::BestEffort) && can.history.contains(&History::KeepLast);
    if !is_declared {
        return Todo::not_declared("overload", "it has no BEST_EFFORT with KEEP_LAST");
    }
    let is_supported = |message: &&MessageChoice| {
        !can.copies || subject.spec(&format!("{} --zero-copy", message_options(message))).is_ok()
    };
    let loaned = loaned(subject).filter(is_supported);
    let zero_copy = if loaned.is_some() && can.copies { " --zero-copy" } else { "" };
    let message = message_options(loaned.unwrap_or(subject.first()));
    let qos = "--reliability BEST_EFFORT --history KEEP_LAST --history-depth 1";
    let options = format!("{message} -r 0 --max-runtime 1 --touch full {qos}{zero_copy}");
    Todo { name: "overload".to_owned(), run: Run::Delivers { options, losses: Losses::Counted, may_refuse: false } }
}
