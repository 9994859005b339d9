//! A contestant of a comparison: a middleware with its settings. The user writes it as
//! `NAME[:best][:SETTING=VALUE]...[:raw][:zero-copy]`.

use crate::{
    backend::BUILT_IN,
    cli::{self, RunOptions},
    communicator::Communicator,
};
use perf_worker::{
    backend::{Capabilities, DeliveryKind, Description, Settings},
    choice::Choice,
    run_spec::{History, Reliability, RunSpec, Wait},
};

/// The word that stands for all installed middlewares.
pub const ALL: &str = "all";
/// Worker programs that `all` leaves out: the mock, and the example of a worker program in C.
const NO_MIDDLEWARES: [&str; 2] = ["mock", "example"];
/// The word for the recommended settings of the middleware.
pub const BEST: &str = "best";
const RAW: &str = "raw";
const ZERO_COPY: &str = "zero-copy";

/// A middleware with its settings.
#[derive(Clone)]
pub struct Contestant {
    /// The contestant as the user wrote it, with the middleware's name in lower case: `zenoh:best`.
    pub label: String,
    /// The name of the middleware in lower case: `zenoh`.
    middleware: String,
    /// Whether to use the recommended settings of the middleware, and zero copy if the middleware can loan the message.
    is_best: bool,
    communicator: Communicator,
    /// The middleware's description. If the middleware gives none, the reason as a sentence.
    description: Result<Description, String>,
    /// The settings that the user gave.
    settings: Settings,
    raw: bool,
    zero_copy: bool,
}

/// Parses a list of contestants, separated by commas. `all` stands for every installed middleware with its default
/// settings, and also with its best settings if they differ.
///
/// # Errors
/// The reason, as a sentence: a name or a setting is unknown, or the list has a contestant twice.
pub fn contestants(list: &str) -> Result<Vec<Contestant>, String> {
    let mut found: Vec<Contestant> = Vec::new();
    for spelling in list.split(',').map(str::trim).filter(|spelling| !spelling.is_empty()) {
        let new = if spelling.eq_ignore_ascii_case(ALL) { all() } else { vec![Contestant::parse(spelling)?] };
        for contestant in new {
            if found.iter().any(|other| other.label == contestant.label) {
                return Err(format!("-c {list} has the contestant {} twice: name it once", contestant.label));
            }
            found.push(contestant);
        }
    }
    if found.is_empty() {
        return Err(format!("-c `{list}` names no contestant: give names with commas between them, or {ALL}"));
    }
    Ok(found)
}

/// The contestants for which `all` stands.
fn all() -> Vec<Contestant> {
    let built_in = BUILT_IN.into_iter().map(|backend| backend.name().to_owned());
    let names = built_in.chain(Communicator::installed().into_keys());
    let names = names.filter(|name| !NO_MIDDLEWARES.contains(&name.to_lowercase().as_str()));
    let found = names.filter_map(|name| Contestant::parse(&name).ok());
    let forms = found.flat_map(|default| {
        let best = default.has_best().then(|| default.at_best());
        [Some(default), best]
    });
    forms.flatten().collect()
}

/// The name of a contestant's middleware: the text before the first colon.
#[must_use]
pub fn middleware_of(contestant: &str) -> &str {
    contestant.split(':').next().unwrap_or_default()
}

impl Contestant {
    fn parse(spelling: &str) -> Result<Contestant, String> {
        let (name, parts) = spelling.split_once(':').map_or((spelling, None), |(name, parts)| (name, Some(parts)));
        if name.eq_ignore_ascii_case(ALL) {
            return Err(format!(
                "{ALL} has each middleware at its default and at its {BEST}: give {ALL}, or names instead of {spelling}"
            ));
        }
        let communicator = Communicator::find(name)?;
        let description = communicator.describe();
        let middleware = communicator.name.to_lowercase();
        let own = communicator.setting.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own_part = own.iter().map(|(name, value)| format!(":{name}={value}"));
        let label = own_part.chain(parts.map(|parts| format!(":{parts}"))).fold(middleware.clone(), |a, b| a + &b);
        let mut contestant = Contestant {
            label,
            middleware,
            is_best: false,
            communicator,
            description,
            settings: own.into_iter().collect(),
            raw: false,
            zero_copy: false,
        };
        for part in parts.into_iter().flat_map(|parts| parts.split(':')) {
            contestant.add(spelling, part)?;
        }
        if let Ok(description) = &contestant.description {
            description.resolve(&contestant.communicator.name, &contestant.settings)?;
        }
        Ok(contestant)
    }

    /// Applies one part of a contestant's text, such as `best` or `publishing=async`. `spelling` is the whole text, for
    /// errors.
    fn add(&mut self, spelling: &str, part: &str) -> Result<(), String> {
        match (part, part.split_once('=')) {
            (BEST, _) => self.is_best = true,
            (RAW, _) => self.raw = true,
            (ZERO_COPY, _) => self.zero_copy = true,
            (_, Some((name, value))) => {
                let before = self.settings.insert(name.to_owned(), value.to_owned());
                if let Some(other) = before.filter(|other| other != value) {
                    return Err(format!(
                        "the contestant {spelling} asks for {name}={other} and {name}={value}: give one of them"
                    ));
                }
            }
            _ => {
                return Err(format!(
                    "`{part}` in the contestant {spelling} is not a part of a spelling: write \
                     NAME[:{BEST}][:SETTING=VALUE]…[:{RAW}][:{ZERO_COPY}]"
                ));
            }
        }
        Ok(())
    }

    /// The same contestant with the recommended settings of its middleware.
    #[must_use]
    pub fn at_best(&self) -> Contestant {
        Contestant { label: format!("{}:{BEST}", self.label), is_best: true, ..self.clone() }
    }

    /// Whether the best settings differ from the default settings, or the middleware can loan a message.
    fn has_best(&self) -> bool {
        self.description.as_ref().is_ok_and(|description| {
            let Capabilities { zero_copy, copies, .. } = &description.capabilities;
            !description.best().is_empty() || (*copies && !zero_copy.is_empty())
        })
    }

    /// The run of this contestant with the options `shared` by all contestants. If the middleware does not support the
    /// wait strategy, reliability, history or depth, the run has the nearest supported value. If the middleware refuses
    /// its best settings, the run has default settings instead. A note in the run mentions each replacement.
    ///
    /// # Errors
    /// The reason, as a sentence: the middleware refuses the run, or gives no description.
    pub fn spec(&self, shared: &RunOptions) -> Result<RunSpec, String> {
        let mut spec = self.resolve(shared, fit)?;
        let (asked, wait) = (asked_wait(shared).name(), wait_of(&spec));
        if spec.wait.name() != asked {
            spec.heading_notes.push(format!("cannot wait `{asked}` and has its nearest: {wait}"));
        }
        if cli::qos(&shared.qos, false).is_ok_and(|asked| asked != spec.qos) {
            spec.heading_notes.push(format!("lacks that QoS and has its nearest: {}", spec.qos));
        }
        Ok(spec)
    }

    /// The run of this contestant with exactly these options. An unsupported value is an error and is not replaced.
    ///
    /// # Errors
    /// The reason, as a sentence: the middleware refuses the run, or gives no description.
    pub fn exact_spec(&self, options: &RunOptions) -> Result<RunSpec, String> {
        self.resolve(options, |_, _| ())
    }

    /// The possible values of a setting; empty if the user or the best settings have already chosen its value.
    #[must_use]
    pub fn open_values(&self, setting: &str) -> Vec<String> {
        let Ok(description) = &self.description else { return Vec::new() };
        let is_decided =
            self.settings.contains_key(setting) || (self.is_best && description.best().contains_key(setting));
        let found = description.setting(setting).filter(|_| !is_decided);
        found.map(|setting| setting.values.iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    fn resolve(&self, shared: &RunOptions, fit: impl Fn(&mut RunOptions, &Capabilities)) -> Result<RunSpec, String> {
        let description = self.description.clone()?;
        let mut options = shared.clone();
        let is_mock = self.middleware == "mock";
        if !is_mock {
            options.endpoints.mock = None;
        }
        let can = options.endpoints.mock.clone().unwrap_or_default();
        let can = if is_mock { can.limit(description.capabilities.clone()) } else { description.capabilities.clone() };
        options.endpoints.set.extend(self.settings.clone());
        options.messages.raw |= self.raw;
        options.messages.zero_copy |= self.zero_copy || !can.copies;
        options.measuring.phases &= can.phases;
        fit(&mut options, &can);
        let spec = self.with_best(options, &description)?;
        if self.is_best && !spec.zero_copy && can.zero_copy.contains(&spec.message.content) {
            // The middleware can loan this message, but perhaps not with these settings. Then the run has no zero copy.
            return Ok(cli::with_zero_copy(&spec, true).unwrap_or(spec));
        }
        Ok(spec)
    }
}

impl Contestant {
    /// The run with the best settings. If the middleware refuses them, one of them is left out; if it also refuses each
    /// such combination, the run has the default settings. A note in the run mentions this.
    fn with_best(&self, options: RunOptions, description: &Description) -> Result<RunSpec, String> {
        let resolve = |settings: &Settings| {
            let mut options = options.clone();
            options.endpoints.set.extend(settings.clone());
            let resolved = cli::resolve_for(&self.communicator, description.clone(), &options);
            resolved.map(|resolved| resolved.spec)
        };
        let mut best = if self.is_best { description.best() } else { Settings::new() };
        best.retain(|name, _| !options.endpoints.set.iter().any(|(given, _)| given == name));
        let refused = match resolve(&best) {
            Ok(spec) => return Ok(spec),
            Err(failure) => failure.to_string(),
        };
        let without = |left_out: &[&String]| {
            let mut some = best.clone();
            some.retain(|name, _| !left_out.contains(&name));
            some
        };
        let one = best.keys().map(|name| vec![name]);
        let all = (!best.is_empty()).then(|| best.keys().collect::<Vec<_>>());
        for left_out in one.chain(all) {
            let Ok(mut spec) = resolve(&without(&left_out)) else { continue };
            let names = left_out.iter().map(|name| format!("{name}={}", best[*name])).collect::<Vec<_>>().join(", ");
            let note = format!("the default replaces the best setting {names}, which is refused here: {refused}");
            spec.heading_notes.push(note);
            return Ok(spec);
        }
        Err(refused)
    }
}

/// Replaces each value that the middleware does not support by the nearest supported one.
fn fit(options: &mut RunOptions, can: &Capabilities) {
    let wait = asked_wait(options);
    let nearest = match wait {
        Wait::Spin => [Wait::Spin, Wait::Adaptive, Wait::Block],
        Wait::Block => [Wait::Block, Wait::Adaptive, Wait::Spin],
        Wait::Adaptive => [Wait::Adaptive, Wait::Block, Wait::Spin],
    };
    let found = match can.delivery {
        DeliveryKind::Push => Wait::Adaptive,
        _ => nearest.into_iter().find(|wait| can.wait.contains(wait)).unwrap_or(wait),
    };
    if found != wait {
        options.legacy.no_waitset = false;
        options.measuring.wait = Some(found);
    }
    let asked = options.qos.history.unwrap_or(History::KeepLast);
    if let Some(other) = can.history.first().filter(|_| !can.history.contains(&asked)) {
        options.qos.keep_last = false;
        options.qos.history = Some(*other);
    }
    let reliable = options.qos.reliable.then_some(Reliability::Reliable);
    let asked = reliable.or(options.qos.reliability).unwrap_or_default();
    if let Some(other) = can.reliability.first().filter(|_| !can.reliability.contains(&asked)) {
        options.qos.reliable = false;
        options.qos.reliability = Some(*other);
    }
    if let Some(most) = can.history_depth_max {
        options.qos.history_depth = Some(options.qos.history_depth.unwrap_or(16).min(most));
    }
}

/// The wait strategy that the options ask for.
fn asked_wait(options: &RunOptions) -> Wait {
    options.measuring.wait.or(options.legacy.no_waitset.then_some(Wait::Spin)).unwrap_or_default()
}

/// The wait strategy of a run's subscriptions, for example `block` or `adaptive (push)`.
#[must_use]
pub fn wait_of(spec: &RunSpec) -> String {
    let push = if spec.capabilities.delivery == DeliveryKind::Push { " (push)" } else { "" };
    format!("{}{push}", spec.wait.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(options: &str) -> RunOptions {
        let line = format!("perf_test {options}");
        cli::parse(line.split_whitespace().map(Into::into)).unwrap().options
    }

    fn one(list: &str) -> Contestant {
        contestants(list).unwrap().remove(0)
    }

    #[test]
    fn a_spelling_has_settings_best_raw_and_zero_copy() {
        let spec = one("MOCK:colour=red:zero-copy:raw").spec(&shared("-m Array1k")).unwrap();
        assert_eq!((spec.communicator.as_str(), spec.settings["colour"].as_str()), ("Mock", "red"));
        assert!(spec.zero_copy && spec.raw);
        let labels: Vec<String> = contestants("Mock, gantry:best").unwrap().into_iter().map(|one| one.label).collect();
        assert_eq!(labels, ["mock", "gantry:best"]);
        assert!(one("Gantry:best").spec(&shared("-m Array4m")).unwrap().zero_copy);
        assert!(!one("Gantry").spec(&shared("-m Array4m")).unwrap().zero_copy);
    }

    #[test]
    fn where_the_best_is_refused_the_defaults_replace_it_with_a_note() {
        let mut best = one("Mock:best");
        for setting in best.description.iter_mut().flat_map(|description| &mut description.settings) {
            setting.best = Some("green".to_owned());
        }
        let spec = best.spec(&shared("-m Array1k")).unwrap();
        assert_eq!(spec.settings, one("Mock").spec(&shared("-m Array1k")).unwrap().settings);
        assert!(spec.heading_notes[0].contains("cannot be `green`"), "{:?}", spec.heading_notes);
        // The error is about the best settings if the middleware also refuses the default settings.
        let refused = best.spec(&shared("-m Arry1k")).unwrap_err();
        assert!(refused.contains("cannot be `green`"), "{refused}");
        // The middleware refuses only the first setting, so the second one keeps its best value.
        if let Ok(description) = &mut best.description {
            let mut other = description.settings[0].clone();
            (other.name, other.best) = ("shade".into(), Some("red".to_owned()));
            description.settings.push(other);
        }
        let spec = best.spec(&shared("-m Array1k")).unwrap();
        assert_eq!((spec.settings["colour"].as_str(), spec.settings["shade"].as_str()), ("blue", "red"));
        assert!(spec.heading_notes[0].starts_with("the default replaces the best setting colour=green,"), "{spec:?}");
    }

    #[test]
    fn a_wrong_spelling_is_an_error_with_the_right_one() {
        for (list, words) in [
            ("Nothing", "there is no communicator `Nothing`"),
            ("Mock:colour=green", "the setting colour of Mock cannot be `green`: it has blue, red"),
            ("Mock:size=1", "Mock has no setting `size`: it has colour"),
            ("Mock:fast", "write NAME[:best][:SETTING=VALUE]…[:raw][:zero-copy]"),
            ("Mock,mock", "the contestant mock twice"),
            ("all:best", "give all, or names instead of all:best"),
            (",", "names no contestant"),
        ] {
            let sentence = contestants(list).err().unwrap_or_default();
            assert!(sentence.contains(words), "{list}: {sentence}");
        }
    }

    #[test]
    fn all_leaves_out_what_is_no_middleware() {
        let found: Vec<String> = contestants("all").unwrap().into_iter().map(|one| one.label).collect();
        assert!(found.starts_with(&["gantry".to_owned(), "gantry:best".to_owned()]), "{found:?}");
        assert!(!found.iter().any(|label| label.starts_with("mock")), "{found:?}");
    }

    #[test]
    fn what_a_middleware_lacks_becomes_its_nearest() {
        let push = one("Mock").spec(&shared("-c Mock --mock push --wait block")).unwrap();
        assert_eq!(wait_of(&push), "adaptive (push)");
        assert_eq!(push.heading_notes, ["cannot wait `block` and has its nearest: adaptive (push)"]);
        // `--mock` has no effect on a middleware other than the mock.
        let pull = one("Gantry").spec(&shared("-c Mock --mock push --wait block")).unwrap();
        assert_eq!(wait_of(&pull), "block");
        let mut options = shared("--reliable --keep-last --history-depth 10 --wait spin");
        let can = Capabilities {
            wait: vec![Wait::Block, Wait::Adaptive],
            history: vec![History::KeepAll],
            reliability: vec![Reliability::BestEffort],
            history_depth_max: Some(4),
            ..Capabilities::all()
        };
        fit(&mut options, &can);
        let qos = (options.qos.reliability, options.qos.history, options.qos.history_depth);
        assert_eq!(options.measuring.wait, Some(Wait::Adaptive));
        assert_eq!(qos, (Some(Reliability::BestEffort), Some(History::KeepAll), Some(4)));
        assert!(!options.qos.reliable && !options.qos.keep_last);
    }
}
