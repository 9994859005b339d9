//! A wait for many sources that the caller keeps, for an executor that the caller implements.

use crate::{error::Result, node::Node, wait::Waitable};
use gantry_shm::{Attachment, Bell, Participant};
use std::{sync::Arc, time::Instant};

/// Waits for samples of many sources and reports the sources that may have samples. It is meant for language bindings
/// with executors of their own. A collector belongs to one thread at a time. A [`WaitSet`](crate::WaitSet) is simpler,
/// but checks every source in each wait.
///
/// A source is attached once, for many waits. The collector reports a source by its bit ([`Attachment::bit`], less than
/// [`Collector::BITS`]). Sources of several topics may share a bit, so a source whose bit is reported may have no
/// samples. A source whose bit is not reported has no new samples.
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
/// - After the attachment, the caller checks the source once, because the collector does not report samples that the
///   source already has.
/// - Before the next wait, the caller checks each reported source: it takes all samples, or calls
///   [`is_ready`](crate::Waitable::is_ready). The collector does not report the same samples twice. A caller that
///   leaves samples in a source must therefore check that source again by itself.
/// - [`collect`](Collector::collect) without a wait is a poll. [`wait`](Collector::wait) returns at once if there is
///   news that was not collected.
///
/// The collector reports only samples, and publishers that come and go. For other events, the caller sets a waker
/// ([`Waitable::set_waker`]) that rings the [`bell`](Collector::bell). For due times, the caller gives the wait a
/// deadline.
///
/// # Real-time
/// [`collect`](Collector::collect) is on the data path. [`wait`](Collector::wait) busy-waits for a bounded time (not if
/// only one CPU is usable), then makes one futex call. It allocates nothing, and its cost does not depend on the number
/// of sources. The other methods are on the control path, but make no system calls.
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

    /// Makes a collector for a process that has no node yet: the process joins the domain.
    ///
    /// # Errors
    /// The shared memory cannot be set up or trusted, or the process forked.
    pub fn join(domain_id: u32) -> Result<Collector> {
        Collector::for_participant(Participant::join(domain_id)?)
    }

    fn for_participant(participant: Arc<Participant>) -> Result<Collector> {
        Ok(Collector { engine: gantry_shm::Collector::new(&participant)?, _participant: participant })
    }

    /// Attaches a source. Returns `None` if the source gets no samples, such as a timer, which needs a waker or a
    /// deadline. A source may be attached to several collectors. After this call, the caller checks the source once,
    /// because the collector does not report samples that the source already has.
    ///
    /// The attachment refers to the topic and not to the source, so it may be detached before or after the source is
    /// dropped. Until it is detached, the topic wakes the collector.
    ///
    /// # Errors
    /// The source is in another domain, or the process forked.
    pub fn attach(&mut self, source: &mut dyn Waitable) -> Result<Option<Attachment>> {
        Ok(source.subscription().map(|subscription| self.engine.attach(subscription)).transpose()?)
    }

    /// Detaches a source, which may already be dropped. The attachment must come from this collector.
    pub fn detach(&mut self, attachment: Attachment) {
        self.engine.detach(attachment);
    }

    /// Calls `found` with the bit of each topic that had news since the last call. In a forked child, `found` is not
    /// called.
    pub fn collect(&mut self, found: impl FnMut(usize)) {
        self.engine.collect(found);
    }

    /// Waits until news can be collected, `look` returns `true`, the bell is rung, or `deadline` passes (`None`: no
    /// limit). The wait may also end early.
    ///
    /// A ring outside a wait is not remembered. So the thread that rings stores its news first (such as the flag of a
    /// guard condition), and `look` checks for this news. [`shutdown`](crate::shutdown) also rings the bell, so a
    /// `look` that checks [`ok`](crate::ok) ends the wait.
    ///
    /// # Errors
    /// The process forked.
    pub fn wait(&mut self, deadline: Option<Instant>, look: impl FnMut() -> bool) -> Result<()> {
        Ok(self.engine.wait(deadline, look)?)
    }

    /// The bell with which any thread of this process can end the wait.
    #[must_use]
    pub fn bell(&self) -> Bell {
        self.engine.bell()
    }
}
