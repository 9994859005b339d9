//! The command line, and the loop of the live table.

use crate::{
    app::{App, Step},
    sampler::Sampler,
    terminal::{self, Input, Terminal},
};
use clap::Parser;
use gantry_command::{CommonOptions, Context, Result, say, spawn};
use gantry_shm::Inspector;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// The longest time from a signal until the program ends.
const SIGNAL_PERIOD: Duration = Duration::from_millis(100);

/// Shows the topics and the nodes of a domain: rates, bytes, lag, losses, memory. The program only reads shared memory,
/// so it does not slow publishers. Without a terminal, it prints one sample
#[derive(Debug, Parser)]
#[command(name = "gantry top", bin_name = "gantry top", version)]
pub struct Cli {
    #[command(flatten)]
    common: CommonOptions,
    /// Seconds between two samples, 0.1 to 60
    #[arg(long, short, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Print one sample, then exit
    #[arg(long)]
    once: bool,
    /// Show only topics and nodes whose names contain this text
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
    /// Show hidden topics and nodes, and the topics of services, too
    #[arg(long, short = 'a')]
    all: bool,
}

/// Returns a flag that SIGHUP, SIGINT and SIGTERM set, so that the program ends. If the program has not ended after a
/// second, for example because it is blocked on a terminal or a pipe, the signal thread ends the process.
fn end_at_signals() -> Result<Arc<AtomicBool>> {
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = is_over.clone();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context(|| "signals cannot be handled".to_owned())?;
    spawn("top-signals", move || {
        if signals.forever().next().is_some() {
            seen.store(true, Relaxed);
            thread::sleep(10 * SIGNAL_PERIOD);
            terminal::restore();
            std::process::exit(0);
        }
    })?;
    Ok(is_over)
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=60.0).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("'{text}' is not a number of seconds from 0.1 to 60"))?;
    Ok(Duration::from_secs_f64(seconds))
}

impl Cli {
    /// Shows or prints samples until the user ends the program.
    ///
    /// # Errors
    /// The domain cannot be read; the terminal or the output cannot be used.
    pub fn run(self) -> Result<()> {
        let domain_id = match self.common.domain_id {
            Some(domain_id) => domain_id,
            None => gantry::default_domain_id()?,
        };
        if domain_id > gantry::MAX_DOMAIN_ID {
            let most = gantry::MAX_DOMAIN_ID;
            return Err(format!("{domain_id} is not a domain: domains are 0 to {most}").into());
        }
        let is_over = end_at_signals()?;
        let sampler = Sampler::new(Inspector::new(domain_id), domain_id);
        match self.common.output().json || self.once || !terminal::is_there() {
            true => self.print(sampler, &is_over),
            false => self.show(sampler, &is_over),
        }
    }

    fn app(&self) -> App {
        App::new(self.filter.clone(), self.all)
    }

    /// Prints one sample as text, or a JSON sample in each interval.
    fn print(self, mut sampler: Sampler, is_over: &AtomicBool) -> Result<()> {
        let (output, mut app) = (self.common.output(), self.app());
        let mut due = Instant::now();
        sampler.look(due)?;
        let is_one = self.once || !output.json;
        while !is_over.load(Relaxed) {
            due += self.interval;
            while let Some(left) = due.checked_duration_since(Instant::now()).filter(|_| !is_over.load(Relaxed)) {
                thread::sleep(left.min(SIGNAL_PERIOD));
            }
            match sampler.look(Instant::now()) {
                Ok(sample) => {
                    app.update(sample);
                    output.print(&app.shown())?;
                }
                Err(error) if is_one => return Err(error),
                Err(error) => say(format_args!("no new sample: {error}")),
            }
            if is_one {
                break;
            }
        }
        Ok(())
    }

    /// Shows the live table in the terminal until the user ends it.
    fn show(self, mut sampler: Sampler, is_over: &AtomicBool) -> Result<()> {
        let mut app = self.app();
        app.update(sampler.look(Instant::now())?);
        let mut terminal = Terminal::open()?;
        let mut due = Instant::now() + self.interval.min(Duration::from_millis(300)); // the first rates appear early
        terminal.draw(&mut app)?;
        while !is_over.load(Relaxed) {
            let left = due.saturating_duration_since(Instant::now());
            let is_changed = match terminal.wait(left.min(SIGNAL_PERIOD))? {
                Input::None => false,
                Input::Drawn => true,
                Input::Key(key) if app.press(key) == Step::End => return Ok(()),
                Input::Key(_) => true,
                Input::Gone => return Ok(()),
            };
            let now = Instant::now();
            let is_due = now >= due;
            if is_due {
                due = now + self.interval;
                match sampler.look(now) {
                    Ok(sample) => app.update(sample),
                    Err(error) => app.fail(error.to_string()), // the next attempt may succeed
                }
            }
            if is_due || is_changed {
                terminal.draw(&mut app)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["0", "-1", "61", "NaN", "x"].iter().all(|text| seconds(text).is_err()));
    }
}
