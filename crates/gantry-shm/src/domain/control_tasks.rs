//! The tasks of a control thread, by the sides of the topics that they follow.

use crate::{
    domain::{
        board::{Board, TopicIndex},
        control::ControlTask,
    },
    protocol::{sleep::Side, sync::acquire},
};
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

/// The tasks, as long as their owners keep them.
#[derive(Default)]
pub(crate) struct Tasks(HashMap<(TopicIndex, Side), Followers>);

/// The tasks that follow one side of a topic.
#[derive(Default)]
struct Followers {
    tasks: Vec<Weak<dyn ControlTask>>,
    /// The generation of that side and the growths of its publishers' files, as of the last round of the control thread.
    seen: Option<(u64, u64)>,
}

/// A task that its owner keeps.
pub(crate) struct Task {
    pub(crate) topic: TopicIndex,
    pub(crate) work: Arc<dyn ControlTask>,
    /// The side of the topic that it follows has changed since the last round.
    pub(crate) has_changed: bool,
}

impl Tasks {
    /// Adds a task that follows that side of the topic.
    pub(crate) fn add(&mut self, topic: TopicIndex, side: Side, task: Weak<dyn ControlTask>) {
        self.0.entry((topic, side)).or_default().tasks.push(task);
    }

    /// Those that follow that side of the topic.
    pub(crate) fn of(&self, topic: TopicIndex, side: Side) -> Vec<Arc<dyn ControlTask>> {
        self.0
            .get(&(topic, side))
            .into_iter()
            .flat_map(|followers| &followers.tasks)
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// All tasks, for a round of the control thread. Forgets those whose owners do not keep them.
    pub(crate) fn living(&mut self, board: &Board) -> Vec<Task> {
        let mut living = Vec::new();
        self.0.retain(|&(topic, side), followers| {
            let line = board.line(topic);
            let now = (acquire(line.generation(side)), acquire(&line.growths)); // before the updates
            let has_changed = followers.seen.replace(now) != Some(now);
            let keep = |task: &Weak<dyn ControlTask>| {
                task.upgrade().map(|work| living.push(Task { topic, work, has_changed })).is_some()
            };
            followers.tasks.retain(keep);
            !followers.tasks.is_empty()
        });
        living
    }
}
