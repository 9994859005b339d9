//! Models of processes that hold the line of a topic, and of the freeing of a line.

use super::check::Model;
use crate::protocol::{
    layout::TopicLine,
    names::{Bucket, Name},
    sleep::{Side, WaiterIndex},
    sync::{AtomicU64, Site},
};
use loom::{sync::Mutex, thread};
use std::sync::Arc;

/// A model of two processes that hold a topic at the same time, in a bucket with two lines besides the shared one. Each
/// process tries another line first.
pub(super) const TWO: Model = Model {
    run: || {
        let board = Board::new(3);
        let others = board.clone();
        let other = thread::spawn(move || others.hold_and_release(FIRST, 1, 1));
        board.hold_and_release(FIRST, 0, 0);
        other.join().unwrap();
        board.check_end();
    },
    preemptions: Some(3),
    needs: &[Site::ClaimFence, Site::HoldFence, Site::EndFence, Site::EndLook, Site::ReleaseLineFence],
};

/// The model [`TWO`] in a bucket with one line besides the shared one. Another topic holds the line and frees it
/// meanwhile, so one process may open the shared line while the other process claims the free line.
pub(super) const FULL: Model = Model {
    run: || {
        let board = Board::new(2);
        let line = board.hold(SECOND, 0, 1);
        let others = board.clone();
        let other = thread::spawn(move || {
            others.bucket().release(line, WaiterIndex(1));
            others.hold_and_release(FIRST, 0, 1);
        });
        board.hold_and_release(FIRST, 0, 0);
        other.join().unwrap();
        board.check_end();
    },
    preemptions: Some(3),
    needs: &[Site::OpenFence, Site::OpenLook, Site::ClaimFence, Site::HoldFence, Site::EndFence],
};

const FIRST: u64 = 1 << 24;
const SECOND: u64 = 2 << 24;

/// The board of these models: one bucket, and the lines that processes hold for [`FIRST`].
struct Board {
    names: Vec<AtomicU64>,
    lines: Vec<TopicLine>,
    held: Mutex<Vec<usize>>,
}

impl Board {
    fn new(count: usize) -> Arc<Board> {
        let names = (0..count).map(|_| AtomicU64::default()).collect();
        let lines = (0..count).map(|_| TopicLine::default()).collect();
        Arc::new(Board { names, lines, held: Mutex::default() })
    }

    fn bucket(&self) -> Bucket<'_> {
        Bucket { names: &self.names, lines: &self.lines }
    }

    fn hold(&self, hash: u64, start: usize, process: usize) -> usize {
        // The bits of the two processes are in different words.
        let side = [Side::Readers, Side::Publishers][process];
        self.bucket().hold(Name::from_hash(hash), start, (side, WaiterIndex(process)), |_| false)
    }

    fn hold_and_release(&self, hash: u64, start: usize, process: usize) {
        let index = self.hold(hash, start, process);
        let mut held = self.held.lock().unwrap();
        assert!(held.iter().all(|other| *other == index), "two processes hold different lines for one topic");
        held.push(index);
        drop(held);
        assert_eq!(self.bucket().find(Name::from_hash(hash)), Some(index), "a line that a process holds was freed");
        self.held.lock().unwrap().pop();
        self.bucket().release(index, WaiterIndex(process));
    }

    fn check_end(&self) {
        assert_eq!(self.bucket().count(), 0, "a line that no process holds is not free");
    }
}
