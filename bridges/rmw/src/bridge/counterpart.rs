//! The counterpart of a local client: the client on the network that asks far servers for it.

use crate::rmw::{Client, Handle, Ready, Serialized};
use gantry::{GenericRequest, RequestId};
use gantry_bridge::{Context, Counts, StandIn, lock};
use rmw_abi::messages::Message;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

/// The calls of one client that wait for a response or for their server; beyond them the oldest is given up.
const MAX_CALLS: usize = 1000;

/// The longest time for which a call waits for its server.
pub const MAX_WAIT: Duration = Duration::from_secs(10);

/// The counterpart of a local client, as the waiter has it.
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
    /// Calls that wait until a server is matched.
    waiting: VecDeque<WaitingCall>,
    /// Calls that wait for their responses, by the network's number.
    pending: BTreeMap<i64, (RequestId, Weak<StandIn>)>,
}

struct WaitingCall {
    id: RequestId,
    body: Vec<u8>,
    stand_in: Weak<StandIn>,
    since: Instant,
}

impl Counterpart {
    pub fn new(context: &Context, name: &str, client: &Arc<Client>) -> Result<Counterpart, String> {
        let message = |message_type| Message::new(message_type).map_err(|failure| failure.sentence);
        let service_type = &client.support.service_type;
        let (request, response) = (message(&service_type.request)?, message(&service_type.response)?);
        let state = State { request, response, waiting: VecDeque::new(), pending: BTreeMap::new() };
        let (counts, wake) = (context.counts("in", name), Box::new(context.wake()));
        Ok(Counterpart { name: name.to_owned(), client: client.clone(), state: Mutex::new(state), counts, wake })
    }

    pub fn ask(&self, request: &GenericRequest, stand_in: &Arc<StandIn>) {
        let mut body = vec![0; request.message_info().length_bytes];
        request.sample().copy_to(&mut body);
        let mut state = lock(&self.state);
        state.waiting.push_back(WaitingCall {
            id: request.id(),
            body,
            stand_in: Arc::downgrade(stand_in),
            since: Instant::now(),
        });
        if state.waiting.len() > MAX_CALLS {
            state.waiting.pop_front();
            self.counts.overwrite();
        }
        self.flush(&mut state);
        if !state.waiting.is_empty() {
            (self.wake)();
        }
    }

    /// Whether calls wait for servers that are not matched yet.
    pub fn is_waiting(&self) -> bool {
        !lock(&self.state).waiting.is_empty()
    }

    /// Sends calls whose servers were matched meanwhile.
    pub fn flush_waiting(&self) {
        self.flush(&mut lock(&self.state));
    }

    /// Sends the calls that wait, if a server is matched.
    fn flush(&self, state: &mut State) {
        // A request whose service left meanwhile, or whose time is over, is not executed late.
        let before = state.waiting.len() + state.pending.len();
        state.waiting.retain(|call| call.stand_in.strong_count() > 0 && call.since.elapsed() < MAX_WAIT);
        state.pending.retain(|_, (_, stand_in)| stand_in.strong_count() > 0);
        (state.waiting.len() + state.pending.len()..before).for_each(|_| self.counts.disown());
        if state.waiting.is_empty() || !self.client.is_ready() {
            return;
        }
        let State { request, waiting, pending, .. } = state;
        for WaitingCall { id, body, stand_in, .. } in waiting.drain(..) {
            if request.read(&body).is_err() {
                self.counts.malform();
                continue;
            }
            match self.client.send(request) {
                Ok(number) => drop(pending.insert(number, (id, stand_in))),
                Err(_) => self.counts.fail(),
            }
            if pending.len() > MAX_CALLS {
                pending.pop_first();
                self.counts.overwrite();
            }
        }
    }

    /// Hands a response to the local client. A second one, of another far server, is counted.
    fn respond(&self, state: &mut State, number: i64) {
        let Some((id, stand_in)) = state.pending.remove(&number) else { return self.counts.duplicate() };
        let Some(stand_in) = stand_in.upgrade() else { return self.counts.disown() };
        match state.response.size_bytes() {
            Ok(bytes) => stand_in.respond(id, bytes, |body| {
                // It was measured, and no thread changes it.
                if state.response.write(body).is_err() {
                    self.counts.malform();
                }
            }),
            Err(_) => self.counts.malform(),
        }
    }
}

impl Drop for Counterpart {
    /// Counts the calls that get no response any more.
    fn drop(&mut self) {
        let state = lock(&self.state);
        (0..state.waiting.len() + state.pending.len()).for_each(|_| self.counts.disown());
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
