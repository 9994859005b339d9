//! The memory of messages: shared memory for loans, and the user's own message for copies.

use std::hint::black_box;

use perf_worker::{
    endpoint::EndpointPlan,
    run_spec::{History, RunSpec},
};
use zenoh::{
    Session, Wait,
    shm::{BlockOn, Defragment, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder, ZShmMut},
};

use crate::names::failed;

/// The length of a KEEP_ALL subscription's buffer, in messages.
const KEEP_ALL_BUFFER: usize = 64;
/// The number of loans in addition to the loans that subscriptions hold: one is being written, and one is on the link.
const MORE_LOANS: usize = 2;
/// The number of bytes that the allocator itself needs for each loan.
const ALLOCATOR_BYTES: usize = 256;

/// The configuration key of a message length in bytes. Zenoh itself copies messages of this length or more into shared
/// memory.
const THRESHOLD_KEY: &str = "transport/shared_memory/transport_optimization/message_size_threshold";

/// The largest number of messages that wait in a subscription.
pub fn buffer(plan: &EndpointPlan) -> usize {
    match plan.qos.history {
        History::KeepLast => plan.qos.depth as usize,
        History::KeepAll => KEEP_ALL_BUFFER,
    }
}

/// The shared memory of a publisher. Zenoh locks this memory, so all of it is resident from the beginning.
pub struct Loans {
    provider: ShmProvider<PosixShmProviderBackend>,
    length_bytes: usize,
}

impl Loans {
    /// Allocates shared memory for the messages of a full buffer, and for one more message that each subscription
    /// reads.
    ///
    /// # Errors
    /// The reason, as a sentence: there is not enough shared memory.
    pub fn new(spec: &RunSpec, plan: &EndpointPlan) -> Result<Loans, String> {
        let length_bytes = plan.message.bytes;
        let in_hand = spec.subscriptions.max(spec.expected_subscriptions) as usize;
        let pool_bytes = (buffer(plan) + in_hand + MORE_LOANS) * (length_bytes + ALLOCATOR_BYTES);
        let provider = ShmProviderBuilder::default_backend(pool_bytes).wait().map_err(|error| {
            format!(
                "zenoh cannot create and lock {pool_bytes} bytes of shared memory: {error}; free memory in /dev/shm, \
                 raise `ulimit -l`, or give a smaller --history-depth"
            )
        })?;
        Ok(Loans { provider, length_bytes })
    }

    /// Loans a message to write. Waits for free memory, as in zenoh's example.
    ///
    /// # Errors
    /// The reason, as a sentence: a message of this length does not fit.
    pub fn loan(&self) -> Result<ZShmMut, String> {
        let loan = self.provider.alloc(self.length_bytes).with_policy::<BlockOn<Defragment<GarbageCollect>>>().wait();
        loan.map_err(|error| failed("loan a message", error))
    }
}

/// Waits until zenoh has allocated the shared memory into which it copies long messages. Returns at once if the
/// messages of this plan are too short for it. Without the wait, zenoh would silently send messages over the link.
///
/// # Errors
/// The reason, as a sentence: zenoh cannot allocate the shared memory.
pub fn await_own_pool(session: &Session, plan: &EndpointPlan) -> Result<(), String> {
    let threshold = session.config().get_typed::<usize>(THRESHOLD_KEY);
    let threshold_bytes = threshold.map_err(|error| failed(&format!("tell {THRESHOLD_KEY}"), error))?;
    if plan.message.bytes < threshold_bytes {
        return Ok(());
    }
    session.get_shm_provider().wait().map(drop).ok_or_else(|| {
        "zenoh cannot create and lock shared memory: free 16 MiB in /dev/shm, and raise `ulimit -l`".to_owned()
    })
}

/// Allocates the user's own message for the copy path; `None` with zero copy. Every page is written once, so that the
/// measurement has no page faults.
pub fn own_message(spec: &RunSpec, plan: &EndpointPlan) -> Option<Vec<u8>> {
    (!spec.zero_copy).then(|| {
        let mut message = vec![0; plan.message.bytes];
        black_box(&mut message).fill(0);
        message
    })
}
