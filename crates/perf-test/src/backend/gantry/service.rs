//! Clients and servers of Gantry: a service whose requests and responses are the benchmark message.
//!
//! Gantry's client is one object for both directions, and its server another; the two ends of each share it. Without
//! zero copy a response or a request is taken as an owned message, which is allocated: the API of services has no copy
//! into memory of one's own.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use ::gantry::{PublisherOptions, RequestId, Sample, ServiceType};

use super::{node, qos, sentence, touched};
use crate::messages::{Benchmark, WithType};
use perf_worker::{
    backend::{Client, Draft, Matched, Matching, Publisher, Sent, Server, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::{Durability, Reliability, Roundtrip, RunSpec, Wait},
};

/// Whether the services of Gantry can do what a run asks of them.
///
/// # Errors
/// A sentence with the option that they do not have.
pub fn check(spec: &RunSpec) -> Result<(), String> {
    if spec.roundtrip != Roundtrip::Service {
        return Ok(());
    }
    let refused = if spec.qos.reliability == Reliability::BestEffort {
        "are reliable: leave out --reliability BEST_EFFORT"
    } else if spec.qos.durability == Durability::TransientLocal {
        "keep nothing for later servers: leave out --durability TRANSIENT_LOCAL"
    } else if spec.raw {
        "have a type: leave out --raw"
    } else if spec.wait == Wait::Block {
        "always wait in the middleware's own way: leave out --wait block"
    } else if spec.settings.get("publishing").is_some_and(|mode| mode == "async") {
        "send on the calling thread: leave out --publishing async"
    } else {
        return Ok(());
    };
    Err(format!("the services of Gantry {refused}"))
}

/// The service type with the message in both directions.
pub struct Echo<M>(PhantomData<fn() -> M>);

impl<M: Benchmark> ServiceType for Echo<M> {
    type Request = M;
    type Response = M;
    const TYPE_NAME: &'static str = M::TYPE_NAME;
    const TYPE_HASH: [u8; 32] = M::TYPE_HASH;
}

/// The message as a publisher prepares it, and the way in which it goes.
pub struct Prepared<M> {
    /// The message that is copied in; with zero copy the one with the shape of the loans.
    message: Box<M>,
    zero_copy: bool,
    /// The messages are so small that sending copies them.
    is_inline: bool,
}

impl<M: Benchmark> Prepared<M> {
    /// The message of an endpoint; with zero copy it goes in place.
    pub fn new(plan: &EndpointPlan, zero_copy: bool) -> Prepared<M> {
        let is_inline = plan.message.bytes <= PublisherOptions::default().max_inline_bytes;
        Prepared { message: touched(plan), zero_copy, is_inline }
    }

    fn sent(&self) -> Sent {
        Sent { loaned: self.zero_copy && !self.is_inline, ..Sent::default() }
    }

    /// The owned message with payload and stamp.
    fn stamped(&mut self, draft: &mut dyn Draft) -> &M {
        draft.write(self.message.payload_mut());
        self.message.stamp(draft.stamp());
        &self.message
    }

    /// Sends it as a request.
    pub fn request(&mut self, client: &mut ::gantry::Client<Echo<M>>, draft: &mut dyn Draft) -> Result<Sent, String> {
        if self.zero_copy {
            let mut loan = client.loan_request_with(self.message.shape()).map_err(sentence)?;
            draft.write(M::payload_of_loan(&mut loan));
            M::stamp_loan(&mut loan, draft.stamp());
            client.send_request(loan).map_err(|unsent| sentence(unsent.into()))?;
        } else {
            client.send_request_copy(self.stamped(draft)).map_err(sentence)?;
        }
        Ok(self.sent())
    }

    /// Sends it as the response to a request.
    pub fn respond(
        &mut self,
        service: &mut ::gantry::Service<Echo<M>>,
        request: RequestId,
        draft: &mut dyn Draft,
    ) -> Result<Sent, String> {
        if self.zero_copy {
            let mut loan = service.loan_response_with(request, self.message.shape()).map_err(sentence)?;
            draft.write(M::payload_of_loan(&mut loan));
            M::stamp_loan(&mut loan, draft.stamp());
            service.send_response(request, loan).map_err(|unsent| sentence(unsent.into()))?;
        } else {
            service.send_response_copy(request, self.stamped(draft)).map_err(sentence)?;
        }
        Ok(self.sent())
    }
}

/// Passes a message on to `reader`, in place or as an owned copy.
pub fn show<M: Benchmark>(
    sample: &Sample<M>,
    zero_copy: bool,
    marks: bool,
    overwritten: u64,
    reader: &mut dyn FnMut(&Taken<'_>),
) -> Result<(), String> {
    let info = sample.message_info();
    let in_hand_ns = marks.then(now_ns);
    let owned = if zero_copy { None } else { Some(sample.to_message().map_err(|error| error.to_string())?) };
    let received_ns = now_ns();
    let (stamped, payload) = match &owned {
        None => (M::stamped_sample(sample), M::payload_of_sample(sample)),
        Some(message) => (message.stamped(), message.payload()),
    };
    reader(&Taken {
        source: info.publisher_gid.0,
        time_ns: stamped.time_ns,
        id: stamped.id,
        received_ns,
        length_bytes: info.length_bytes as u64,
        overwritten,
        loaned: zero_copy && !sample.is_inline(),
        in_hand_ns,
        payload,
        ..Taken::default()
    });
    Ok(())
}

/// Creates a client.
pub struct MakeClient<'a>(pub &'a RunSpec, pub &'a EndpointPlan);

impl WithType for MakeClient<'_> {
    type Output = Result<Client, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakeClient(spec, plan) = self;
        let client = node(spec, plan)?.create_client_with_qos::<Echo<M>>(&plan.topic, qos(plan));
        let client = Rc::new(RefCell::new(client.map_err(sentence)?));
        let requests = Requests { client: client.clone(), prepared: Prepared::new(plan, spec.zero_copy) };
        let responses = Responses { client, zero_copy: spec.zero_copy, marks: spec.phases && !spec.zero_copy };
        Ok(Client { requests: Box::new(requests), responses: Box::new(responses) })
    }
}

type SharedClient<M> = Rc<RefCell<::gantry::Client<Echo<M>>>>;

struct Requests<M: Benchmark> {
    client: SharedClient<M>,
    prepared: Prepared<M>,
}

struct Responses<M: Benchmark> {
    client: SharedClient<M>,
    zero_copy: bool,
    /// The copy is marked.
    marks: bool,
}

/// Implements the matching of an end.
macro_rules! matched {
    ($end:ident, $field:ident, $count:ident, $mismatches:expr) => {
        impl<M: Benchmark> Matched for $end<M> {
            fn matched(&mut self) -> Result<Matching, String> {
                self.$field.borrow_mut().$count().map(Matching::Count).map_err(sentence)
            }

            fn mismatches(&mut self) -> Vec<String> {
                let mismatches: fn(&Self) -> Vec<String> = $mismatches;
                mismatches(self)
            }
        }
    };
}

fn mismatches_of_client<M: Benchmark>(client: &SharedClient<M>) -> Vec<String> {
    client.borrow().mismatches().unwrap_or_else(|error| vec![sentence(error)])
}

matched!(Requests, client, server_count, |end| mismatches_of_client(&end.client));
matched!(Responses, client, server_count, |end| mismatches_of_client(&end.client));

impl<M: Benchmark> Publisher for Requests<M> {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        self.prepared.request(&mut self.client.borrow_mut(), draft)
    }
}

impl<M: Benchmark> Subscription for Responses<M> {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let Some(response) = self.client.borrow_mut().take_response().map_err(sentence)? else { return Ok(false) };
        // No response to a request in flight leaves the history.
        show(response.sample(), self.zero_copy, self.marks, 0, reader)?;
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        self.client.borrow_mut().wait(timeout).map(drop).map_err(sentence)
    }

    fn overwritten(&self) -> u64 {
        0
    }
}

/// Creates a server.
pub struct MakeServer<'a>(pub &'a RunSpec, pub &'a EndpointPlan);

impl WithType for MakeServer<'_> {
    type Output = Result<Server, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakeServer(spec, plan) = self;
        let service = node(spec, plan)?.create_service_with_qos::<Echo<M>>(&plan.topic, qos(plan));
        let (service, in_hand) = (Rc::new(RefCell::new(service.map_err(sentence)?)), Rc::new(Cell::new(None)));
        let requests = Served {
            service: service.clone(),
            in_hand: in_hand.clone(),
            zero_copy: spec.zero_copy,
            marks: spec.phases && !spec.zero_copy,
        };
        let responses = Answers { service, in_hand, prepared: Prepared::new(plan, spec.zero_copy) };
        Ok(Server { requests: Box::new(requests), responses: Box::new(responses) })
    }
}

type SharedService<M> = Rc<RefCell<::gantry::Service<Echo<M>>>>;

struct Served<M: Benchmark> {
    service: SharedService<M>,
    /// The request that is being read.
    in_hand: Rc<Cell<Option<RequestId>>>,
    zero_copy: bool,
    /// The copy is marked.
    marks: bool,
}

struct Answers<M: Benchmark> {
    service: SharedService<M>,
    in_hand: Rc<Cell<Option<RequestId>>>,
    prepared: Prepared<M>,
}

matched!(Served, service, client_count, |end| end.service.borrow().mismatches());
matched!(Answers, service, client_count, |_| Vec::new());

impl<M: Benchmark> Subscription for Served<M> {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let Some(request) = self.service.borrow_mut().take_request().map_err(sentence)? else { return Ok(false) };
        self.in_hand.set(Some(request.id()));
        show(request.sample(), self.zero_copy, self.marks, 0, reader)?;
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        self.service.borrow_mut().wait(timeout).map(drop).map_err(sentence)
    }

    fn overwritten(&self) -> u64 {
        0
    }
}

impl<M: Benchmark> Publisher for Answers<M> {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let request = self.in_hand.take().ok_or("a response has no request in hand")?;
        self.prepared.respond(&mut self.service.borrow_mut(), request, draft)
    }
}
