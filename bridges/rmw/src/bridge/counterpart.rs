//! The counterpart of a local client: a client on the network that calls servers there for the local client.

use crate::rmw::{Client, Handle, Ready, Serialized};
use gantry::{GenericRequest, RequestId};
use gantry_bridge::{Calls, Context, Counts, Sent, StandIn, lock};
use rmw_abi::messages::Message;
use std::sync::{Arc, Mutex, Weak};

/// The counterpart of a local client. The thread that waits for the network takes its responses.
pub struct Counterpart {
    /// The name of the service.
    pub name: String,
    pub client: Arc<Client>,
    state: Mutex<State>,
    counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct State {
    request: Message,
    response: Message,
    /// The calls that wait for a server, with their requests in CDR, and the calls that wait for a response, by their
    /// numbers on the network.
    calls: Calls<(Asked, Vec<u8>), Asked>,
}

/// The id that the local client gave the request, and the stand-in (local server) that received it.
type Asked = (RequestId, Weak<StandIn>);

impl Counterpart {
    pub fn new(context: &Context, name: &str, client: &Arc<Client>) -> Result<Counterpart, String> {
        let message = |message_type| Message::new(message_type).map_err(|failure| failure.sentence);
        let service_type = &client.support.service_type;
        let (request, response) = (message(&service_type.request)?, message(&service_type.response)?);
        let (counts, wake) = (context.counts("in", name), Box::new(context.wake()));
        let state = State { request, response, calls: Calls::new(counts.clone()) };
        Ok(Counterpart { name: name.to_owned(), client: client.clone(), state: Mutex::new(state), counts, wake })
    }

    pub fn ask(&self, request: &GenericRequest, stand_in: &Arc<StandIn>) {
        let mut body = vec![0; request.message_info().length_bytes];
        request.sample().copy_to(&mut body);
        let mut state = lock(&self.state);
        let (asked, length_bytes) = ((request.id(), Arc::downgrade(stand_in)), body.len());
        state.calls.push((asked, body), length_bytes);
        self.flush(&mut state);
        if state.calls.is_waiting() {
            (self.wake)();
        }
    }

    /// True if calls wait until a server is matched.
    pub fn is_waiting(&self) -> bool {
        lock(&self.state).calls.is_waiting()
    }

    /// Sends the waiting calls if a server has been matched meanwhile.
    pub fn flush_waiting(&self) {
        self.flush(&mut lock(&self.state));
    }

    /// Sends the waiting calls if a server is matched.
    fn flush(&self, state: &mut State) {
        // A call whose stand-in has ended is dropped, because the server would execute it too late.
        let is_there = |(_, stand_in): &Asked| stand_in.strong_count() > 0;
        let State { request, calls, .. } = state;
        calls.retain(|(asked, _)| is_there(asked), is_there);
        if !calls.is_waiting() || !self.client.is_ready() {
            return;
        }
        calls.send(|(asked, body)| match request.read(&body).map(|()| self.client.send(request)) {
            Ok(Ok(number)) => Sent::As(number.cast_unsigned(), asked),
            Ok(Err(_)) => Sent::Refused,
            Err(_) => Sent::Malformed,
        });
    }

    /// Sends a response to the local client. A response to a call that another server has answered before counts as a
    /// duplicate.
    fn respond(&self, state: &mut State, number: i64) {
        let Some((id, stand_in)) = state.calls.answer(number.cast_unsigned()) else { return self.counts.duplicate() };
        let Some(stand_in) = stand_in.upgrade() else { return self.counts.disown() };
        match state.response.size_bytes() {
            Ok(bytes) => stand_in.respond(id, bytes, |body| {
                // `body` has the right length: the message was measured above, and no other thread changes it.
                if state.response.write(body).is_err() {
                    self.counts.malform();
                }
            }),
            Err(_) => self.counts.malform(),
        }
    }
}

impl Ready for Counterpart {
    fn handle(&self) -> Handle {
        self.client.handle()
    }

    fn take(&self, _memory: &mut Serialized) -> bool {
        loop {
            let mut state = lock(&self.state);
            match self.client.take(&mut state.response) {
                Ok(Some(number)) => self.respond(&mut state, number),
                Ok(None) => return true,
                Err(_) => {
                    self.counts.fail();
                    return true;
                }
            }
        }
    }
}
