//! The board's books, read from outside: which waiter lines are taken, by whom they are held, and which are announced.
//!
//! The offsets come from the layout's own description.

use crate::support::{Root, offset_of};
use std::path::Path;

type Lines = [u64; 8];

/// What the files of a domain say about waiters.
#[derive(Debug, PartialEq, Eq)]
pub struct Waiters {
    /// On the board.
    pub taken: Lines,
    /// In the processes' files.
    pub held: Lines,
    /// Which want samples, on any topic.
    pub sleepers: Lines,
    /// Which want to know who comes and goes, on any topic.
    pub watchers: Lines,
}

impl Waiters {
    pub fn of(root: &Root) -> Waiters {
        let mut waiters = Waiters { taken: [0; 8], held: [0; 8], sleepers: [0; 8], watchers: [0; 8] };
        for path in root.files() {
            if path.ends_with("board") {
                waiters.read_board(&path);
            } else if path.extension().is_some_and(|ending| ending == "process") {
                let held = lines_at(&std::fs::read(&path).unwrap(), offset_of("ProcessHeader", "waiters"));
                merge(&mut waiters.held, held);
            }
        }
        waiters
    }

    fn read_board(&mut self, path: &Path) {
        let bytes = std::fs::read(path).unwrap();
        self.taken = lines_at(&bytes, offset_of("BoardHeader", "waiters_taken"));
        let layout = gantry_shm::describe_layout();
        let numbers_of = |title: &str| -> Vec<usize> {
            let line = layout.lines().find(|line| line.starts_with(title)).unwrap();
            line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect()
        };
        let (topics, line_bytes) = (numbers_of("board: topics at "), numbers_of("TopicLine: ")[0]);
        let sleepers = offset_of("TopicLine", "sleepers");
        let watchers = ["readers_watchers", "publishers_watchers"].map(|field| offset_of("TopicLine", field));
        for topic in bytes[topics[0]..].chunks(line_bytes).take(topics[1]) {
            merge(&mut self.sleepers, lines_at(topic, sleepers));
            watchers.into_iter().for_each(|place| merge(&mut self.watchers, lines_at(topic, place)));
        }
    }

    /// Lines that are taken, or announced, and nobody's: how many.
    pub fn lost(&self) -> u32 {
        let all = self.taken.iter().zip(self.sleepers).zip(self.watchers).zip(self.held);
        all.map(|(((taken, sleepers), watchers), held)| ((taken | sleepers | watchers) & !held).count_ones()).sum()
    }
}

fn merge(all: &mut Lines, more: Lines) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
}

fn lines_at(bytes: &[u8], offset: usize) -> Lines {
    std::array::from_fn(|word| u64::from_le_bytes(bytes[offset + word * 8..][..8].try_into().unwrap()))
}
