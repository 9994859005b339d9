//! The child processes of the benchmark: each runs this program in a role.

use super::{PATIENCE, Result, publisher, subscription};
use bench_support::Process;
use gantry_shm::{Participant, Publisher, Subscription};
use std::{
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// The number of topics of each process, so that 200 processes have 1000 topics.
const TOPICS_EACH: usize = 5;

/// A child process with a role.
pub struct Player(Process);

impl Player {
    /// Starts the process, which waits for [`Player::go`].
    pub fn start(role: &str, root: &Path, numbers: &[usize]) -> Result<Player> {
        let mut words = vec![role.to_owned(), root.to_string_lossy().into_owned()];
        words.extend(numbers.iter().map(usize::to_string));
        let mut process = Process::start(words)?;
        process.line()?;
        Ok(Player(process))
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Lets the process take its next step. In the first step, it joins the domain.
    pub fn go(&mut self) -> Result<()> {
        self.0.say("go")
    }

    /// Waits until the process has taken its step. Returns the time since the process started its first step.
    pub fn ready_ms(&mut self) -> Result<f64> {
        let line = self.0.line()?;
        line.parse().map_err(|_| format!("a child wrote {line:?} instead of a time").into())
    }

    /// Lets the process leave the domain and end.
    pub fn leave(&mut self) -> Result<()> {
        self.0.end()
    }
}

/// Plays a role in a child process.
pub fn play(words: &[String]) -> Result<()> {
    let [role, root, numbers @ ..] = words else { return Err(format!("there is no role {words:?}").into()) };
    let numbers = numbers.iter().map(|number| number.parse()).collect::<std::result::Result<Vec<usize>, _>>()?;
    let root: &Path = root.as_ref();
    say("here")?;
    let wait_for_input = || std::io::stdin().lines().next();
    wait_for_input();
    let start = Instant::now();
    let participant = Participant::join_under(root, 0)?;
    let took = || say(&format!("{}", start.elapsed().as_secs_f64() * 1e3));
    match (&**role, &*numbers) {
        // The role of one of many processes: publishes on some topics, and subscribes to the topics of the next
        // process.
        ("neighbour", [number]) => {
            let _endpoints = neighbour(&participant, number * TOPICS_EACH)?;
            took()?;
            wait_for_input();
        }
        // The role of one of many readers of a topic. The reader does not sleep: otherwise a publish would also have to
        // wake it, which would be measured too.
        ("reader", _) => {
            let mut subscription = subscription(&participant, "/popular")?;
            subscription.publisher_count()?;
            took()?;
            wait_for_input();
        }
        // The role of a process that joins and leaves the domain all the time.
        ("restless", _) => {
            took()?;
            drop(participant);
            let (asked_to_end, end_of_input) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                wait_for_input();
                asked_to_end.send(())
            });
            while end_of_input.recv_timeout(Duration::ZERO).is_err() {
                let participant = Participant::join_under(root, 0)?;
                let _publisher = publisher(&participant, "/fleeting")?;
                let _subscription = subscription(&participant, "/popular")?;
            }
        }
        ("crowd", &[first, publishers, subscriptions, topics, of_topic, to_topic]) => {
            let topic = |number| format!("/topic_{}", (first + number) % topics);
            let talker = |number| publisher(&participant, &topic(number));
            let listener = |number| subscription(&participant, &topic(number));
            let mut publishers = (0..publishers).map(talker).collect::<Result<Vec<_>>>()?;
            let mut subscriptions = (0..subscriptions).map(listener).collect::<Result<Vec<_>>>()?;
            for publisher in &mut publishers {
                publisher.wait_for_subscriptions(to_topic, PATIENCE)?;
            }
            for subscription in &mut subscriptions {
                while subscription.publisher_count()? < of_topic {
                    subscription.wait_for_change(PATIENCE)?;
                }
            }
            took()?;
            wait_for_input();
            drop((publishers, subscriptions, participant));
            took()?;
            wait_for_input();
        }
        _ => return Err(format!("there is no role {role} {numbers:?}").into()),
    }
    Ok(())
}

/// Creates a publisher of each topic from `first` on, and a subscription to the same topic of the next process.
fn neighbour(participant: &Arc<Participant>, first: usize) -> Result<Vec<(Publisher, Subscription)>> {
    let topics = first..first + TOPICS_EACH;
    let endpoints = topics.map(|topic| {
        let publisher = publisher(participant, &format!("/topic_{topic}"))?;
        Ok((publisher, subscription(participant, &format!("/topic_{}", topic + TOPICS_EACH))?))
    });
    endpoints.collect()
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
