//! The tasks of a control thread, listed by the side of the topic that each task follows.

use crate::{
    domain::{
        Domain,
        board::{Board, TopicIndex},
        joining::{JoinBatch, JoinGeneration},
    },
    protocol::{sleep::Side, sync::acquire},
};
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

/// The work of one endpoint on the control thread.
pub(crate) trait ControlTask: Send + Sync {
    /// Updates the endpoint's view of the matching endpoints. May block.
    fn update(&self, domain: &Arc<Domain>);
    /// Makes connections to new publishers; `None` if there are none. The caller then raises the generation of the
    /// topic's readers, once for all tasks together, and calls [`ControlTask::join`].
    fn connect(&self, _domain: &Arc<Domain>) -> Option<JoinBatch> {
        None
    }
    /// Joins the connections that [`ControlTask::connect`] made.
    fn join(&self, _domain: &Arc<Domain>, _batch: JoinBatch, _generation: JoinGeneration) {}
    /// Whether the update may be left to the control thread when endpoints of this process join or leave. If so, the
    /// threads that make or drop these endpoints do not run it.
    fn can_wait(&self) -> bool {
        false
    }
    /// The time at which an update is due even without joins and leaves, in ns of CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64> {
        None
    }
    /// Whether a matched endpoint has died and its death was not announced yet. `None` if no caller waits for an answer
    /// from a matched endpoint: a death then need not be noticed soon.
    fn has_unannounced_death(&self, _domain: &Domain) -> Option<bool> {
        None
    }
    /// Whether the endpoint's user waits for news through a descriptor or a waker that was not notified yet.
    fn awaits_news(&self) -> bool {
        false
    }
    /// Notifies the waiting descriptor or waker if there are samples to take. Returns whether there were samples.
    fn notify_news(&self) -> bool {
        false
    }
}

/// The tasks of a control thread. A task is listed for as long as its owner keeps it.
#[derive(Default)]
pub(crate) struct Tasks(HashMap<(TopicIndex, Side), Followers>);

/// The tasks of this process that follow one side of a topic.
#[derive(Default)]
struct Followers {
    tasks: Vec<Weak<dyn ControlTask>>,
    /// The generation of the followed side of the topic, as read in the last round of the control thread.
    seen_generation: Option<u64>,
    /// The number of growths of the topic's publisher files, as read in the last round of the control thread.
    seen_growths: Option<u64>,
}

/// A task that its owner still keeps.
pub(crate) struct Task {
    pub(crate) topic: TopicIndex,
    pub(crate) work: Arc<dyn ControlTask>,
    /// Whether the side of the topic that the task follows has changed since the last round.
    pub(crate) has_changed: bool,
}

impl Tasks {
    /// Adds a task that follows this side of the topic.
    pub(crate) fn add(&mut self, topic: TopicIndex, side: Side, task: Weak<dyn ControlTask>) {
        self.0.entry((topic, side)).or_default().tasks.push(task);
    }

    /// The tasks that follow this side of the topic.
    pub(crate) fn following(&self, topic: TopicIndex, side: Side) -> Vec<Arc<dyn ControlTask>> {
        self.0
            .get(&(topic, side))
            .into_iter()
            .flat_map(|followers| &followers.tasks)
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// The topics that subscriptions of this process follow and whose publishers' files grew since the last round of
    /// the control thread.
    pub(crate) fn grown(&mut self, board: &Board) -> Vec<TopicIndex> {
        let followed = self.0.iter_mut().filter(|((_, side), _)| *side == Side::Publishers);
        let grown = followed.filter_map(|(&(topic, _), followers)| {
            let growths = acquire(&board.line(topic).growths);
            (followers.seen_growths.replace(growths) != Some(growths)).then_some(topic)
        });
        grown.collect()
    }

    /// All tasks, for a round of the control thread. Removes the tasks that their owners have dropped.
    pub(crate) fn living(&mut self, board: &Board) -> Vec<Task> {
        let mut living = Vec::new();
        self.0.retain(|&(topic, side), followers| {
            let generation = acquire(board.line(topic).generation(side)); // loaded before the updates
            let has_changed = followers.seen_generation.replace(generation) != Some(generation);
            let keep = |task: &Weak<dyn ControlTask>| {
                task.upgrade().map(|work| living.push(Task { topic, work, has_changed })).is_some()
            };
            followers.tasks.retain(keep);
            !followers.tasks.is_empty()
        });
        living
    }
}
