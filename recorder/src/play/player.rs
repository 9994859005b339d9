//! The player: waits until each message is due, and publishes it.

use super::{
    SLICE,
    ahead::Next,
    clock::ClockPublisher,
    keys::Control,
    outlet::Outlets,
    schedule::{Schedule, monotonic_ns, sleep_until},
};
use crate::read::Message;
use gantry_command::Result;
use std::{ops::ControlFlow, sync::Arc};

/// The longest sleep.
const SLICE_NS: u64 = SLICE.as_nanos() as u64;
/// The factor by which one key press changes the rate.
const RATE_STEP: f64 = 1.1;

/// The counters of the played messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Played {
    /// Messages that were published.
    pub messages: u64,
    /// The total size of the published messages in bytes.
    pub bytes: u64,
    /// The longest delay of a message after its due time, in nanoseconds. A message counts only if the player has slept
    /// before it.
    pub latest_ns: u64,
    /// The time in the bag of the last message, in nanoseconds since 1970.
    pub position_ns: u64,
}

/// Publishes messages at their times.
pub struct Player<'a> {
    outlets: &'a Outlets,
    schedule: Schedule,
    control: Arc<Control>,
    clock: Option<ClockPublisher>,
    /// The time in the bag at which the current pause began; `None` without a pause.
    paused_at: Option<u64>,
    played: Played,
}

impl<'a> Player<'a> {
    /// Makes a player for these outlets.
    #[must_use]
    pub fn new(
        outlets: &'a Outlets,
        schedule: Schedule,
        control: Arc<Control>,
        clock: Option<ClockPublisher>,
    ) -> Player<'a> {
        Player { outlets, schedule, control, clock, paused_at: None, played: Played::default() }
    }

    /// Waits until the message is due, and publishes it. Returns `Break` if the program has to end.
    ///
    /// # Errors
    /// The clock cannot be published.
    pub fn play(&mut self, message: &Message<'_>) -> Result<ControlFlow<()>> {
        if !self.wait(message.header.log_time)? {
            return Ok(ControlFlow::Break(()));
        }
        self.publish(message);
        Ok(ControlFlow::Continue(()))
    }

    /// Waits until a message that was read ahead is due, and publishes it. Returns `Break` if the program has to end.
    ///
    /// # Errors
    /// The clock cannot be published.
    pub fn play_next(&mut self, next: Next<'_>) -> Result<ControlFlow<()>> {
        if !self.wait(next.time_ns)? {
            return Ok(ControlFlow::Break(()));
        }
        let is_published = next.outlet.publish_next(next.data);
        self.count(is_published, next.bytes, next.time_ns);
        Ok(ControlFlow::Continue(()))
    }

    /// Publishes a message without waiting.
    pub fn publish(&mut self, message: &Message<'_>) {
        let Some(outlet) = self.outlets.get(message.file, message.channel.id) else { return };
        let is_published = outlet.publish(message.data);
        self.count(is_published, message.data.len(), message.header.log_time);
    }

    fn count(&mut self, is_published: bool, bytes: usize, time_ns: u64) {
        if is_published {
            self.played.messages += 1;
            self.played.bytes += bytes as u64;
        }
        self.played.position_ns = time_ns;
    }

    /// Continues playing at the time `position_ns` in the bag.
    pub fn restart(&mut self, position_ns: u64) {
        self.schedule.restart(position_ns);
        self.paused_at = self.paused_at.map(|_| position_ns); // a pause goes on at the new position
        self.played.position_ns = position_ns;
    }

    /// Waits until a message with the time `time_ns` in the bag is due. Returns `false` if the program has to end.
    fn wait(&mut self, time_ns: u64) -> Result<bool> {
        let mut has_slept = false;
        while gantry::ok() {
            let now_ns = monotonic_ns();
            let rate_steps = self.control.take_rate_steps();
            if rate_steps != 0 {
                self.schedule.change_rate(RATE_STEP.powi(rate_steps));
            }
            if self.control.is_paused() {
                let position_ns = self.position_ns(now_ns).min(time_ns);
                let position_ns = *self.paused_at.get_or_insert(position_ns);
                if self.control.take_step() {
                    self.paused_at = Some(time_ns);
                    return Ok(true);
                }
                self.publish_clock(now_ns, position_ns)?;
                sleep_until(now_ns + SLICE_NS);
                continue;
            }
            if let Some(position_ns) = self.paused_at.take() {
                self.schedule.restart(position_ns);
            }
            let due_ns = self.schedule.due_ns(time_ns);
            if due_ns <= now_ns {
                if has_slept {
                    self.played.latest_ns = self.played.latest_ns.max(now_ns - due_ns);
                }
                self.publish_clock(now_ns, time_ns)?;
                return Ok(true);
            }
            self.publish_clock(now_ns, self.position_ns(now_ns))?;
            let clock_due_ns = self.clock.as_ref().map_or(u64::MAX, ClockPublisher::due_ns);
            sleep_until(due_ns.min(now_ns + SLICE_NS).min(clock_due_ns));
            has_slept = true;
        }
        Ok(false)
    }

    /// The time in the bag at the time `now_ns`.
    fn position_ns(&self, now_ns: u64) -> u64 {
        match self.schedule.rate() > 0.0 {
            true => self.schedule.position_ns(now_ns),
            false => self.played.position_ns,
        }
    }

    fn publish_clock(&mut self, now_ns: u64, time_ns: u64) -> Result<()> {
        self.clock.as_mut().map_or(Ok(()), |clock| clock.publish(now_ns, time_ns))
    }

    /// The counters.
    #[must_use]
    pub fn played(&self) -> Played {
        self.played
    }

    /// The number of messages that were not published.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.outlets.skipped()
    }

    /// Whether playing is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.control.is_paused()
    }
}
