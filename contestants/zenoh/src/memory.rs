//! The memory of messages: shared memory for loans, and the user's own message for copies.

use std::hint::black_box;

use perf_worker::{
    endpoint::EndpointPlan,
    run_spec::{History, RunSpec},
};
use zenoh::{
    Wait,
    shm::{BlockOn, Defragment, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder, ZShmMut},
};

use crate::session::failed;

/// The buffer of a KEEP_ALL subscription, messages.
const KEEP_ALL_BUFFER: usize = 64;
/// Loans beyond those that wait in subscriptions: on the link, in hand, and being written.
const MORE_LOANS: usize = 8;
/// The memory that the allocator itself needs, bytes for each loan.
const ALLOCATOR_BYTES: usize = 256;

/// The messages that wait in a subscription.
pub fn buffer(plan: &EndpointPlan) -> usize {
    match plan.qos.history {
        History::KeepLast => plan.qos.depth as usize,
        History::KeepAll => KEEP_ALL_BUFFER,
    }
}

/// The shared memory of a publisher.
pub struct Loans {
    provider: ShmProvider<PosixShmProviderBackend>,
    length_bytes: usize,
}

impl Loans {
    /// Memory for all messages that subscriptions hold.
    ///
    /// # Errors
    /// A sentence: there is not as much.
    pub fn new(plan: &EndpointPlan) -> Result<Loans, String> {
        let length_bytes = plan.message.bytes;
        let pool_bytes = (buffer(plan) + MORE_LOANS) * (length_bytes + ALLOCATOR_BYTES);
        let provider = ShmProviderBuilder::default_backend(pool_bytes).wait();
        let provider = provider.map_err(|error| {
            failed(&format!("create shared memory of {pool_bytes} bytes (free some in /dev/shm)"), error)
        })?;
        Ok(Loans { provider, length_bytes })
    }

    /// A message to write. Waits for memory, as zenoh's example does.
    ///
    /// # Errors
    /// A sentence: a message of this length does not fit.
    pub fn loan(&self) -> Result<ZShmMut, String> {
        let loan = self.provider.alloc(self.length_bytes).with_policy::<BlockOn<Defragment<GarbageCollect>>>().wait();
        loan.map_err(|error| failed("loan a message", error))
    }
}

/// The memory of messages that are copied; none with zero copy. Every page has been touched, so that no page fault falls into the
/// measurement.
pub fn own_message(spec: &RunSpec, plan: &EndpointPlan) -> Option<Vec<u8>> {
    (!spec.zero_copy).then(|| {
        let mut message = vec![0; plan.message.bytes];
        black_box(&mut message).fill(0);
        message
    })
}
