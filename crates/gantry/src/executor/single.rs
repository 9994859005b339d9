//! One thread that goes round: each callback that has something runs once, in the order of registration, then the next round.

use super::{Executor, ready_queue::Turn, steps::Steps};
use crate::callback::Ran;
use std::collections::VecDeque;

/// Runs callbacks one after the other on the thread that spins it, in rounds: in each, every callback for which there is something
/// runs once, in the order in which nodes and callbacks were added. So no topic starves another.
///
/// # Real-time
/// Not for real-time threads: it locks each callback, and may allocate. A real-time loop takes and publishes itself.
#[derive(Default)]
pub struct SingleThreadedExecutor {
    round: Round,
}

/// A turn, and who is still to run in its round.
pub(super) struct Round {
    pub(super) turn: Turn,
    places: VecDeque<usize>,
    /// Whose callback runs, or panicked.
    current: Option<usize>,
}

impl SingleThreadedExecutor {
    /// No node is in it yet.
    #[must_use]
    pub fn new() -> SingleThreadedExecutor {
        SingleThreadedExecutor::default()
    }
}

impl Executor for SingleThreadedExecutor {}

impl Steps for SingleThreadedExecutor {
    fn turn(&mut self) -> &mut Turn {
        &mut self.round.turn
    }

    fn gather(&mut self) {
        self.round.gather();
    }

    fn step(&mut self) -> bool {
        self.round.step()
    }
}

impl Default for Round {
    fn default() -> Round {
        Round { turn: Turn::new(), places: VecDeque::new(), current: None }
    }
}

impl Round {
    /// Begins a round if the last one is over.
    pub(super) fn gather(&mut self) {
        if self.turn.gather() {
            self.forget();
        }
        if let Some(place) = self.current.take() {
            self.turn.report(place, Ran::Once);
        }
        if self.places.is_empty() {
            self.add_ready();
        }
    }

    /// Places mean other members now, and all are marked anew.
    pub(super) fn forget(&mut self) {
        self.places.clear();
        self.current = None;
    }

    /// Whether somebody of the round may run.
    pub(super) fn any(&self, may_run: impl Fn(&Turn, usize) -> bool) -> bool {
        self.places.iter().any(|&place| may_run(&self.turn, place))
    }

    /// Lets all that wait for their run have it in this round.
    pub(super) fn add_ready(&mut self) {
        self.turn.take_ready(&mut self.places);
    }

    /// The next of the round for which `may_run` holds, which is asked in order.
    pub(super) fn next(&mut self, may_run: impl Fn(&Turn, usize) -> bool) -> Option<usize> {
        let nth = self.places.iter().position(|&place| may_run(&self.turn, place))?;
        self.places.remove(nth)
    }

    /// Runs the next one that has something.
    pub(super) fn step(&mut self) -> bool {
        while let Some(place) = self.next(|_, _| true) {
            self.current = Some(place);
            let ran = self.turn.member(place).callback.run();
            self.current = None;
            self.turn.report(place, ran);
            if ran.has_run() {
                return true;
            }
        }
        false
    }
}

impl std::fmt::Debug for SingleThreadedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SingleThreadedExecutor({:?})", self.round.turn)
    }
}
