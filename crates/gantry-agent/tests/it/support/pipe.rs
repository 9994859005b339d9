//! A pipe to the agent in this process. Its faults come from a seeded random generator.

use super::Wire;
use gantry_agent::{Agent, PeerAddress, Port, Transport};
use std::{
    io,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

/// The probability of each fault for each message in a pipe.
#[derive(Clone, Copy)]
pub struct Faults {
    pub loss: f64,
    pub duplication: f64,
    pub reordering: f64,
}

/// A pipe without faults.
pub const GOOD: Faults = Faults { loss: 0.0, duplication: 0.0, reordering: 0.0 };

/// One direction of a faulty pipe.
struct Direction {
    faults: Faults,
    random: fastrand::Rng,
    late: Option<Vec<u8>>,
}

impl Direction {
    fn new(faults: Faults, seed: u64) -> Self {
        Self { faults, random: fastrand::Rng::with_seed(seed), late: None }
    }

    fn pass(&mut self, message: &[u8], mut to: impl FnMut(&[u8])) {
        if self.random.f64() < self.faults.loss {
            return;
        }
        if self.late.is_none() && self.random.f64() < self.faults.reordering {
            self.late = Some(message.to_vec());
            return;
        }
        to(message);
        if self.random.f64() < self.faults.duplication {
            to(message);
        }
        if let Some(late) = self.late.take() {
            to(&late);
        }
    }
}

struct Back {
    direction: Mutex<Direction>,
    sender: mpsc::Sender<Vec<u8>>,
}

impl Transport for Back {
    fn send(&self, _peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        self.direction.lock().unwrap().pass(message, |message| drop(self.sender.send(message.to_vec())));
        Ok(())
    }

    fn max_message_bytes(&self) -> usize {
        4096
    }

    fn name(&self) -> &str {
        "pipe"
    }
}

struct Pipe {
    port: Port,
    there: Direction,
    back: mpsc::Receiver<Vec<u8>>,
}

impl Wire for Pipe {
    fn send(&mut self, message: &[u8]) {
        let port = &self.port;
        self.there.pass(message, |message| port.receive(PeerAddress::Number(1), message));
    }

    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        self.back.recv_timeout(timeout).ok()
    }
}

/// Makes a faulty pipe to the agent.
pub fn pipe(agent: &Agent, faults: Faults, seed: u64) -> impl Wire + use<> {
    let (sender, back) = mpsc::channel();
    let port = agent.attach(Arc::new(Back { direction: Mutex::new(Direction::new(faults, seed)), sender }));
    Pipe { port, there: Direction::new(faults, seed + 1), back }
}
