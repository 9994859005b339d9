//! Publishers.

use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    clock::now_ns,
    endpoint::EndpointPlan,
    raw,
    run_spec::{self, RunSpec},
};
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    pubsub::Publisher as Port,
    qos::{CongestionControl, Reliability},
    sample::SourceInfo,
    session::EntityGlobalId,
};

use crate::{
    memory::{Loans, await_own_pool, own_message},
    names::{EXPRESS, SHARED_MEMORY, failed, is_on, key},
    presence::{Presence, Side},
};

/// Creates a publisher.
///
/// # Errors
/// The reason, as a sentence: the session is closed, or there is no shared memory.
pub fn create(session: &Session, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
    let key = key(spec, plan);
    let (reliability, congestion) = match plan.qos.reliability {
        run_spec::Reliability::Reliable => (Reliability::Reliable, CongestionControl::Block),
        run_spec::Reliability::BestEffort => (Reliability::BestEffort, CongestionControl::Drop),
    };
    let port = session
        .declare_publisher(key.clone())
        .reliability(reliability)
        .congestion_control(congestion)
        .express(is_on(spec, EXPRESS))
        .wait()
        .map_err(|error| failed("declare a publisher", error))?;
    let message = match own_message(spec, plan) {
        Some(own) => {
            if is_on(spec, SHARED_MEMORY) {
                await_own_pool(session, plan)?;
            }
            Message::Own(own)
        }
        None => Message::Loaned(Loans::new(spec, plan)?),
    };
    let presence = Presence::declare(session, &key, Side::Publisher, port.id())?;
    Ok(Box::new(ZenohPublisher { port, presence, message, number: 0, marks: spec.phases }))
}

/// The id of a publisher: 12 bytes of its session's random id, and the publisher's number in the session.
pub fn source_of(id: &EntityGlobalId) -> [u8; 16] {
    let mut source = id.zid().to_le_bytes();
    if let Some(number) = source.last_chunk_mut::<4>() {
        *number = id.eid().to_le_bytes();
    }
    source
}

/// The message of a publisher.
enum Message {
    /// The user's own message, which zenoh copies for each publication.
    Own(Vec<u8>),
    /// The shared memory in which each message is loaned.
    Loaned(Loans),
}

struct ZenohPublisher {
    port: Port<'static>,
    presence: Presence,
    message: Message,
    /// The number of the next message, which travels in the message's source information.
    number: u32,
    /// True if the end of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
}

impl Matched for ZenohPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(self.presence.others()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(source_of(&self.port.id()))
    }
}

impl Publisher for ZenohPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let mut sent = Sent::default();
        let payload = match &mut self.message {
            Message::Own(own) => {
                draft.write(raw::payload_mut(own));
                raw::write_stamp(own, draft.stamp());
                let payload = ZBytes::from(&own[..]);
                sent.serialised_ns = self.marks.then(now_ns);
                payload
            }
            Message::Loaned(loans) => {
                let mut loan = loans.loan()?;
                draft.write(raw::payload_mut(&mut loan));
                raw::write_stamp(&mut loan, draft.stamp());
                sent.loaned = true;
                ZBytes::from(loan)
            }
        };
        let source = SourceInfo::new(self.port.id(), self.number);
        self.number = self.number.wrapping_add(1);
        self.port.put(payload).source_info(source).wait().map_err(|error| failed("send a message", error))?;
        Ok(sent)
    }
}
