//! A test world: a client, an agent, a line between them, and simulated time.

use crate::agent::Agent;
use gantry_micro::{Client, ClientKey, Event, Instant, Memory, Node, Transport};
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    convert::Infallible,
};

pub const NODE: Node<'static> = Node { name: "motor", domain_id: 7, key: ClientKey([1, 2, 3, 4]), boot_nonce: None };

/// A step of simulated time.
const STEP_US: u64 = 1_000;

/// A line that carries whole messages and can lose some of them.
#[derive(Default)]
pub struct Line {
    there: RefCell<VecDeque<Vec<u8>>>,
    back: RefCell<VecDeque<Vec<u8>>>,
    /// The fraction of messages that are lost.
    pub loss: Cell<f64>,
    /// Whether the line accepts no messages.
    pub is_busy: Cell<bool>,
    random: RefCell<Option<fastrand::Rng>>,
}

impl Line {
    fn is_lost(&self) -> bool {
        let mut random = self.random.borrow_mut();
        random.get_or_insert_with(|| fastrand::Rng::with_seed(21)).f64() < self.loss.get()
    }
}

impl Transport for &Line {
    type Error = Infallible;

    fn send(&mut self, message: &[u8]) -> Result<bool, Infallible> {
        if self.is_busy.get() {
            return Ok(false);
        }
        if !self.is_lost() {
            self.there.borrow_mut().push_back(message.to_vec());
        }
        Ok(true)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        Ok(self.back.borrow_mut().pop_front().map(|message| {
            buffer[..message.len()].copy_from_slice(&message);
            message.len()
        }))
    }
}

/// A client that is connected to an agent by a line.
pub struct World<'a> {
    pub client: Client<'a, &'a Line>,
    pub agent: Agent,
    pub line: &'a Line,
    pub now_us: u64,
    /// The events, as text.
    pub events: Vec<String>,
    /// Whether no agent listens at the other end of the line.
    pub is_agent_away: bool,
}

impl<'a> World<'a> {
    pub fn new<const MTU: usize, const HISTORY: usize>(
        line: &'a Line,
        memory: &'a mut Memory<MTU, HISTORY>,
    ) -> World<'a> {
        World {
            client: Client::new(line, memory, NODE),
            agent: Agent::default(),
            line,
            now_us: 5_000_000,
            events: Vec::new(),
            is_agent_away: false,
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_us(self.now_us)
    }

    /// Advances the time by one step, and lets both ends work.
    pub fn step(&mut self) {
        self.now_us += STEP_US;
        let now = self.now();
        let events = &mut self.events;
        let Ok(()) = self.client.spin_once(now, |event: Event<'_>| events.push(format!("{event:?}")));
        for message in self.line.there.take() {
            if !self.is_agent_away {
                self.agent.receive(&message, now);
            }
        }
        while let Some(message) = self.agent.transmit(now).filter(|_| !self.is_agent_away) {
            if !self.line.is_lost() {
                self.line.back.borrow_mut().push_back(message);
            }
        }
    }

    /// Simulates steps until `condition` holds, for at most a minute.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let end_us = self.now_us + 60_000_000;
        while !condition(self) {
            assert!(self.now_us < end_us, "never: {what}; {:?}", self.events);
            self.step();
        }
    }

    /// Simulates steps for the time `ms`.
    pub fn run_ms(&mut self, ms: u64) {
        let end_us = self.now_us + ms * 1000;
        while self.now_us < end_us {
            self.step();
        }
    }

    pub fn has_event(&self, text: &str) -> bool {
        self.events.iter().any(|event| event.contains(text))
    }
}
