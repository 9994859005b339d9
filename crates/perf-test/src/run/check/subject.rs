//! The middleware that is checked, with its settings and messages.

use crate::{
    cli::{self, ConformanceOptions},
    common::{error::Failure, interrupt::Interrupt},
    communicator::Communicator,
    log::Summary,
    run::runner::measure_quietly,
};
use perf_worker::{
    backend::{Capabilities, DeliveryKind, Description},
    choice::Choice,
    run_spec::{Durability, History, Layout, Reliability, RunSpec, Wait},
};
use perf_worker_gantry::messages::{self, MessageChoice};

/// The messages of the checks by default: a small one, which a middleware may treat specially, two large ones, and one
/// of unbounded size.
const MESSAGES: [&str; 4] = ["Array128", "Array64k", "Array1m", "UnboundedSequence"];
/// The payload size of messages of unbounded size, bytes.
const UNBOUNDED_BYTES: u32 = 100_000;
/// The size from which messages are sent at the lower rate, bytes.
const LARGE_BYTES: usize = 1_000_000;

/// A middleware to check.
pub struct Subject<'a> {
    /// The middleware.
    pub communicator: Communicator,
    /// The description of the middleware.
    pub description: Description,
    /// The messages to send; most checks send only the first one.
    pub messages: Vec<MessageChoice>,
    /// Whether the user selected the messages. The middleware must then support them.
    pub messages_are_given: bool,
    /// The names of the settings to which the user gave a value.
    pub fixed_settings: Vec<String>,
    /// A text that the name of a check must contain. Checks without the text are not done.
    only: String,
    /// The options that all runs have.
    options: String,
    /// The flag by which the user ends the checks early (Ctrl-C).
    pub interrupt: &'a Interrupt,
}

impl<'a> Subject<'a> {
    /// Whether the user selected the check of this name (`--only`).
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Finds the middleware that these options select.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is no such middleware, message or setting.
    pub fn find(options: &ConformanceOptions, interrupt: &'a Interrupt) -> Result<Subject<'a>, Failure> {
        let communicator = Communicator::find(&options.communicator).map_err(Failure::Usage)?;
        let mut description = communicator.describe().map_err(Failure::Usage)?;
        if let Some(script) = &options.mock {
            description.capabilities = script.limit(description.capabilities);
        }
        let named: Vec<&str> = options.msg.iter().map(String::as_str).collect();
        let names = if named.is_empty() { &MESSAGES[..] } else { &named[..] };
        let find = |name: &&str| messages::find(name, Layout::default(), UNBOUNDED_BYTES as usize);
        let messages: Result<Vec<MessageChoice>, String> = names.iter().map(find).collect();
        let mut words = vec![format!("-c {}", communicator.name)];
        words.extend(options.mock.iter().map(|script| format!("--mock {script}")));
        let own = communicator.setting.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fixed: Vec<(String, String)> = own.into_iter().chain(options.set.iter().cloned()).collect();
        words.extend(fixed.iter().map(|(name, value)| format!("--set {name}={value}")));
        words.extend(options.dds_domain_id.map(|id| format!("--dds-domain-id {id}")));
        if !description.capabilities.copies {
            words.push("--zero-copy".to_owned());
        }
        let subject = Subject {
            communicator,
            description,
            messages: messages.map_err(Failure::Usage)?,
            messages_are_given: !options.msg.is_empty(),
            fixed_settings: fixed.into_iter().map(|(name, _)| name).collect(),
            only: options.only.clone().unwrap_or_default(),
            options: words.join(" "),
            interrupt,
        };
        // Finds mistakes of the user, such as a setting that does not exist, before they count as faults of the
        // middleware.
        subject.spec(&subject.delivery(subject.first()))?;
        Ok(subject)
    }

    /// The message of most checks: the first one that the user gave, or the first one of [`MESSAGES`]. The list is
    /// never empty.
    pub fn first(&self) -> &MessageChoice {
        &self.messages[0]
    }

    /// The capabilities of the middleware.
    pub fn can(&self) -> &Capabilities {
        &self.description.capabilities
    }

    /// The options of a run of one second. Its history holds all messages of two publishers, so a reliable middleware
    /// loses no message.
    pub fn delivery(&self, message: &MessageChoice) -> String {
        let can = self.can();
        let rate_hz = if message.bytes >= LARGE_BYTES { 20 } else { 100 };
        let depth = match can.history.contains(&History::KeepLast) {
            true => format!(" --history-depth {}", self.depth(2 * rate_hz + 1)),
            false => String::new(),
        };
        let message = message_options(message);
        format!("{message} -r {rate_hz} --max-runtime 1 --touch full{depth}")
    }

    /// Whether the middleware declares reliable delivery.
    pub fn is_reliable(&self) -> bool {
        self.can().reliability.contains(&Reliability::Reliable)
    }

    /// The depth `wanted`, limited to the largest depth that the middleware supports.
    pub fn depth(&self, wanted: u32) -> u32 {
        self.can().history_depth_max.map_or(wanted, |max| wanted.min(max))
    }

    /// The command line of a run: the given options, and for each missing option a value that the middleware declares.
    pub fn command(&self, options: &str) -> String {
        let can = self.can();
        let wait =
            if can.delivery == DeliveryKind::Push { None } else { declared("--wait", Wait::Adaptive, &can.wait) };
        let others = [
            declared("--reliability", Reliability::Reliable, &can.reliability),
            declared("--durability", Durability::Volatile, &can.durability),
            declared("--history", History::KeepLast, &can.history),
            wait,
        ];
        let mut line = format!("perf_test {} {options}", self.options);
        for (option, value) in others.into_iter().flatten() {
            if !options.split_whitespace().any(|word| word == option) {
                line += &format!(" {option} {value}");
            }
        }
        line
    }

    /// The checked run that these options describe.
    ///
    /// # Errors
    /// [`Failure::Usage`]: the middleware or perf_test refuses the run.
    pub fn spec(&self, options: &str) -> Result<RunSpec, Failure> {
        let line = self.command(options);
        let cli =
            cli::parse(line.split_whitespace().map(Into::into)).map_err(|error| Failure::Usage(error.to_string()))?;
        cli::resolve(&cli.options).map(|resolved| resolved.spec)
    }

    /// Measures one run with these options.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the run is refused before any process starts; [`Failure::Measurement`] if the run fails.
    pub fn measure(&self, options: &str) -> Result<Measured, Failure> {
        let spec = self.spec(options)?;
        let summary = measure_quietly(&spec, self.interrupt, None)?;
        Ok((spec, summary))
    }
}

/// A run and its summary.
pub type Measured = (RunSpec, Summary);

/// An option with a value that the middleware declares: the preferred one if declared, else the first. `None` if the
/// middleware declares no value.
fn declared<T: Choice>(option: &'static str, preferred: T, values: &[T]) -> Option<(&'static str, &'static str)> {
    let value = values.iter().find(|value| **value == preferred).or(values.first())?;
    Some((option, value.name()))
}

/// The command-line options that select a message.
pub fn message_options(message: &MessageChoice) -> String {
    let size =
        if message.content.is_unbounded() { format!(" --unbounded-msg-size {UNBOUNDED_BYTES}") } else { String::new() };
    format!("-m {}{size}", message.name)
}
