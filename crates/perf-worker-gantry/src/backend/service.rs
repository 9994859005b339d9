//! Clients and servers of Gantry, for a service whose request and response have the type of the benchmark message.
//!
//! In Gantry, one object is a whole client or server. In the back end, a sending end and a receiving end share this
//! object. Without zero copy, a response or request is taken as an owned message, which is allocated, because the API
//! of services cannot copy into existing memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use ::gantry::{GenericClient, GenericService, PublisherOptions, RequestId, ServiceTypeDescription};

use super::{SizedType, node, qos, sentence, subscription::Reading};
use crate::messages::OwnedMessage;
use perf_worker::{
    backend::{Client, Draft, Matched, Matching, Publisher, Sent, Server, Subscription, Taken},
    endpoint::EndpointPlan,
    run_spec::{Durability, Reliability, Roundtrip, RunSpec, Wait},
};

/// Checks that Gantry's services support the options of a run.
///
/// # Errors
/// The unsupported option, in a sentence.
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

/// The service type whose request and response are the message.
pub fn echo(sized_type: SizedType) -> ServiceTypeDescription {
    let description = sized_type.description();
    ServiceTypeDescription { name: description.name.clone(), request: description.clone(), response: description }
}

/// The message that a client or a server sends repeatedly, and whether it is loaned.
pub struct Prepared {
    /// The message that each sending copies. With zero copy, it gives each loan its shape (the lengths).
    message: Box<dyn OwnedMessage>,
    zero_copy: bool,
    /// Whether the messages are inline: so small that sending copies them into the ring's entry.
    is_inline: bool,
}

impl Prepared {
    /// Prepares the message of an endpoint. With zero copy, each message is written in shared memory.
    pub fn new(plan: &EndpointPlan, sized_type: SizedType, zero_copy: bool) -> Prepared {
        let is_inline = plan.message.bytes <= PublisherOptions::default().max_inline_bytes;
        Prepared { message: sized_type.touched(), zero_copy, is_inline }
    }

    fn sent(&self) -> Sent {
        Sent { loaned: self.zero_copy && !self.is_inline, ..Sent::default() }
    }

    /// Sends the message as a request.
    pub fn request(&mut self, client: &mut GenericClient, draft: &mut dyn Draft) -> Result<Sent, String> {
        let message = &mut self.message;
        if self.zero_copy {
            let mut loan = client.loan_request(message.loan_bytes()?).map_err(sentence)?;
            message.write_loan(loan.bytes_mut(), draft)?;
            client.send_request(loan).map_err(|unsent| sentence(unsent.into()))?;
            return Ok(self.sent());
        }
        message.write(draft);
        let mut written = Ok(());
        let write = |body: &mut [u8]| written = message.write_body(body);
        client.send_request_copy_with(message.body_bytes()?, write).map_err(sentence)?;
        written.map(|()| self.sent())
    }

    /// Sends the message as the response to a request.
    pub fn respond(
        &mut self,
        service: &mut GenericService,
        request: RequestId,
        draft: &mut dyn Draft,
    ) -> Result<Sent, String> {
        let message = &mut self.message;
        if self.zero_copy {
            let mut loan = service.loan_response(request, message.loan_bytes()?).map_err(sentence)?;
            message.write_loan(loan.bytes_mut(), draft)?;
            service.send_response(request, loan).map_err(|unsent| sentence(unsent.into()))?;
            return Ok(self.sent());
        }
        message.write(draft);
        let mut written = Ok(());
        let write = |body: &mut [u8]| written = message.write_body(body);
        service.send_response_copy_with(request, message.body_bytes()?, write).map_err(sentence)?;
        written.map(|()| self.sent())
    }
}

/// The way in which clients and servers outside of executors read messages.
fn reading(spec: &RunSpec, sized_type: SizedType) -> Reading {
    let (in_place, marks) = (spec.zero_copy, spec.phases && !spec.zero_copy);
    Reading { message_type: sized_type.message_type, in_place, marks }
}

/// Creates a client.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub fn client(spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
    let (node, sized_type) = (node(spec, plan)?, SizedType::for_plan(plan)?);
    let client = node.create_generic_client_with_qos(&plan.topic, echo(sized_type), qos(plan));
    let client = Rc::new(RefCell::new(client.map_err(sentence)?));
    let prepared = Prepared::new(plan, sized_type, spec.zero_copy);
    let requests = Requests { client: client.clone(), prepared };
    let responses = Responses { client, reading: reading(spec, sized_type) };
    Ok(Client { requests: Box::new(requests), responses: Box::new(responses) })
}

struct Requests {
    client: Rc<RefCell<GenericClient>>,
    prepared: Prepared,
}

struct Responses {
    client: Rc<RefCell<GenericClient>>,
    reading: Reading,
}

/// Implements `Matched` for one end of a client or server.
macro_rules! matched {
    ($end:ident, $field:ident, $count:ident, $mismatches:expr) => {
        impl Matched for $end {
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

fn mismatches_of_client(client: &RefCell<GenericClient>) -> Vec<String> {
    client.borrow().mismatches().unwrap_or_else(|error| vec![sentence(error)])
}

matched!(Requests, client, server_count, |end| mismatches_of_client(&end.client));
matched!(Responses, client, server_count, |end| mismatches_of_client(&end.client));

impl Publisher for Requests {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        self.prepared.request(&mut self.client.borrow_mut(), draft)
    }
}

impl Subscription for Responses {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let Some(response) = self.client.borrow_mut().take_response().map_err(sentence)? else { return Ok(false) };
        // The 0 is the number of overwritten messages: responses to pending requests never leave the history unread.
        self.reading.show(response.sample(), 0, reader)?;
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
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub fn server(spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
    let (node, sized_type) = (node(spec, plan)?, SizedType::for_plan(plan)?);
    let service = node.create_generic_service_with_qos(&plan.topic, echo(sized_type), qos(plan));
    let (service, in_hand) = (Rc::new(RefCell::new(service.map_err(sentence)?)), Rc::new(Cell::new(None)));
    let requests = Served { service: service.clone(), in_hand: in_hand.clone(), reading: reading(spec, sized_type) };
    let prepared = Prepared::new(plan, sized_type, spec.zero_copy);
    let responses = Answers { service, in_hand, prepared };
    Ok(Server { requests: Box::new(requests), responses: Box::new(responses) })
}

struct Served {
    service: Rc<RefCell<GenericService>>,
    /// The id of the request that is being handled.
    in_hand: Rc<Cell<Option<RequestId>>>,
    reading: Reading,
}

struct Answers {
    service: Rc<RefCell<GenericService>>,
    in_hand: Rc<Cell<Option<RequestId>>>,
    prepared: Prepared,
}

matched!(Served, service, client_count, |end| end.service.borrow().mismatches());
matched!(Answers, service, client_count, |_| Vec::new());

impl Subscription for Served {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let Some(request) = self.service.borrow_mut().take_request().map_err(sentence)? else { return Ok(false) };
        self.in_hand.set(Some(request.id()));
        if let Err(error) = self.reading.show(request.sample(), 0, reader) {
            self.service.borrow_mut().skip_malformed(&request, error);
        }
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        self.service.borrow_mut().wait(timeout).map(drop).map_err(sentence)
    }

    fn overwritten(&self) -> u64 {
        0
    }
}

impl Publisher for Answers {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let request = self.in_hand.take().ok_or("a response has no request in hand")?;
        self.prepared.respond(&mut self.service.borrow_mut(), request, draft)
    }
}
