//! The two ends of a relay (its subscription and its publisher), and the messages that the relay sends on.

use crate::{
    backend::{Draft, Matched, Matching, OtherClock, Publisher, Server, Session, Stamp, Subscription, Taken},
    endpoint::EndpointPlan,
    payload,
    run_spec::Touch,
    worker::context::Context,
};

/// The two ends of a relay.
pub struct Ends {
    /// The subscription to the topic from which the relay takes messages.
    pub subscription: Box<dyn Subscription>,
    /// The publisher on the topic to which the relay sends messages.
    pub publisher: Box<dyn Publisher>,
}

impl Ends {
    /// Creates both ends of a relay. In a run with a service, the ends belong to the server: requests and responses.
    ///
    /// # Errors
    /// The reason, as a sentence of the middleware.
    pub fn create(context: &Context, session: &dyn Session) -> Result<Ends, String> {
        let (spec, plan) = (&context.spec, &context.plan);
        if plan.service {
            let Server { requests, responses } = session.server(spec, plan)?;
            return Ok(Ends { subscription: requests, publisher: responses });
        }
        let to = EndpointPlan { topic: plan.relay_topic.clone(), ..plan.clone() };
        Ok(Ends {
            subscription: session.subscription(spec, plan)?.pull("a relay")?,
            publisher: session.publisher(spec, &to)?,
        })
    }
}

impl Matched for Ends {
    /// The matching of the end that has fewer matched endpoints.
    fn matched(&mut self) -> Result<Matching, String> {
        let (from, to) = (self.subscription.matched()?, self.publisher.matched()?);
        Ok(match (from, to) {
            (Matching::Count(from), Matching::Count(to)) => Matching::Count(from.min(to)),
            _ if from.is_none() || to == Matching::Unknown => from,
            _ => to,
        })
    }

    fn clock(&self) -> Option<OtherClock> {
        self.subscription.clock()
    }

    fn mismatches(&mut self) -> Vec<String> {
        [self.subscription.mismatches(), self.publisher.mismatches()].concat()
    }
}

/// A message that a relay or a server sends on.
pub struct Passed {
    /// The stamp of the received message, which the relay sends unchanged.
    pub stamp: Stamp,
    /// The part of the payload that the sender writes.
    pub touch: Touch,
}

impl Passed {
    /// Creates the message that sends `taken` on.
    pub fn on(context: &Context, taken: &Taken<'_>) -> Passed {
        let stamp = Stamp { time_ns: taken.time_ns, id: taken.id, rate_hz: context.plan.pace.rate_hz() };
        Passed { stamp, touch: context.spec.touch }
    }
}

impl Draft for Passed {
    fn write(&mut self, bytes: &mut [u8]) {
        payload::write(bytes, self.touch, self.stamp.id);
    }

    fn stamp(&mut self) -> Stamp {
        self.stamp
    }
}
