//! The conformance of a back end (`perf_test check`). Short runs check that it moves messages as it declares.
//!
//! Every check is an ordinary run, which a user can repeat from its command line. The run's summary decides the
//! outcome. If the middleware does not declare a capability, the only check is that it refuses a run that needs the
//! capability.

mod checks;
mod faults;
mod programs;
mod subject;

use serde::Serialize;

use crate::{
    cli::ConformanceOptions,
    common::{error::Failure, interrupt::Interrupt},
};
use subject::Subject;

/// The result of all checks; serialises as the object of `--json`.
#[derive(Debug, Serialize)]
pub struct Conformance {
    /// The name of the middleware.
    pub middleware: String,
    /// The version of the middleware.
    pub version: String,
    /// The checks in their order.
    pub checks: Vec<Check>,
}

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// The outcome of the check.
    pub outcome: Outcome,
    /// The counts of a successful check, the faults of a failed one, or the reason why the check was not done.
    pub sentence: String,
    /// The command that repeats the run of the check; none if the check needs several commands.
    pub command: Option<String>,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The middleware behaves as it declares.
    Ok,
    /// The middleware does not behave as it declares.
    Failed,
    /// The middleware does not declare the capability, so the capability is not checked.
    NotDeclared,
}

impl Conformance {
    /// Does all checks of the middleware that `options` select. Calls `show` with each result as soon as it is known.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is no such middleware, message or setting; [`Failure::Measurement`] if the user
    /// interrupts.
    pub fn check(
        options: &ConformanceOptions,
        interrupt: &Interrupt,
        show: &mut dyn FnMut(&Check) -> Result<(), Failure>,
    ) -> Result<Conformance, Failure> {
        let subject = Subject::find(options, interrupt)?;
        let mut checks = Vec::new();
        let mut add = |check: Check| {
            if interrupt.is_requested() {
                let sentence = "interrupted: the remaining checks were not done";
                return Err(Failure::Measurement(sentence.to_owned()));
            }
            show(&check)?;
            checks.push(check);
            Ok(())
        };
        if subject.wants(checks::DESCRIPTION) {
            add(checks::description(&subject))?;
        }
        for todo in checks::checks(&subject).into_iter().filter(|todo| subject.wants(&todo.name)) {
            add(todo.check(&subject))?;
        }
        for check in programs::late_join(&subject) {
            add(check)?;
        }
        if subject.wants(programs::KILLED_PUBLISHER) {
            add(programs::killed_worker(&subject))?;
        }
        if let (true, Some(only)) = (checks.is_empty(), &options.only) {
            return Err(Failure::Usage(format!("no check has `{only}` in its name; without --only all are done")));
        }
        Ok(Conformance { middleware: subject.communicator.name, version: subject.description.version, checks })
    }

    /// The failure of the command, as a sentence; `None` if no check failed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failed = self.count(Outcome::Failed);
        let (middleware, all) = (&self.middleware, self.checks.len());
        (failed > 0).then(|| {
            format!("{failed} of {all} checks of {middleware} failed: believe no figure of it before they pass")
        })
    }

    /// The last line of the output, with the number of checks of each outcome.
    #[must_use]
    pub fn total(&self) -> String {
        let [ok, failed, not_declared] =
            [Outcome::Ok, Outcome::Failed, Outcome::NotDeclared].map(|kind| self.count(kind));
        let Conformance { middleware, version, .. } = self;
        format!("{middleware} {version}: {ok} ok, {failed} failed, {not_declared} not declared")
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }
}

impl Check {
    /// Creates the result of a check that was done. `result` has its counts or its faults.
    fn new(name: impl Into<String>, result: Result<String, String>, command: Option<String>) -> Check {
        let (outcome, sentence) = match result {
            Ok(counts) => (Outcome::Ok, counts),
            Err(faults) => (Outcome::Failed, faults),
        };
        Check { name: name.into(), outcome, sentence, command }
    }

    /// Creates the result of a check that was not done, with the reason.
    fn not_declared(name: impl Into<String>, why: impl Into<String>) -> Check {
        Check { name: name.into(), outcome: Outcome::NotDeclared, sentence: why.into(), command: None }
    }

    /// The check as lines of the console.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Check { name, sentence, .. } = self;
        let outcome = match self.outcome {
            Outcome::Ok => "ok",
            Outcome::Failed => "FAILED",
            Outcome::NotDeclared => "not declared",
        };
        let again = self.command.as_ref().filter(|_| self.outcome == Outcome::Failed);
        let again = again.map(|command| format!("{:<14}run it alone: {command}", ""));
        std::iter::once(format!("{outcome:<14}{name}: {sentence}")).chain(again).collect()
    }
}
