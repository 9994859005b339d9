//! A subscription: takes samples of every matched publisher, and waits for them.
//!
//! Owned by one thread at a time (`&mut self`); `gantry::Subscription` is a typed layer over it.

use crate::{
    board::TopicIndex,
    description::{EndpointDescription, Role, TypeDescription},
    error::{Error, Result},
    link::{Link, Losses},
    participant::Participant,
    process_file::{EndpointBlock, publisher_file_name},
    qos::{Durability, History, MAX_DEPTH, Qos},
    sample::Sample,
    shared::acquire,
    waiter::Waiter,
};
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// How long a publisher that could not be joined is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Takes samples from its topic's publishers.
pub struct Subscription {
    participant: Arc<Participant>,
    description: EndpointDescription,
    block: EndpointBlock,
    topic: TopicIndex,
    links: Vec<Link>,
    /// The link that is asked first next time, so that no publisher starves another.
    turn: usize,
    /// Generation of the topic that `links` is true for; `None`: look again.
    seen_generation: Option<u64>,
    /// Something kept us from joining all publishers: when to try again, off the data path.
    retry_at: Option<Instant>,
    /// Why publishers of the topic are not matched.
    mismatches: Vec<String>,
    /// Keys of publishers whose memory made no sense: not joined again for as long as they exist.
    broken: Vec<u64>,
    losses: Losses,
    waiter: Waiter,
}

impl Subscription {
    /// Makes a subscription and matches it with the publishers there are.
    ///
    /// # Errors
    /// A depth of 0 or beyond [`MAX_DEPTH`], or no room.
    pub fn new(
        participant: Arc<Participant>,
        node: &str,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<Subscription> {
        let description = participant.describe(Role::Subscription, node, topic, message_type, qos)?;
        let block = participant.process.add_endpoint(&participant.directory, &description)?;
        let topic = participant.topic(topic);
        let waiter = Waiter::new(participant.clone(), topic);
        let mut subscription = Subscription {
            participant,
            description,
            block,
            topic,
            links: Vec::new(),
            turn: 0,
            seen_generation: None,
            retry_at: None,
            mismatches: Vec::new(),
            broken: Vec::new(),
            losses: Losses::default(),
            waiter,
        };
        subscription.discover();
        Ok(subscription)
    }

    /// The next sample, in place; `None` if there is none now. Publishers take turns.
    ///
    /// # Errors
    /// Bytes of a publisher make no sense (it is then left out for good); no room for more pins; the process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call. When publishers came or went since the last call, or more samples are held than
    /// ever before, memory is mapped or added here (system calls, allocation).
    #[inline]
    pub fn take(&mut self) -> Result<Option<Sample>> {
        self.participant.epoch.check()?;
        if self.generation_changed() {
            self.discover();
        }
        let count = self.links.len();
        for ahead in 0..count {
            let place = (self.turn + ahead) % count;
            match self.links[place].take(self.topic, &mut self.losses) {
                Ok(None) => {}
                Ok(Some(sample)) => {
                    self.turn = place + 1;
                    return Ok(Some(sample));
                }
                Err(error) => {
                    self.turn = place + 1;
                    if matches!(error, Error::Corrupt { .. }) {
                        // Whose memory makes no sense is not asked again.
                        self.mismatches.push(error.to_string());
                        self.broken.push(self.links.remove(place).key);
                    }
                    return Err(error);
                }
            }
        }
        self.drop_drained();
        Ok(None)
    }

    /// Waits until there is something to take; `false` if there was nothing within `timeout`. A bounded spin (none where
    /// only one CPU is usable), then a futex.
    ///
    /// # Errors
    /// As [`Subscription::take`]; no waiter could be set up.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        self.participant.epoch.check()?;
        let deadline = Instant::now().checked_add(timeout);
        if self.retry_at.is_some_and(|at| Instant::now() >= at) {
            self.seen_generation = None;
        }
        loop {
            if self.generation_changed() {
                self.discover();
            }
            if self.links.iter().any(Link::has_news) {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            let (line, seen) = (self.participant.board.line(self.topic), self.seen_generation);
            let links = &self.links;
            self.waiter
                .wait(deadline, || links.iter().any(Link::has_news) || Some(line.generation.load(Relaxed)) != seen)?;
        }
    }

    /// How many publishers are matched now. Control path.
    ///
    /// # Errors
    /// As [`Subscription::take`].
    pub fn publisher_count(&mut self) -> Result<usize> {
        self.participant.epoch.check()?;
        self.participant.look_for_deaths()?;
        if self.generation_changed() || self.retry_at.is_some() {
            self.seen_generation = None;
            self.discover();
        }
        Ok(self.links.iter().filter(|link| !link.gone).count())
    }

    /// Samples that were passed over since the beginning.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// Why publishers of this topic are not matched, a sentence each.
    #[must_use]
    pub fn mismatches(&self) -> &[String] {
        &self.mismatches
    }

    /// What this subscription says about itself.
    #[must_use]
    pub fn description(&self) -> &EndpointDescription {
        &self.description
    }

    #[inline]
    fn generation_changed(&self) -> bool {
        // Relaxed: `discover` reads it again with acquire.
        Some(self.participant.board.line(self.topic).generation.load(Relaxed)) != self.seen_generation
    }

    /// Joins new publishers, marks those that are gone, and drops what is drained. A publisher that cannot be joined is left
    /// out, with a sentence in `mismatches`: it must not silence the others. Control path.
    #[cold]
    fn discover(&mut self) {
        loop {
            // The generation first: what appears after it was read raises it again; our own joins do too.
            let generation = acquire(&self.participant.board.line(self.topic).generation);
            if self.seen_generation == Some(generation) {
                break;
            }
            self.mismatches.clear();
            self.retry_at = None;
            if let Err(error) = self.join_present() {
                self.leave_out(&error);
            }
            self.seen_generation = Some(generation);
        }
        self.drop_drained();
    }

    fn leave_out(&mut self, error: &Error) {
        self.mismatches.push(error.to_string());
        self.retry_at = Some(Instant::now() + RETRY_AFTER);
    }

    /// Joins the publishers of the topic that are not joined yet, and marks the links of those that are not there any more.
    fn join_present(&mut self) -> Result<()> {
        let topic = &self.description.topic;
        let present = self.participant.endpoints(topic, Role::Publisher, &mut self.mismatches)?;
        if !self.mismatches.is_empty() {
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
        for (peer, publisher) in &present {
            if self.links.iter().any(|link| link.key == publisher.key) || self.broken.contains(&publisher.key) {
                continue;
            }
            if let Some(why) = publisher.mismatch(&self.description) {
                self.mismatches.push(why);
                continue;
            }
            let file_name = publisher_file_name(&peer.id, publisher.number);
            match Link::join(&self.participant, publisher, &file_name, self.topic, self.wanted()) {
                Ok(link) => self.links.push(link),
                // It left while we looked.
                Err(e) if e.is_not_found() => {}
                Err(e) => self.leave_out(&e),
            }
        }
        self.broken.retain(|key| present.iter().any(|(_, publisher)| publisher.key == *key));
        for link in &mut self.links {
            link.gone = !present.iter().any(|(_, publisher)| publisher.key == link.key);
        }
        Ok(())
    }

    /// Unmaps publishers that are gone and have nothing left to take.
    fn drop_drained(&mut self) {
        if self.links.iter().any(|link| link.gone) {
            self.links.retain(|link| !link.gone || link.has_news());
        }
    }

    /// Whether history is wanted, and how many samples are to be kept for us.
    fn wanted(&self) -> (Durability, u32) {
        let qos = &self.description.qos;
        let depth = if qos.history == History::KeepLast { qos.depth } else { MAX_DEPTH };
        (qos.durability, depth)
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Subscription({})", self.description.topic)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if !self.participant.epoch.is_current() {
            return;
        }
        self.links.clear();
        // Nobody to tell; the reaper finds what is left when this process is gone.
        let _ = self.participant.process.remove_endpoint(self.block);
        self.participant.board.topic_changed(self.topic);
    }
}
