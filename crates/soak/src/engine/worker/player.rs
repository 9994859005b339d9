//! A player: a thread of a worker. It creates, uses and drops publishers and subscriptions at random.

use super::pipe::{must_end, say};
use crate::{
    accounts::{
        beat::Beat,
        counts::{Count, count},
    },
    endpoint::{
        Listener, Talker, allowed, forked,
        holder::{Held, HeldItem},
        is_expected,
    },
    outcome::Result,
    samples::topic::{self, Topic},
};
use fastrand::Rng;
use gantry_shm::{Participant, WaitSet};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Pid,
};
use std::{
    sync::{Arc, mpsc::Sender},
    time::Duration,
};

const MOST_ENDPOINTS: usize = 3;
const MOST_HELD: usize = 16;
const MOST_LOANS: usize = 3;
const MOST_STEPS: u32 = 3000;
/// The longest time without a sample from the survivor, the coordinator's own publishers. They publish many times a
/// second, so a reader that waits longer has missed a sample.
const PATIENCE: Duration = Duration::from_secs(20);

/// The endpoints, samples and loans of one thread.
pub struct Player<'a> {
    talkers: Vec<Talker>,
    listeners: Vec<Listener>,
    wait_set: WaitSet,
    held: Vec<Held>,
    forked: Vec<Pid>,
    participant: Arc<Participant>,
    rng: Rng,
    holder: Sender<HeldItem>,
    beat: &'a Beat,
}

impl Player<'_> {
    pub fn new(participant: Arc<Participant>, rng: Rng, holder: Sender<HeldItem>, beat: &Beat) -> Player<'_> {
        let wait_set = WaitSet::new(&participant);
        let (talkers, listeners, held, forked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Player { talkers, listeners, wait_set, held, forked, participant, rng, holder, beat }
    }

    /// Does a random number of steps, and then drops all objects.
    pub fn play(mut self) -> Result<()> {
        for _ in 0..self.rng.u32(..MOST_STEPS) {
            if must_end() {
                break;
            }
            self.step()?;
        }
        self.beat.at("waiting for forked children");
        while !self.forked.is_empty() {
            self.check_forked()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        self.beat.at("releasing everything");
        self.rng.shuffle(&mut self.held);
        std::mem::take(&mut self.held).into_iter().try_for_each(Held::release)?;
        self.drop_all();
        Ok(())
    }

    /// Drops all objects without checks. A forked child may call this function, too.
    pub fn drop_all(&mut self) {
        self.listeners.clear();
        self.held.clear();
        self.talkers.clear();
    }

    fn step(&mut self) -> Result<()> {
        match self.rng.u32(..1000) {
            0..10 => self.add_talker(),
            10..20 => self.add_listener(),
            20..25 => self.drop_talker(),
            25..30 => self.drop_listener(),
            30..400 => self.publish(),
            400..700 => self.take(),
            700..850 => self.wait(),
            850..870 => self.ask(),
            870..990 => {
                self.beat.at("pausing");
                std::thread::sleep(Duration::from_micros(1 << self.rng.u32(..15)));
                Ok(())
            }
            990..998 => self.check_forked(),
            _ => self.fork(),
        }
    }

    fn add_talker(&mut self) -> Result<()> {
        self.beat.at("creating a publisher");
        if self.talkers.len() < MOST_ENDPOINTS {
            let (topic, rng) = (&topic::COMMON[self.rng.usize(..topic::COMMON.len())], &mut self.rng);
            let (qos, options) = (topic::any_qos(rng), topic::any_options(rng));
            self.talkers.extend(Talker::new(&self.participant, topic, qos, options)?);
        }
        Ok(())
    }

    fn add_listener(&mut self) -> Result<()> {
        self.beat.at("creating a subscription");
        if self.listeners.len() < MOST_ENDPOINTS {
            let (topic, qos) = (Topic::any(&mut self.rng), topic::any_qos(&mut self.rng));
            self.listeners.extend(Listener::new(&self.participant, topic, qos)?);
        }
        Ok(())
    }

    fn drop_talker(&mut self) -> Result<()> {
        self.beat.at("dropping a publisher");
        if let Some(mut talker) = any_of(&mut self.talkers, &mut self.rng).map(|index| self.talkers.swap_remove(index))
        {
            talker.loans.drain(..).for_each(|loan| _ = self.holder.send(HeldItem::Loan(loan)));
        }
        Ok(())
    }

    fn drop_listener(&mut self) -> Result<()> {
        self.beat.at("dropping a subscription");
        drop(any_of(&mut self.listeners, &mut self.rng).map(|index| self.listeners.swap_remove(index)));
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.beat.at("publishing");
        let Some(index) = any_of(&mut self.talkers, &mut self.rng) else { return Ok(()) };
        let talker = &mut self.talkers[index];
        for _ in 0..1 << self.rng.u32(..6) {
            let kept = any_of(&mut talker.loans, &mut self.rng).filter(|_| self.rng.u32(..8) == 0);
            let loan = match kept {
                Some(index) => talker.loans.swap_remove(index),
                None => match talker.loan(&mut self.rng)? {
                    Some(loan) => loan,
                    None => return Ok(()),
                },
            };
            match self.rng.u32(..40) {
                0 => drop(loan),
                1 => _ = self.holder.send(HeldItem::Loan(loan)),
                2 if talker.loans.len() < MOST_LOANS => talker.loans.push(loan),
                _ => {
                    let unpublished = talker.publish(loan)?;
                    if unpublished.is_some() {
                        return Ok(()); // the publisher waited for readers already
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<()> {
        self.beat.at("taking");
        let Some(index) = any_of(&mut self.listeners, &mut self.rng) else { return Ok(()) };
        for _ in 0..1 << self.rng.u32(..7) {
            let Some(held) = self.listeners[index].take()? else { break };
            self.keep_or_release(held)?;
        }
        Ok(())
    }

    fn keep_or_release(&mut self, held: Held) -> Result<()> {
        match self.rng.u32(..16) {
            0 => _ = self.holder.send(HeldItem::Sample(held)),
            1..4 => self.held.push(held),
            _ => held.release()?,
        }
        if self.held.len() > MOST_HELD {
            self.held.swap_remove(self.rng.usize(..self.held.len())).release()?;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        self.beat.at("waiting");
        let Some(index) = any_of(&mut self.listeners, &mut self.rng) else { return Ok(()) };
        let listener = &mut self.listeners[index];
        // True if a sample must arrive on this topic.
        let is_sure = listener.topic.is_survivors
            && !listener.topic.is_gated
            && allowed(listener.subscription.publisher_count())? == Some(1);
        let timeout = if is_sure { PATIENCE } else { Duration::from_micros(1 << self.rng.u32(..16)) };
        let waited = match self.rng.u32(..3) {
            0 => allowed(listener.subscription.wait(timeout))?,
            1 => {
                let mut all: Vec<_> = self.listeners.iter_mut().map(|listener| &mut listener.subscription).collect();
                allowed(self.wait_set.wait(&mut all, timeout))?
            }
            _ => self.poll(index, timeout)?,
        };
        if is_sure && waited == Some(false) {
            let topic = self.listeners[index].topic.name;
            return Err(format!(
                "waiting on {topic} ended after {PATIENCE:?}, though its publisher publishes all the time"
            ));
        }
        Ok(())
    }

    /// Takes all samples, because a wait on the descriptor requires this. If there was none, waits on the descriptor.
    fn poll(&mut self, index: usize, timeout: Duration) -> Result<Option<bool>> {
        let mut took = false;
        while let Some(held) = self.listeners[index].take()? {
            self.keep_or_release(held)?;
            took = true;
        }
        let Some(descriptor) = allowed(self.listeners[index].subscription.descriptor())? else { return Ok(None) };
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        let ready = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout));
        ready.map(|ready| Some(ready > 0 || took)).map_err(|e| format!("cannot poll: {e}"))
    }

    fn ask(&mut self) -> Result<()> {
        self.beat.at("asking for the matched endpoints");
        if let Some(index) = any_of(&mut self.talkers, &mut self.rng) {
            let publisher = &mut self.talkers[index].publisher;
            allowed(publisher.subscription_count())?;
            allowed(publisher.wait_for_subscriptions(1, Duration::from_millis(2)))?;
            let mismatches = allowed(publisher.mismatches())?.unwrap_or_default();
            if let Some(why) = mismatches.iter().find(|why| !is_expected(why)) {
                return Err(format!("a publisher's subscription is not matched: {why:?}"));
            }
        }
        if let Some(index) = any_of(&mut self.listeners, &mut self.rng) {
            let listener = &mut self.listeners[index];
            allowed(listener.subscription.publisher_count())?;
            listener.check_mismatches()?;
        }
        Ok(())
    }

    fn fork(&mut self) -> Result<()> {
        self.beat.at("forking");
        let lifetime = Duration::from_millis(self.rng.u64(..1000));
        let child = forked::fork(lifetime, || {
            let found = forked::finding(&mut self.talkers, &mut self.listeners, &mut self.wait_set);
            self.drop_all();
            found
        })?;
        count(Count::Forks, 1);
        say(&format!("forked {}", child.as_raw_nonzero()));
        self.forked.push(child);
        Ok(())
    }

    fn check_forked(&mut self) -> Result<()> {
        let mut living = Vec::new();
        for child in self.forked.drain(..) {
            if forked::has_ended(child)? {
                count(Count::ForkErrors, 1);
            } else {
                living.push(child);
            }
        }
        self.forked = living;
        Ok(())
    }
}

fn any_of<T>(all: &mut [T], rng: &mut Rng) -> Option<usize> {
    (!all.is_empty()).then(|| rng.usize(..all.len()))
}
