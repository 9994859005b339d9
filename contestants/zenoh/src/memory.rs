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

use crate::session::failed;

/// The buffer of a KEEP_ALL subscription, messages.
const KEEP_ALL_BUFFER: usize = 64;
/// The number of loans beside those in subscriptions: one is being written, one is on the link.
const MORE_LOANS: usize = 2;
/// The memory that the allocator itself needs, bytes for each loan.
const ALLOCATOR_BYTES: usize = 256;

/// The key of the configuration for the length from which messages go through shared memory, bytes.
const THRESHOLD_KEY: &str = "transport/shared_memory/transport_optimization/message_size_threshold";

/// The messages that wait in a subscription.
pub fn buffer(plan: &EndpointPlan) -> usize {
    match plan.qos.history {
        History::KeepLast => plan.qos.depth as usize,
        History::KeepAll => KEEP_ALL_BUFFER,
    }
}

/// The shared memory of a publisher. Zenoh locks it, so all of it is resident from the beginning.
pub struct Loans {
    provider: ShmProvider<PosixShmProviderBackend>,
    length_bytes: usize,
}

impl Loans {
    /// Allocates shared memory for a full buffer, and for the messages that subscriptions have in hand.
    ///
    /// # Errors
    /// A sentence: there is not enough shared memory.
    pub fn new(spec: &RunSpec, plan: &EndpointPlan) -> Result<Loans, String> {
        let length_bytes = plan.message.bytes;
        let in_hand = spec.subscriptions.max(spec.expected_subscriptions) as usize;
        let pool_bytes = (buffer(plan) + in_hand + MORE_LOANS) * (length_bytes + ALLOCATOR_BYTES);
        let provider = ShmProviderBuilder::default_backend(pool_bytes).wait().map_err(|error| {
            format!(
                "zenoh cannot create and lock {pool_bytes} bytes of shared memory: {error}; free some in /dev/shm, \
                 raise `ulimit -l`, or give a smaller --history-depth"
            )
        })?;
        Ok(Loans { provider, length_bytes })
    }

    /// Loans a message to write. Waits for memory, as zenoh's example does.
    ///
    /// # Errors
    /// A sentence: a message of this length does not fit.
    pub fn loan(&self) -> Result<ZShmMut, String> {
        let loan = self.provider.alloc(self.length_bytes).with_policy::<BlockOn<Defragment<GarbageCollect>>>().wait();
        loan.map_err(|error| failed("loan a message", error))
    }
}

/// Waits for the shared memory into which zenoh itself copies the messages of this plan, if they are long enough.
/// Without the wait, zenoh would silently send them over the link.
///
/// # Errors
/// A sentence: the shared memory does not come.
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

/// Allocates the user's own message, for the copy path; none with zero copy. Every page is touched, so that no page
/// fault falls into the measurement.
pub fn own_message(spec: &RunSpec, plan: &EndpointPlan) -> Option<Vec<u8>> {
    (!spec.zero_copy).then(|| {
        let mut message = vec![0; plan.message.bytes];
        black_box(&mut message).fill(0);
        message
    })
}
