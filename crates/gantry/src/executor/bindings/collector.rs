//! A collector: it waits for many sources that the caller keeps, for an executor that the caller implements.

use crate::{error::Result, node::Node, wait::Waitable};
use gantry_shm::{Attachment, Bell, Participant};
use std::{sync::Arc, time::Instant};

/// Waits for the samples of many sources, and names the sources that may have samples; for language bindings that
/// have executors of their own. A collector belongs to one thread at a time. A [`WaitSet`](crate::WaitSet) is
/// simpler, but looks at each source in each wait.
///
/// A source is attached once, for many waits. The collector names a source by its bit ([`Attachment::bit`], less than
/// [`Collector::BITS`]). Sources of several topics may share a bit: a source whose bit is named may have no samples; a
/// source whose bit is not named has no news.
///
/// ```
/// # use gantry::{Collector, Node, Qos};
/// # fn main() -> gantry::Result<()> {
/// # let node = Node::new("collector_doc_example")?;
/// # let scan = gantry::TypeDescription { name: "my_robot/msg/Scan".into(), payload_bytes: 8, ..Default::default() };
/// # let mut publisher = node.create_generic_publisher("collector_doc_example", scan.clone(), Qos::default())?;
/// let mut scans = node.create_generic_subscription("collector_doc_example", scan, Qos::default())?;
/// let mut collector = Collector::new(&node)?;
/// let attachment = collector.attach(&mut scans)?;
/// let mut is_pending = true; // attached, and not looked at yet
/// # publisher.publish_copy(&[0; 8])?;
/// loop {
///     collector.collect(|bit| is_pending |= attachment.as_ref().is_some_and(|scans| scans.bit() == bit));
///     if is_pending {
///         while let Some(scan) = scans.take()? { /* … */ }
///         is_pending = false;
/// #       break;
///     } else {
///         collector.wait(None, || !gantry::ok())?; // only after a collection that found nothing
///     }
/// }
/// attachment.map(|attachment| collector.detach(attachment));
/// # Ok(()) }
/// ```
///
/// The order matters:
/// - After the attachment the caller checks the source once, because the collector does not name a source for
///   samples that it already has.
/// - Before the next wait the caller checks each named source: it takes all samples, or calls
///   [`is_ready`](crate::Waitable::is_ready). The collector does not name a source twice for the same samples, so a
///   caller that leaves samples in a source has to check the source again by itself.
/// - [`collect`](Collector::collect) alone is a poll and needs no wait. [`wait`](Collector::wait) returns at once while
///   news has not been collected.
///
/// The collector names a source only for samples, and for publishers that come and go. For other news, the caller sets
/// a waker ([`Waitable::set_waker`]) that rings the [`bell`](Collector::bell); for due times, the caller sets the
/// deadline of the wait.
///
/// # Real-time
/// [`collect`](Collector::collect) is on the data path. [`wait`](Collector::wait) is a bounded spin (none where only
/// one CPU is usable) and one futex call; it allocates nothing, and its cost does not depend on the number of
/// sources. The other methods are on the control path, and make no system calls.
#[derive(Debug)]
pub struct Collector {
    engine: gantry_shm::Collector,
    /// Keeps the process in the domain.
    _participant: Arc<Participant>,
}

impl Collector {
    /// The number of bits.
    pub const BITS: usize = gantry_shm::Collector::BITS;

    /// Makes a collector for sources of the node's domain. The collector keeps the process in the domain, but does
    /// not keep the node alive.
    ///
    /// # Errors
    /// The process forked.
    pub fn new(node: &Node) -> Result<Collector> {
        Collector::for_participant(node.participant().clone())
    }

    /// As [`Collector::new`], for a process that has no node yet: the process joins the domain.
    ///
    /// # Errors
    /// The shared memory cannot be set up or trusted; the process forked.
    pub fn join(domain_id: u32) -> Result<Collector> {
        Collector::for_participant(Participant::join(domain_id)?)
    }

    fn for_participant(participant: Arc<Participant>) -> Result<Collector> {
        Ok(Collector { engine: gantry_shm::Collector::new(&participant)?, _participant: participant })
    }

    /// Attaches a source. Returns `None` if the source gets no samples: the news of such a source comes by its waker
    /// or by time. A source may be attached to several collectors. After this call, the caller checks the source
    /// once, because the collector does not announce samples that the source already has.
    ///
    /// The attachment belongs to the topic, and does not refer to the source: detach it before or after the source is
    /// dropped. If it is never detached, its topic still wakes the collector needlessly.
    ///
    /// # Errors
    /// The source is of another domain; the process forked.
    pub fn attach(&mut self, source: &mut dyn Waitable) -> Result<Option<Attachment>> {
        Ok(source.subscription().map(|subscription| self.engine.attach(subscription)).transpose()?)
    }

    /// Detaches a source, which may be gone already. The attachment must come from this collector.
    pub fn detach(&mut self, attachment: Attachment) {
        self.engine.detach(attachment);
    }

    /// Calls `found` with the bit of each topic that had news since the last call. In a forked child, no bit is found.
    pub fn collect(&mut self, found: impl FnMut(usize)) {
        self.engine.collect(found);
    }

    /// Waits until there is something to collect, `look` returns `true`, the bell is rung, or the `deadline` is over
    /// (`None`: no limit). The wait may also end early. A ring outside of a wait is not remembered, so `look` must
    /// find the news that was stored before the ring, such as the flag of a guard condition.
    /// [`shutdown`](crate::shutdown) rings the bell, too: a `look` that checks [`ok`](crate::ok) ends the wait.
    ///
    /// # Errors
    /// The process forked.
    pub fn wait(&mut self, deadline: Option<Instant>, look: impl FnMut() -> bool) -> Result<()> {
        Ok(self.engine.wait(deadline, look)?)
    }

    /// The bell by which any thread of this process ends the wait.
    #[must_use]
    pub fn bell(&self) -> Bell {
        self.engine.bell()
    }
}
