//! Clients and servers of nodes in executors: their callbacks receive messages, and a timer's callback sends requests.
//!
//! Clients and servers obey the option `--pass-by`, because topology files have no `msg_pass_by` for them. With
//! `unique_ptr` (the default), messages are copied in and out. With `shared_ptr`, they are copied in and read in shared
//! memory. With `loaned_msg`, they are also written in shared memory.

use std::marker::PhantomData;
use std::sync::Arc;

use ::gantry::{CallbackHandle, GenericClient, GenericRequest, GenericService, Node, TakeSource};

use super::{
    SizedType, qos, sentence,
    service::{Prepared, echo},
    subscription::Reading,
};
use perf_worker::{
    backend::{Draft, Matched, Matching, NodeClient, Publisher, Received, Responder, Sent, Sink},
    endpoint::EndpointPlan,
    run_spec::PassBy,
};

/// Creates a client in `node`. The responses to its requests go to `responses`.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub fn client(node: &Node, plan: &EndpointPlan, responses: Arc<dyn Sink>) -> Result<NodeClient, String> {
    let sized_type = SizedType::for_plan(plan)?;
    let client = node.create_generic_client_with_qos(&plan.topic, echo(sized_type), qos(plan)).map_err(sentence)?;
    let reading = reading(plan, sized_type);
    let callback = node.add_callback(client, move |_, response| {
        // A request that gets no response or a malformed one counts as lost.
        if let Ok(response) = response {
            let _ = reading.show(response.sample(), 0, &mut |taken| responses.taken(taken));
        }
    });
    let prepared = Prepared::new(plan, sized_type, is_loaned(plan));
    let requests = Requests { callback: callback.clone(), prepared };
    let responses = End { callback, source: PhantomData::<fn() -> GenericClient> };
    Ok(NodeClient { requests: Box::new(requests), responses: Box::new(responses) })
}

/// Creates a server in `node`. `requests` answers the requests to it.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub fn server(
    node: &Node,
    plan: &EndpointPlan,
    requests: Arc<dyn Responder>,
) -> Result<Box<dyn Received + Send>, String> {
    let sized_type = SizedType::for_plan(plan)?;
    let service = node.create_generic_service_with_qos(&plan.topic, echo(sized_type), qos(plan)).map_err(sentence)?;
    let reading = reading(plan, sized_type);
    let mut prepared = Prepared::new(plan, sized_type, is_loaned(plan));
    let callback = node.add_callback(service, move |service: &mut GenericService, request: GenericRequest| {
        let id = request.id();
        let shown = reading.show(request.sample(), 0, &mut |taken| {
            requests.request(taken, &mut |draft| prepared.respond(service, id, draft));
        });
        if let Err(error) = shown {
            service.skip_malformed(&request, error);
        }
    });
    Ok(Box::new(End { callback, source: PhantomData::<fn() -> GenericService> }))
}

/// The way in which the callbacks of a node read messages.
fn reading(plan: &EndpointPlan, sized_type: SizedType) -> Reading {
    let in_place = plan.pass_by != PassBy::UniquePtr;
    Reading { message_type: sized_type.message_type, in_place, marks: false }
}

fn is_loaned(plan: &EndpointPlan) -> bool {
    plan.pass_by == PassBy::LoanedMsg
}

/// A client or a server that can count the servers or clients with which it is matched.
trait Counted: TakeSource + 'static {
    fn others(&mut self) -> ::gantry::Result<usize>;
    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>>;
}

impl Counted for GenericClient {
    fn others(&mut self) -> ::gantry::Result<usize> {
        self.server_count()
    }

    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>> {
        GenericClient::mismatches(self)
    }
}

impl Counted for GenericService {
    fn others(&mut self) -> ::gantry::Result<usize> {
        self.client_count()
    }

    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>> {
        Ok(GenericService::mismatches(self))
    }
}

fn matched<S: Counted>(callback: &CallbackHandle) -> Result<Matching, String> {
    let count = callback.with_source(S::others).unwrap_or(Ok(0));
    count.map(Matching::Count).map_err(sentence)
}

fn mismatches<S: Counted>(callback: &CallbackHandle) -> Vec<String> {
    let found = callback.with_source(<S as Counted>::mismatches).unwrap_or(Ok(Vec::new()));
    found.unwrap_or_else(|error| vec![sentence(error)])
}

/// The receiving end of a client or a server.
struct End<S> {
    callback: CallbackHandle,
    source: PhantomData<fn() -> S>,
}

impl<S: Counted> Matched for End<S> {
    fn matched(&mut self) -> Result<Matching, String> {
        matched::<S>(&self.callback)
    }

    fn mismatches(&mut self) -> Vec<String> {
        mismatches::<S>(&self.callback)
    }
}

impl<S: Counted> Received for End<S> {
    /// Always 0, because requests, and responses to pending requests, never leave the history unread.
    fn overwritten(&self) -> u64 {
        0
    }
}

/// The sending end of a client.
struct Requests {
    callback: CallbackHandle,
    prepared: Prepared,
}

impl Matched for Requests {
    fn matched(&mut self) -> Result<Matching, String> {
        matched::<GenericClient>(&self.callback)
    }

    fn mismatches(&mut self) -> Vec<String> {
        mismatches::<GenericClient>(&self.callback)
    }
}

impl Publisher for Requests {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let Requests { callback, prepared } = self;
        let sent = callback.with_source(|client: &mut GenericClient| prepared.request(client, draft));
        sent.unwrap_or_else(|| Err("the callback of the client was removed".to_owned()))
    }
}
