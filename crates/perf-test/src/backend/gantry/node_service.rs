//! Clients and servers of a node: callbacks receive, and a timer's callback sends requests.
//!
//! `msg_pass_by` of a client or a server is that of `--pass-by`, since files have none: with `unique_ptr`, the default,
//! messages are copied in and out; with `shared_ptr` they are copied in and read in place; with `loaned_msg` they are
//! written in place, too.

use std::marker::PhantomData;
use std::sync::Arc;

use ::gantry::{CallbackHandle, Node, TakeSource};

use super::{
    qos, sentence,
    service::{Echo, Prepared, show},
};
use crate::messages::{Benchmark, WithType};
use perf_worker::{
    backend::{Draft, Matched, Matching, NodeClient, Publisher, Received, Responder, Sent, Sink},
    endpoint::EndpointPlan,
    run_spec::PassBy,
};

type Client<M> = ::gantry::Client<Echo<M>>;
type Service<M> = ::gantry::Service<Echo<M>>;

/// Creates a client.
pub struct MakeNodeClient<'a> {
    /// Its node.
    pub node: Node,
    /// The plan of its requests.
    pub plan: &'a EndpointPlan,
    /// The destination of the responses.
    pub responses: Arc<dyn Sink>,
}

impl WithType for MakeNodeClient<'_> {
    type Output = Result<NodeClient, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakeNodeClient { node, plan, responses } = self;
        let client = node.create_client_with_qos::<Echo<M>>(&plan.topic, qos(plan)).map_err(sentence)?;
        let in_place = plan.pass_by != PassBy::UniquePtr;
        let callback = node.add_callback(client, move |_, response| {
            // A request that will not be answered counts as lost.
            let Ok(response) = response else { return };
            let shown = show(response.sample(), in_place, false, 0, &mut |taken| responses.taken(taken));
            if let Err(error) = shown {
                responses.failed(format!("a response cannot be copied out: {error}"));
            }
        });
        let requests = Requests { callback: callback.clone(), prepared: Prepared::<M>::new(plan, is_loaned(plan)) };
        let responses = End { callback, source: PhantomData::<fn() -> Client<M>> };
        Ok(NodeClient { requests: Box::new(requests), responses: Box::new(responses) })
    }
}

/// Creates a server.
pub struct MakeNodeServer<'a> {
    /// Its node.
    pub node: Node,
    /// Its plan.
    pub plan: &'a EndpointPlan,
    /// It answers.
    pub requests: Arc<dyn Responder>,
}

impl WithType for MakeNodeServer<'_> {
    type Output = Result<Box<dyn Received + Send>, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakeNodeServer { node, plan, requests } = self;
        let service = node.create_service_with_qos::<Echo<M>>(&plan.topic, qos(plan)).map_err(sentence)?;
        let in_place = plan.pass_by != PassBy::UniquePtr;
        let mut prepared = Prepared::<M>::new(plan, is_loaned(plan));
        let callback = node.add_callback(service, move |service: &mut Service<M>, request| {
            let id = request.id();
            let shown = show(request.sample(), in_place, false, 0, &mut |taken| {
                requests.request(taken, &mut |draft| prepared.respond(service, id, draft));
            });
            if let Err(error) = shown {
                requests.failed(format!("a request cannot be copied out: {error}"));
            }
        });
        Ok(Box::new(End { callback, source: PhantomData::<fn() -> Service<M>> }))
    }
}

fn is_loaned(plan: &EndpointPlan) -> bool {
    plan.pass_by == PassBy::LoanedMsg
}

/// A client or a server, as far as matching is concerned.
trait Counted: TakeSource + 'static {
    fn others(&mut self) -> ::gantry::Result<usize>;
    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>>;
}

impl<M: Benchmark> Counted for Client<M> {
    fn others(&mut self) -> ::gantry::Result<usize> {
        self.server_count()
    }

    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>> {
        Client::<M>::mismatches(self)
    }
}

impl<M: Benchmark> Counted for Service<M> {
    fn others(&mut self) -> ::gantry::Result<usize> {
        self.client_count()
    }

    fn mismatches(&mut self) -> ::gantry::Result<Vec<String>> {
        Ok(Service::<M>::mismatches(self))
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

/// The end that receives.
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
    /// No request and no response to a request in flight leaves the history.
    fn overwritten(&self) -> u64 {
        0
    }
}

/// The end of a client that sends.
struct Requests<M: Benchmark> {
    callback: CallbackHandle,
    prepared: Prepared<M>,
}

impl<M: Benchmark> Matched for Requests<M> {
    fn matched(&mut self) -> Result<Matching, String> {
        matched::<Client<M>>(&self.callback)
    }

    fn mismatches(&mut self) -> Vec<String> {
        mismatches::<Client<M>>(&self.callback)
    }
}

impl<M: Benchmark> Publisher for Requests<M> {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let Requests { callback, prepared } = self;
        let sent = callback.with_source(|client: &mut Client<M>| prepared.request(client, draft));
        sent.unwrap_or_else(|| Err("the callback of the client was removed".to_owned()))
    }
}
