//! The endpoints of a topic, found by zenoh's liveliness tokens. Each endpoint declares a token. A publisher counts the
//! tokens of subscriptions, and a subscription the tokens of publishers. Zenoh's own matching status is not enough: for
//! a publisher it shows only whether there is a subscription, and a subscription has no status.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use zenoh::{
    Session, Wait,
    handlers::Callback,
    liveliness::LivelinessToken,
    pubsub::Subscriber,
    sample::{Sample, SampleKind},
    session::EntityGlobalId,
};

use crate::names::failed;

/// The side of an endpoint.
#[derive(Clone, Copy)]
pub enum Side {
    /// The endpoint is a publisher.
    Publisher,
    /// The endpoint is a subscription.
    Subscription,
}

impl Side {
    /// The name of the side in the keys of tokens.
    fn name(self) -> &'static str {
        match self {
            Side::Publisher => "publisher",
            Side::Subscription => "subscription",
        }
    }
}

/// An endpoint's token, and the tokens of the other side (of subscriptions for a publisher, of publishers for a
/// subscription).
pub struct Presence {
    others: Arc<Mutex<BTreeSet<String>>>,
    _token: LivelinessToken,
    _watch: Subscriber<()>,
}

impl Presence {
    /// Declares the token of the endpoint `id`, and subscribes to the tokens of the other side.
    ///
    /// # Errors
    /// The reason, as a sentence: the session is closed.
    pub fn declare(session: &Session, key: &str, side: Side, id: EntityGlobalId) -> Result<Presence, String> {
        let other = match side {
            Side::Publisher => Side::Subscription,
            Side::Subscription => Side::Publisher,
        };
        let others = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = others.clone();
        let count = move |sample: Sample| {
            let token = sample.key_expr().to_string();
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            match sample.kind() {
                SampleKind::Put => seen.insert(token),
                SampleKind::Delete => seen.remove(&token),
            };
        };
        let watched = format!("{key}/{}/*", other.name());
        let watch = session
            .liveliness()
            .declare_subscriber(watched)
            .history(true)
            .with((Callback::from(count), ()))
            .wait()
            .map_err(|error| failed("watch liveliness tokens", error))?;
        let own = format!("{key}/{}/{}_{}", side.name(), id.zid(), id.eid());
        let token = session.liveliness().declare_token(own).wait();
        let token = token.map_err(|error| failed("declare a liveliness token", error))?;
        Ok(Presence { others, _token: token, _watch: watch })
    }

    /// The number of endpoints of the other side.
    pub fn others(&self) -> usize {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
