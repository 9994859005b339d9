//! The checks of one run each: the table of their options and expectations.

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

/// The name of a check.
pub const DESCRIPTION: &str = "description";
/// A value and a name that no middleware declares.
const UNDECLARED: &str = "perf_test_undeclared";
/// A check of one run, or the reason why it is not done.
pub struct RunCheck {
    /// Its name.
    pub name: String,
    todo: Result<Todo, String>,
}

struct Todo {
    options: String,
    losses: Losses,
    /// A middleware that refuses the run before it starts does not declare it.
    may_refuse: bool,
}

impl RunCheck {
    fn new(name: impl Into<String>, options: String, losses: Losses) -> RunCheck {
        RunCheck { name: name.into(), todo: Ok(Todo { options, losses, may_refuse: false }) }
    }

    fn unless_refused(mut self) -> RunCheck {
        self.todo = self.todo.map(|todo| Todo { may_refuse: true, ..todo });
        self
    }

    fn not_declared(name: impl Into<String>, why: impl Into<String>) -> RunCheck {
        RunCheck { name: name.into(), todo: Err(why.into()) }
    }

    /// Does it.
    pub fn check(self, subject: &Subject<'_>) -> Check {
        let Todo { options, losses, may_refuse } = match self.todo {
            Ok(todo) => todo,
            Err(why) => return Check::not_declared(self.name, why),
        };
        let result = match subject.measure(&options) {
            Ok(measured) => judge(subject, &measured, losses),
            Err(Failure::Usage(sentence)) if may_refuse => return Check::not_declared(self.name, sentence),
            Err(failure) => Err(failure.to_string()),
        };
        Check::of(self.name, result, Some(subject.command(&options)))
    }
}

/// The description is complete and without contradictions.
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
    Check::of(DESCRIPTION, if faults.is_empty() { Ok(found) } else { Err(faults.join("; ")) }, None)
}

fn pushes(subject: &Subject<'_>) -> bool {
    subject.can().delivery == DeliveryKind::Push
}

/// A check that a run is refused.
pub type Refusal = Box<dyn Fn(&Subject<'_>) -> Check>;

/// Everything that is not declared is refused, before a message is sent.
pub fn refusals(subject: &Subject<'_>) -> Vec<Refusal> {
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
    let is_wanted = |what: &str| subject.wants(&refusal_name(what));
    options.retain(|options| is_wanted(options));
    let of_option = |options: String| -> Refusal { Box::new(move |subject| refused_option(subject, &options)) };
    let settings = subject.description.settings.iter().map(|setting| (setting.name.clone(), UNDECLARED.to_owned()));
    let settings = settings.chain([(UNDECLARED.to_owned(), "1".to_owned())]);
    let settings = settings.filter(|(name, value)| is_wanted(&format!("{name}={value}")));
    let of_setting = |(name, value): (String, String)| -> Refusal {
        Box::new(move |subject| refused_setting(subject, &name, &value))
    };
    options.into_iter().map(of_option).chain(settings.map(of_setting)).collect()
}

fn refusal_name(what: &str) -> String {
    format!("{what} is refused")
}

fn undeclared<T: Choice>(option: &str, declared: &[T]) -> Vec<String> {
    let others = T::ALL.iter().filter(|(value, ..)| !declared.contains(value));
    others.map(|(_, name, _)| format!("{option} {name}")).collect()
}

fn refused_option(subject: &Subject<'_>, option: &str) -> Check {
    let name = refusal_name(option);
    let Some(message) = subject.messages.first() else { return Check::not_declared(name, "there is no message") };
    let options = format!("{} -r 100 --max-runtime 1 {option}", message_options(message));
    let result = match subject.measure(&options) {
        Ok(_) => Err("it is not declared, and the run was done".to_owned()),
        Err(failure) => Ok(failure.to_string()),
    };
    Check::of(name, result, Some(subject.command(&options)))
}

/// A setting that the coordinator does not check here: the middleware itself must refuse it, or not confirm it.
fn refused_setting(subject: &Subject<'_>, setting: &str, value: &str) -> Check {
    let name = refusal_name(&format!("{setting}={value}"));
    let Some(message) = subject.messages.first() else { return Check::not_declared(name, "there is no message") };
    let result = subject.spec(&subject.delivery(message)).and_then(|mut spec| {
        spec.settings.insert(setting.to_owned(), value.to_owned());
        measure_quietly(&spec, subject.interrupt, None)
    });
    let result =
        match result {
            Ok(_) => Err("it is not declared, and a worker confirmed it: it must report the values that are in effect"
                .to_owned()),
            Err(failure) => Ok(failure.to_string()),
        };
    Check::of(name, result, None)
}

/// The runs whose messages must arrive.
pub fn runs(subject: &Subject<'_>) -> Vec<RunCheck> {
    let mut runs: Vec<RunCheck> = subject.messages.iter().map(|message| every_message(subject, message)).collect();
    let Some(first) = subject.messages.first() else { return runs };
    let delivery = subject.delivery(first);
    runs.extend(loans(subject));
    for Setting { name, values, .. } in &subject.description.settings {
        let is_fixed = subject.fixed_settings.contains(name);
        let others = values.iter().skip(1).filter(|_| !is_fixed);
        runs.extend(others.map(|value| {
            let setting = format!("{name}={value}");
            RunCheck::new(format!("setting {setting}"), format!("{delivery} --set {setting}"), Losses::None)
        }));
    }
    let publishers = if subject.can().sources { 2 } else { 1 };
    for strategy in ["INTER_PROCESS", "INTER_THREAD"] {
        let name = format!("{publishers} publishers and 2 subscriptions, {strategy}");
        let options = format!("{delivery} -p {publishers} -s 2 -e {strategy}");
        runs.push(RunCheck::new(name, options, Losses::None));
    }
    runs.extend(ways(subject, &delivery));
    runs.push(overload(subject, first));
    runs.push(match subject.can().delivery {
        DeliveryKind::Pull => {
            RunCheck::new("round trip", format!("{delivery} --roundtrip-mode Both"), Losses::None).unless_refused()
        }
        DeliveryKind::Push => RunCheck::not_declared("round trip", "its own threads deliver messages"),
    });
    runs.push(if subject.can().services {
        RunCheck::new("services", format!("{delivery} --roundtrip-mode Service"), Losses::None)
    } else {
        RunCheck::not_declared("services", "it has none")
    });
    runs
}

/// The other ways to wait, messages without a type, and the phases of a message's way.
fn ways(subject: &Subject<'_>, delivery: &str) -> Vec<RunCheck> {
    let can = subject.can();
    // All other runs wait in the default way, or in the first one that there is.
    let usual = if can.wait.contains(&Wait::default()) { Some(Wait::default()) } else { can.wait.first().copied() };
    let waits = can.wait.iter().filter(|wait| Some(**wait) != usual && !pushes(subject));
    let mut options: Vec<String> = waits.map(|wait| format!("wait {}", wait.name())).collect();
    options.extend(can.raw.then(|| "raw".to_owned()));
    options.extend(can.phases.then(|| "phases".to_owned()));
    let run = |option: String| {
        let line = format!("{delivery} --{option}");
        RunCheck::new(option, line, Losses::None)
    };
    options.into_iter().map(run).collect()
}

/// Every message arrives once, in order and intact.
fn every_message(subject: &Subject<'_>, message: &MessageChoice) -> RunCheck {
    let name = format!("every {}", message.name);
    if !subject.can().copies && !is_loaned(subject, message) {
        return RunCheck::not_declared(name, "it copies no messages, and does not loan these contents");
    }
    let run = RunCheck::new(name, subject.delivery(message), Losses::None);
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

/// Messages that are declared as loaned are not copied.
fn loans(subject: &Subject<'_>) -> Option<RunCheck> {
    if !subject.can().copies {
        // Every run is one with loans.
        return None;
    }
    let Some(message) = loaned(subject) else {
        let why =
            format!("it loans none of the messages, or they are shorter than {LOANED_BYTES} bytes and may be copied");
        return Some(RunCheck::not_declared("loans", why));
    };
    let options = format!("{} --zero-copy", subject.delivery(message));
    // Another setting than the default may be needed.
    Some(RunCheck::new(format!("loans of {}", message.name), options, Losses::None).unless_refused())
}

/// As many messages as possible and the shortest history: losses are counted, and no message is overwritten while it is
/// read.
fn overload(subject: &Subject<'_>, first: &MessageChoice) -> RunCheck {
    let can = subject.can();
    let is_declared = can.reliability.contains(&Reliability::BestEffort) && can.history.contains(&History::KeepLast);
    if !is_declared {
        return RunCheck::not_declared("overload", "it has no BEST_EFFORT with KEEP_LAST");
    }
    let is_supported = |message: &&MessageChoice| {
        !can.copies || subject.spec(&format!("{} --zero-copy", message_options(message))).is_ok()
    };
    let loaned = loaned(subject).filter(is_supported);
    let zero_copy = if loaned.is_some() && can.copies { " --zero-copy" } else { "" };
    let message = message_options(loaned.unwrap_or(first));
    let qos = "--reliability BEST_EFFORT --history KEEP_LAST --history-depth 1";
    RunCheck::new("overload", format!("{message} -r 0 --max-runtime 1 --touch full {qos}{zero_copy}"), Losses::Counted)
}
