//! A subscription over shared memory.

use std::fs::File;
use std::time::Duration;

use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

use super::{
    bell::{BELL_BYTES, Bell},
    layout::Layout,
    memory::Reader,
};
use crate::announcement::{Id, OwnFile, Side, Topic, new_id};
use crate::message;

/// A subscription.
pub struct RingSubscription {
    topic: Topic,
    id: Id,
    layout: Layout,
    bell: Bell,
    /// The id and the memory of each publisher.
    publishers: Vec<(Id, Reader)>,
    /// The index of the publisher from which the next take starts.
    next: usize,
    /// The number of overwritten messages of publishers that have ended.
    overwritten_before: u64,
    /// The user's message, into which messages are copied; `None` with zero copy.
    own: Option<Vec<u8>>,
    /// True if the beginning of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
    /// The last field: the file is removed after all other fields are dropped.
    _file: OwnFile,
}

impl RingSubscription {
    /// Creates the subscription.
    ///
    /// # Errors
    /// The reason, as a sentence: shared memory is not available.
    pub fn new(topic: Topic, spec: &RunSpec, plan: &EndpointPlan) -> Result<RingSubscription, String> {
        let id = new_id();
        let file = OwnFile::create(&topic.announced(Side::Subscription, id, 0), BELL_BYTES)?;
        Ok(RingSubscription {
            topic,
            id,
            layout: Layout::new(plan),
            bell: Bell::new(file.file())?,
            publishers: Vec::new(),
            next: 0,
            overwritten_before: 0,
            own: (!spec.zero_copy).then(|| message::touched(plan.message.bytes)),
            marks: spec.phases,
            _file: file,
        })
    }
}

impl Matched for RingSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        let living = self.topic.living(Side::Publisher)?;
        let is_living = |id: &Id| living.iter().any(|announced| announced.id == *id);
        let overwritten_before = &mut self.overwritten_before;
        // A publisher that has ended stays until all of its messages are taken.
        self.publishers.retain(|(id, reader)| {
            let stays = is_living(id) || reader.has_message();
            *overwritten_before += if stays { 0 } else { reader.overwritten() };
            stays
        });
        for announced in &living {
            if self.publishers.iter().any(|(id, _)| *id == announced.id) {
                continue;
            }
            // The file is gone if the publisher has just ended.
            let Ok(file) = File::options().read(true).write(true).open(announced.path()) else { continue };
            if let Some(reader) = Reader::find(&file, self.layout, self.id)? {
                self.publishers.push((announced.id, reader));
            }
        }
        Ok(Matching::Count(self.publishers.iter().filter(|(id, _)| is_living(id)).count()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for RingSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let count = self.publishers.len();
        let Some(index) = (self.next..self.next + count)
            .map(|turn| turn % count)
            .find(|index| self.publishers.get(*index).is_some_and(|(_, publisher)| publisher.has_message()))
        else {
            return Ok(false);
        };
        self.next = index + 1;
        let missed: u64 = self.publishers.iter().map(|(_, publisher)| publisher.missed()).sum();
        let (source, publisher) = &mut self.publishers[index];
        let (source, missed) = (*source, self.overwritten_before + missed - publisher.missed());
        let marks = self.marks && self.own.is_some();
        let took = publisher.take(|message, own_missed| {
            let in_hand_ns = marks.then(now_ns);
            let (loaned, message) = match &mut self.own {
                Some(own) => {
                    own.copy_from_slice(message);
                    (false, &**own)
                }
                None => (true, message),
            };
            let received_ns = now_ns();
            let overwritten = missed + own_missed;
            reader(&Taken { loaned, overwritten, in_hand_ns, ..message::taken(message, source, received_ns) });
        })?;
        Ok(took.is_some())
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        let publishers = &self.publishers;
        self.bell.sleep(timeout, || publishers.iter().any(|(_, publisher)| publisher.has_message()))
    }

    fn overwritten(&self) -> u64 {
        self.publishers.iter().map(|(_, publisher)| publisher.overwritten()).sum::<u64>() + self.overwritten_before
    }
}
