//! The state of the waiter lines on the board (the shared file of a domain with wake-up hints): their owners, and
//! whether a topic's sets of sleepers or watchers contain them. The state is read from the file, with offsets from the
//! printed layout.

use crate::support::{Root, offset_of};
use std::{collections::BTreeSet, path::Path};

/// The waiter lines in different states, as indices, read from the files of a domain.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Waiters {
    /// The lines whose owner has a process file.
    pub owned: BTreeSet<usize>,
    /// The lines whose owner has no process file.
    pub lost: BTreeSet<usize>,
    /// The lines of threads that sleep until there is a sample on some topic.
    pub sleeping: BTreeSet<usize>,
    /// The lines that topics contain as sleepers, or as watchers of readers or publishers.
    pub announced: BTreeSet<usize>,
}

impl Waiters {
    pub fn read(root: &Root) -> Waiters {
        let mut waiters = Waiters::default();
        let files = root.files();
        let processes = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "process"));
        // A line contains the first eight bytes of its owner's id. The name of the owner's file begins with the same
        // bytes in hexadecimal.
        let first_half = |path: &Path| {
            let id = u64::from_str_radix(&path.file_name().unwrap().to_str().unwrap()[..16], 16).unwrap();
            u64::from_le_bytes(id.to_be_bytes())
        };
        let owners: Vec<u64> = processes.map(|path| first_half(path)).collect();
        if let Some(board) = files.iter().find(|path| path.ends_with("board")) {
            waiters.read_board(board, &owners);
        }
        waiters
    }

    fn read_board(&mut self, path: &Path, owners: &[u64]) {
        let bytes = std::fs::read(path).unwrap();
        let layout = gantry_shm::describe_layout();
        let numbers_of = |title: &str| -> Vec<usize> {
            let line = layout.lines().find(|line| line.starts_with(title)).unwrap();
            line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect()
        };
        let word_at = |offset: usize| u64::from_le_bytes(bytes[offset..][..8].try_into().unwrap());
        // The printed layout contains "board: topics at … x …, waiters at … x …".
        let numbers = numbers_of("board: topics at ");
        let [topics, topic_count, waiters, waiter_count] = numbers[..4] else { panic!("{numbers:?}") };
        let (topic_bytes, waiter_bytes) = (numbers_of("TopicLine: ")[0], numbers_of("WaiterLine: ")[0]);
        let owner = offset_of("WaiterLine", "owner");
        for line in 0..waiter_count {
            match word_at(waiters + line * waiter_bytes + owner) {
                0 => false,
                owner if owners.contains(&owner) => self.owned.insert(line),
                _ => self.lost.insert(line),
            };
        }
        let announced_in = |set: &str| {
            let set = offset_of("TopicLine", set);
            let offsets = (0..topic_count).map(|topic| topics + topic * topic_bytes + set);
            let words = offsets.flat_map(|offset| (0..waiter_count / 64).map(move |word| (word, offset + word * 8)));
            let some = words.map(|(word, offset)| (word, word_at(offset))).filter(|&(_, bits)| bits != 0);
            some.flat_map(|(word, bits)| {
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
            })
            .collect::<BTreeSet<usize>>()
        };
        let [sleeping, readers, publishers] = ["sleepers", "readers_watchers", "publishers_watchers"].map(announced_in);
        self.announced = readers.into_iter().chain(publishers).chain(sleeping.iter().copied()).collect();
        self.sleeping = sleeping;
    }

    /// True if each line that is taken or announced has an owner.
    pub fn are_all_owned(&self) -> bool {
        self.lost.is_empty() && self.announced.is_subset(&self.owned)
    }
}
