//! Subscriptions, the ways in which messages reach them, and the messages that they receive.

use std::sync::Arc;
use std::time::Duration;

use super::Matched;

/// The way in which messages reach a subscription. A back end chooses the way that users of its middleware would
/// choose.
pub enum Delivery {
    /// The endpoint's thread takes the messages. It waits for them in the way that
    /// [`RunSpec::wait`](crate::run_spec::RunSpec::wait) selects.
    Pull(Box<dyn Subscription>),
    /// The middleware delivers the messages on its own threads.
    Push(Box<dyn Listener>),
}

impl Delivery {
    /// Returns the subscription of an endpoint whose thread takes the messages.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware delivers the messages on its own threads.
    pub fn pull(self, endpoint: &str) -> Result<Box<dyn Subscription>, String> {
        match self {
            Delivery::Pull(subscription) => Ok(subscription),
            Delivery::Push(_) => Err(format!(
                "{endpoint} must take messages on its own thread, and the middleware delivers them on others: \
                 use -e INTER_THREAD or INTER_PROCESS, and no relay"
            )),
        }
    }
}

/// Receives messages.
pub trait Subscription: Matched {
    /// Takes one message, if there is one, and passes it to `reader`. Returns whether there was one. Does not wait.
    ///
    /// # Errors
    /// The reason, as a sentence, if a message could not be taken. The run continues with the next message.
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String>;

    /// Waits until there may be a message to take, at most `timeout`. Not called with `--wait spin`.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot continue.
    fn wait(&mut self, timeout: Duration) -> Result<(), String>;

    /// The number of messages since the creation of the subscription that newer messages pushed out of the history
    /// before they were taken. A middleware that does not count such messages returns 0. `perf_test` then reports its
    /// lost messages as unexplained.
    fn overwritten(&self) -> u64;
}

/// Receives messages on threads of the middleware.
pub trait Listener: Matched {
    /// Passes each message from now on to `sink`, on any thread.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot deliver.
    fn start(&mut self, sink: Arc<dyn Sink>) -> Result<(), String>;

    /// Ends the delivery; returns when no call of the sink is running.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot end the delivery.
    fn stop(&mut self) -> Result<(), String>;

    /// The number of lost messages as defined by [`Subscription::overwritten`].
    fn overwritten(&self) -> u64;
}

/// The destination of delivered messages.
pub trait Sink: Send + Sync {
    /// Records a message. Does not allocate. Takes a lock that is rarely contended: other threads take it a few times a
    /// second.
    fn taken(&self, taken: &Taken<'_>);

    /// Reports that the delivery has ended. `sentence` is the error.
    fn failed(&self, sentence: String);
}

/// A message that was taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken<'a> {
    /// The publisher's id in the middleware. All zeros if the middleware has no ids; the subscription may then have
    /// only one publisher.
    pub source: [u8; 16],
    /// The time in the message's stamp, ns.
    pub time_ns: i64,
    /// The id in the message's stamp, at most [`MessageSpec::last_id`](crate::run_spec::MessageSpec::last_id).
    pub id: u64,
    /// The time of reception, ns. The back end reads it right after the middleware returned the message or, if the
    /// message is copied, right after the copy.
    pub received_ns: i64,
    /// With [`RunSpec::phases`](crate::run_spec::RunSpec::phases), the time when the message reached this process,
    /// before the receiving thread woke up; `None` if the back end cannot observe this moment.
    pub arrived_ns: Option<i64>,
    /// With `phases`, the time when the receiving thread had the bytes and began to convert them to a message; `None`
    /// if the back end cannot observe this moment.
    pub in_hand_ns: Option<i64>,
    /// The length of the message without its header, bytes.
    pub length_bytes: u64,
    /// The bytes of the message on the wire; 0 if the number is not known, or there is no wire.
    pub wire_bytes: u64,
    /// The value of [`Subscription::overwritten`] at the time when the message was taken.
    pub overwritten: u64,
    /// Whether the receiver reads the message in the middleware's memory, so that taking copied nothing.
    pub loaned: bool,
    /// The payload that the publisher wrote with [`Draft::write`](super::Draft::write): in the middleware's memory if
    /// `loaned`, otherwise in the receiver's copy.
    pub payload: &'a [u8],
}

impl Taken<'_> {
    /// A copy of the description of this message, without its payload.
    #[must_use]
    pub fn without_payload(&self) -> Taken<'static> {
        let Taken { source, time_ns, id, received_ns, arrived_ns, in_hand_ns, .. } = *self;
        let Taken { length_bytes, wire_bytes, overwritten, loaned, .. } = *self;
        let payload = &[];
        Taken {
            source,
            time_ns,
            id,
            received_ns,
            arrived_ns,
            in_hand_ns,
            length_bytes,
            wire_bytes,
            overwritten,
            loaned,
            payload,
        }
    }
}
