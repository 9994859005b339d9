//! Faults of a serial line: frames that are lost, bytes that are damaged, and a cable that is pulled out.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

/// The byte that begins each frame, and occurs nowhere else in a frame.
const FRAME_BEGIN: u8 = 0x7e;
/// Probabilities are given in parts of this number.
const MILLION: u32 = 1_000_000;

/// The faults of both directions. The experiment sets them while the line is in use. All atomics are Relaxed: they are
/// settings and counts, so no other memory depends on their order.
#[derive(Debug, Default)]
pub struct Faults {
    lost_frames_per_million: AtomicU32,
    damaged_bytes_per_million: AtomicU32,
    /// True if the next frame of a [`Direction`] is lost.
    loses_next: [AtomicBool; 2],
    is_cut: AtomicBool,
    lost_frames: AtomicU32,
    damaged_bytes: AtomicU32,
}

/// A direction of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the board to the agent.
    FromBoard,
    /// From the agent to the board.
    ToBoard,
}

impl Faults {
    /// Sets the number of frames in a million that are lost at random.
    pub fn lose_frames(&self, per_million: u32) {
        self.lost_frames_per_million.store(per_million, Ordering::Relaxed);
    }

    /// Sets the number of bytes in a million that are damaged at random.
    pub fn damage_bytes(&self, per_million: u32) {
        self.damaged_bytes_per_million.store(per_million, Ordering::Relaxed);
    }

    /// Loses the next frame that starts in this direction.
    pub fn lose_next(&self, way: Direction) {
        self.loses_next[way as usize].store(true, Ordering::Relaxed);
    }

    /// Pulls the cable out (`on`), or plugs it in again.
    pub fn cut(&self, on: bool) {
        self.is_cut.store(on, Ordering::Relaxed);
    }

    /// The numbers of lost frames and of damaged bytes until now. The losses of a cut cable do not count.
    #[must_use]
    pub fn counts(&self) -> [u32; 2] {
        [&self.lost_frames, &self.damaged_bytes].map(|count| count.load(Ordering::Relaxed))
    }
}

/// The faults of one direction.
#[derive(Debug)]
pub struct FaultyWay {
    faults: Arc<Faults>,
    way: Direction,
    random: fastrand::Rng,
    /// True while the bytes of a lost frame pass.
    is_losing: bool,
}

impl FaultyWay {
    /// Creates the faults of one direction. The same seed gives the same faults for the same bytes.
    #[must_use]
    pub fn new(faults: Arc<Faults>, way: Direction, seed: u64) -> FaultyWay {
        FaultyWay { faults, way, random: fastrand::Rng::with_seed(seed), is_losing: false }
    }

    /// Removes and damages bytes that pass, according to the settings.
    pub fn pass(&mut self, bytes: &mut Vec<u8>) {
        let settings = &*self.faults;
        if settings.is_cut.load(Ordering::Relaxed) {
            bytes.clear();
            return;
        }
        let chances = [&settings.lost_frames_per_million, &settings.damaged_bytes_per_million];
        let [lost, damaged] = chances.map(|chance| chance.load(Ordering::Relaxed));
        let loses_next = &settings.loses_next[self.way as usize];
        bytes.retain_mut(|byte| {
            if *byte == FRAME_BEGIN {
                self.is_losing = loses_next.swap(false, Ordering::Relaxed) || self.random.u32(..MILLION) < lost;
                settings.lost_frames.fetch_add(self.is_losing.into(), Ordering::Relaxed);
            }
            if damaged > 0 && self.random.u32(..MILLION) < damaged {
                *byte ^= 1 << self.random.u32(..8);
                settings.damaged_bytes.fetch_add(1, Ordering::Relaxed);
            }
            !self.is_losing
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_loses_the_frame_that_it_is_told_to_and_others_by_chance() {
        let faults = Arc::new(Faults::default());
        let mut way = FaultyWay::new(faults.clone(), Direction::ToBoard, 1);
        let frames = |way: &mut FaultyWay, count: u8| -> Vec<u8> {
            let mut bytes: Vec<u8> = (0..count).flat_map(|number| [FRAME_BEGIN, number, number]).collect();
            way.pass(&mut bytes);
            bytes.chunks(3).filter_map(|frame| frame.get(1).copied()).collect()
        };
        faults.lose_next(Direction::FromBoard); // the other direction, so this one loses no frame
        assert_eq!(frames(&mut way, 3), [0, 1, 2]);
        faults.lose_next(Direction::ToBoard);
        assert_eq!(frames(&mut way, 3), [1, 2]);
        faults.lose_frames(500_000);
        let kept = frames(&mut way, 100).len();
        assert!((20..80).contains(&kept), "{kept}");
        assert_eq!(faults.counts(), [1 + 100 - kept as u32, 0]);
        faults.lose_frames(0);
        faults.cut(true);
        assert!(frames(&mut way, 3).is_empty());
        faults.cut(false);
        faults.damage_bytes(1_000_000);
        assert!(!frames(&mut way, 3).contains(&0));
        assert_eq!(faults.counts()[1], 9);
    }
}
