//! The names of topic lines: the assignment of a line of the board to a topic, for as long as processes use the topic.
//!
//! A topic's hash chooses a bucket of lines. Each line has a word with its name and state. The last line of a bucket
//! has no name: this line is *open* once the bucket has no free line for a topic, and all topics without a line of
//! their own then share it. Invariants:
//! - N1: while a process holds a topic's line, the bit of its control thread is among the line's watchers. The process
//!   sets the bit before it finds the line's word unchanged. A line with a bit is not freed.
//! - N2: at most one line of a bucket has a certain name, and none has it while a process holds the open line for this
//!   name. So all holders of a topic hold the same line, and share its generations and sets.
//! - N3: each change of a word raises a count in the word, so a word that is found unchanged did not change meanwhile
//!   (unless it changed four million times between two instructions).
//!
//! Any thread finishes the work that a dead thread left unfinished: a claim of a line, or the freeing of a line. No
//! step waits for another thread.

use crate::{
    crash::{self, Point},
    protocol::{
        layout::TopicLine,
        sleep::{self, Side, WaiterIndex},
        sync::{AtomicU64, Ordering::*, Site, full_fence, is_weakened},
    },
};

/// The line has no name; for a bucket's last line: the line is not open.
const FREE: u64 = 0;
/// A thread wants to give the line this name, and has not checked yet whether another line has it.
const CLAIMED: u64 = 1;
/// The line has the name in its word; for a bucket's last line: the line is open.
const NAMED: u64 = 2;
/// The line has the name, and a thread checks whether the line is still held, to free it.
const ENDING: u64 = 3;
const STATE_BITS: u64 = 3;
/// The unit of the count of changes, whose bits lie between state and name.
const CHANGE: u64 = 1 << 2;
const CHANGE_BITS: u64 = (1 << NAME_SHIFT) - CHANGE;
const NAME_SHIFT: u32 = 24;

/// A topic's name on the board: 40 bits of its hash, not all of them 0. Topics with the same name share a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name(u64);

impl Name {
    pub(crate) fn from_hash(hash: u64) -> Name {
        Name((hash >> NAME_SHIFT).max(1))
    }
}

const OPEN: Name = Name(0);

fn state(word: u64) -> u64 {
    word & STATE_BITS
}

fn name(word: u64) -> Name {
    Name(word >> NAME_SHIFT)
}

/// The word that replaces `word`, with a raised count of changes (N3).
fn next(word: u64, state: u64, name: Name) -> u64 {
    name.0 << NAME_SHIFT | word.wrapping_add(CHANGE) & CHANGE_BITS | state
}

/// The lines of a bucket, with the words of their names. The last line is shared.
#[derive(Clone, Copy)]
pub(crate) struct Bucket<'a> {
    pub(crate) names: &'a [AtomicU64],
    pub(crate) lines: &'a [TopicLine],
}

impl Bucket<'_> {
    /// Finds the line that has the name, or else the open line, for a thread that has news for the line's holders.
    /// `None`: no process holds a line for this name.
    pub(crate) fn find(&self, wanted: Name) -> Option<usize> {
        let of_name = self.look(wanted).filter(|&(_, word)| state(word) != CLAIMED);
        let open = || (state(self.word(self.last())) != FREE).then(|| self.last());
        of_name.map(|(index, _)| index).or_else(open)
    }

    /// Finds the line for a name or claims a free line, and holds it for the waiter by setting the waiter's bit among
    /// the watchers of this side (N1). The search for a free line begins at `start`, which spreads names over the
    /// bucket. `is_held` returns whether the waiter's process holds a line for another name.
    pub(crate) fn hold(
        &self,
        wanted: Name,
        start: usize,
        (side, waiter): (Side, WaiterIndex),
        is_held: impl Fn(usize) -> bool,
    ) -> usize {
        loop {
            let (index, word) = self.find_or_claim(wanted, start);
            let watchers = self.lines[index].watchers(side);
            sleep::set(watchers, waiter);
            full_fence(Site::HoldFence);
            if self.is_still(index, word) {
                if index != self.last() {
                    self.end(self.last()); // this thread may have opened it before it found another line
                }
                return index;
            }
            if !is_held(index) {
                self.release(index, waiter);
            }
        }
    }

    /// Ends the waiter's hold of a line, and frees the line if no other waiter holds it.
    pub(crate) fn release(&self, index: usize, waiter: WaiterIndex) {
        [Side::Readers, Side::Publishers].into_iter().for_each(|side| {
            sleep::leave(self.lines[index].watchers(side), waiter);
        });
        full_fence(Site::ReleaseLineFence);
        self.end(index);
    }

    /// Frees the lines that no process holds, and the claims that a dead process may have left.
    pub(crate) fn sweep(&self) {
        for (index, own) in self.names.iter().enumerate() {
            let word = own.load(Relaxed);
            match state(word) {
                // The thread that made the claim claims a line again if it is alive.
                CLAIMED => self.change(index, word, FREE).map_or((), |_| ()),
                FREE => {}
                _ => self.end(index),
            }
        }
    }

    /// The number of lines of this bucket that have a name or are open.
    pub(crate) fn count(&self) -> usize {
        self.names.iter().filter(|word| state(word.load(Relaxed)) != FREE).count()
    }

    fn last(&self) -> usize {
        self.names.len() - 1
    }

    fn word(&self, index: usize) -> u64 {
        // Relaxed, like all loads and changes of the names' words: no other data depends on these words alone, and
        // fences order them.
        self.names[index].load(Relaxed)
    }

    /// Stores the next word of the line if the line still has the given word, and returns the new word.
    fn change(&self, index: usize, word: u64, state: u64) -> Option<u64> {
        let name = if state == FREE { Name(0) } else { name(word) };
        self.change_to(index, word, next(word, state, name))
    }

    fn change_to(&self, index: usize, word: u64, next: u64) -> Option<u64> {
        self.names[index].compare_exchange(word, next, Relaxed, Relaxed).is_ok().then_some(next)
    }

    /// The line that has the name; if no line has it, a line that is claimed for it. Also returns the line's word.
    fn look(&self, wanted: Name) -> Option<(usize, u64)> {
        let mut claimed = None;
        for index in 0..self.last() {
            let word = self.word(index);
            if state(word) != FREE && name(word) == wanted {
                if state(word) != CLAIMED {
                    return Some((index, word));
                }
                claimed = claimed.or(Some((index, word)));
            }
        }
        claimed
    }

    /// Returns a line that had the name, or the open line, and the word of this line at that time.
    fn find_or_claim(&self, wanted: Name, start: usize) -> (usize, u64) {
        let last = self.last();
        loop {
            let shared = self.word(last);
            // `shared`, the last line's word, is loaded before the other words: a thread that claims the name later
            // finds the open line in `settle`.
            full_fence(Site::OpenFence);
            match self.look(wanted) {
                Some((index, claim)) if state(claim) == CLAIMED => self.settle(index, claim),
                Some(found) => return found,
                None if state(shared) != FREE => return (last, shared),
                None => self.claim(wanted, start, shared),
            }
        }
    }

    /// Claims a free line for the name; opens the shared line if no line is free.
    fn claim(&self, wanted: Name, start: usize, shared: u64) {
        let last = self.last();
        let free = (0..last).map(|probe| (start + probe) % last).map(|index| (index, self.word(index)));
        match free.into_iter().find(|(_, word)| state(*word) == FREE) {
            Some((index, word)) => {
                if let Some(claim) = self.change_to(index, word, next(word, CLAIMED, wanted)) {
                    crash::point(Point::TopicClaimed);
                    self.settle(index, claim);
                }
            }
            None => drop(self.change_to(last, shared, next(shared, NAMED, OPEN))),
        }
    }

    /// Gives a claimed line its name, unless another line has the name, a line that comes earlier in the bucket was
    /// claimed for the name, or the shared line is open. If two threads claim lines for one name, the thread that
    /// checks later sees the claim of the other (N2).
    fn settle(&self, index: usize, claim: u64) {
        full_fence(Site::ClaimFence);
        let is_open = state(self.word(self.last())) != FREE && !is_weakened(Site::OpenLook);
        let others = (0..self.last()).filter(|other| *other != index);
        let wins = !is_open && others.into_iter().all(|other| !self.beats(other, index, name(claim)));
        let settled = self.change(index, claim, if wins { NAMED } else { FREE });
        if settled.is_some() {
            crash::point(Point::TopicSettled);
        }
    }

    /// Whether the line `other` prevents the line `index` from having the name. A claim of `other` that does not
    /// prevent it is withdrawn.
    fn beats(&self, other: usize, index: usize, wanted: Name) -> bool {
        loop {
            let word = self.word(other);
            match state(word) {
                _ if name(word) != wanted => return false,
                FREE => return false,
                CLAIMED if other > index => {
                    if self.change(other, word, FREE).is_some() {
                        return false;
                    }
                }
                _ => return true,
            }
        }
    }

    /// Whether the word of the line is the same as before the bit of the new holder was set. If another thread had
    /// begun to free the line before that, this function changes the line's word back to NAMED.
    fn is_still(&self, index: usize, word: u64) -> bool {
        match state(word) {
            ENDING => self.change(index, word, NAMED).is_some(),
            _ => self.word(index) == word,
        }
    }

    /// Frees a line if no process holds it.
    fn end(&self, index: usize) {
        loop {
            let word = self.word(index);
            if !matches!(state(word), NAMED | ENDING) || self.is_watched(index) {
                return;
            }
            // The line's word is changed even if another thread is about to free the line: that thread may have looked
            // before the last holder left.
            let Some(ending) = self.change(index, word, ENDING) else { continue };
            crash::point(Point::TopicEnding);
            full_fence(Site::EndFence); // either the holder sees this state, or this thread sees the holder's bit
            let is_free = is_weakened(Site::EndLook) || !self.is_watched(index);
            if self.change(index, ending, if is_free { FREE } else { NAMED }).is_some() {
                crash::point(Point::TopicEnded);
            }
            return; // if the word changed, another thread holds the line or ends it
        }
    }

    fn is_watched(&self, index: usize) -> bool {
        let line = &self.lines[index];
        line.readers_watchers.iter().chain(&line.publishers_watchers).any(|bits| bits.load(Relaxed) != 0)
    }
}
