//! The clients. Hot clients call without a pause; slow clients take responses only every few milliseconds.

use crate::{
    arguments::{AnyResult, Arguments, CLIENTS_PER_PROCESS, SERVICE, SLOW_IN_FLIGHT, until_closed},
    counts::Counts,
};
use gantry::{Client, EngineError, Error, Node, Response};
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// The time-out of a call, longer than any server is stopped.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pauses, in ms, between two looks of a slow client for responses. The client uses them in turn.
const PAUSES_MS: [u64; 4] = [1, 5, 20, 50];
const REPORT_PERIOD: Duration = Duration::from_millis(100);

/// Runs the clients of this process and prints their counts, until the coordinator ends the process.
pub fn run(arguments: &Arguments) -> AnyResult<()> {
    let (counts, stop) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
    let end = until_closed();
    let last = arguments.clients.min(arguments.first + CLIENTS_PER_PROCESS);
    let threads: Vec<_> = (arguments.first..last)
        .map(|number| {
            let (counts, stop) = (counts.clone(), stop.clone());
            thread::spawn(move || -> AnyResult<()> {
                let client = Node::new(&format!("client_{number}_{}", std::process::id()))?.create_client(SERVICE)?;
                let mut caller = Caller { client, counts, number: number as i64, calls: 0 };
                if number % 2 == 0 { caller.call_hot(&stop) } else { caller.call_slowly(&stop) }
            })
        })
        .collect();
    while threads.iter().any(|thread| !thread.is_finished()) {
        thread::sleep(REPORT_PERIOD);
        stop.store(end.is_finished(), Relaxed);
        println!("{}", counts.take_line());
    }
    let ended = threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a client panicked")?);
    println!("{}", counts.take_line());
    ended
}

struct Caller {
    client: Client<AddTwoInts>,
    counts: Arc<Counts>,
    number: i64,
    calls: i64,
}

impl Caller {
    /// Makes the next request. Its sum differs from all other sums of all clients.
    fn request(&mut self) -> AddTwoInts_Request {
        self.calls += 1;
        AddTwoInts_Request { a: self.number << 40, b: self.calls }
    }

    /// Counts the outcome of a request. A right response has this sum.
    fn count(&self, sum: i64, outcome: gantry::Result<Response<AddTwoInts>>) {
        let count = match outcome {
            Ok(response) if response.sum == sum => &self.counts.answered,
            Ok(response) => {
                eprintln!("a request was answered by {} instead of {sum}", response.sum);
                &self.counts.failed
            }
            Err(Error::ServerGone { .. }) => &self.counts.server_gone,
            Err(error) => {
                eprintln!("client {}: {error}", self.number);
                &self.counts.failed
            }
        };
        count.fetch_add(1, Relaxed);
    }

    /// Waits until a server is matched.
    fn wait_for_service(&mut self, stop: &AtomicBool) -> AnyResult<()> {
        while !stop.load(Relaxed) && !self.client.wait_for_service(Duration::from_millis(100))? {}
        Ok(())
    }

    /// True if the request was not sent: there was no server, or a server took no requests for a long time. Only the
    /// second case is counted.
    fn was_not_sent(&self, error: &Error) -> bool {
        let is_held_up = matches!(error, Error::Engine(EngineError::PublishTimeout { .. }));
        self.counts.not_sent.fetch_add(is_held_up.into(), Relaxed);
        is_held_up || matches!(error, Error::NoServer { .. })
    }

    fn call_hot(&mut self, stop: &AtomicBool) -> AnyResult<()> {
        while !stop.load(Relaxed) {
            let request = self.request();
            match self.client.call_copy(&request, PATIENCE) {
                Err(error) if self.was_not_sent(&error) => self.wait_for_service(stop)?,
                outcome => self.count(request.a + request.b, outcome),
            }
        }
        Ok(())
    }

    fn call_slowly(&mut self, stop: &AtomicBool) -> AnyResult<()> {
        let mut sums = BTreeMap::new();
        for pause_ms in PAUSES_MS.into_iter().cycle() {
            while !stop.load(Relaxed) && (sums.len() as u64) < SLOW_IN_FLIGHT {
                let request = self.request();
                match self.client.send_request_copy(&request) {
                    Ok(id) => drop(sums.insert(id.sequence, request.a + request.b)),
                    Err(error) if self.was_not_sent(&error) => self.wait_for_service(stop)?,
                    Err(error) => return Err(error.into()),
                }
            }
            if sums.is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(pause_ms));
            if stop.load(Relaxed) && !self.client.wait(PATIENCE)? {
                return Err(format!("{} requests of a slow client did not end", sums.len()).into());
            }
            self.take_all(&mut sums);
        }
        Ok(())
    }

    fn take_all(&mut self, sums: &mut BTreeMap<u64, i64>) {
        while let Some(outcome) = self.client.take_response().transpose() {
            let sequence = match &outcome {
                Ok(response) => Some(response.id().sequence),
                Err(Error::ServerGone { sequence, .. } | Error::ResponseLost { sequence, .. }) => Some(*sequence),
                Err(_) => None,
            };
            let sum = sequence.and_then(|sequence| sums.remove(&sequence)).unwrap_or_default();
            self.count(sum, outcome);
        }
    }
}
