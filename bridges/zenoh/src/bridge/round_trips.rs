//! The round-trip times between this bridge and the other bridges of the network.
//!
//! Each bridge answers queries on a key that contains its session id. In each period of the status, it queries the keys
//! of all bridges. The query has the highest priority, so that its time is the latency of the link and not of the queue
//! behind large samples.

use crate::network::Network;
use gantry_bridge::{PERIOD, RoundTrip, lock};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use zenoh::{
    Wait,
    qos::Priority,
    query::{ConsolidationMode, QueryTarget, Queryable},
    sample::Locality,
};

/// The prefix of the keys that bridges answer. Because of the `@`, wild cards of other programs do not match these
/// keys.
const KEYS: &str = "@gantry_round_trip";
/// The time-out of a query, and the age after which an answer is not shown any more.
const MAX_AGE: Duration = PERIOD.saturating_mul(3);

/// Measures the round-trip times to other bridges.
pub struct RoundTrips {
    _answering: Queryable<()>,
    /// The newest round-trip time to each session, with the time at which the answer arrived.
    times: Arc<Mutex<BTreeMap<String, (Instant, Duration)>>>,
}

impl RoundTrips {
    /// Starts to answer the queries of other bridges.
    pub fn new(network: &Network) -> zenoh::Result<RoundTrips> {
        let key = format!("{KEYS}/{}", network.session_id);
        let of_answers = key.clone();
        let builder = network.session.declare_queryable(key).allowed_origin(Locality::Remote);
        // The other bridge shows no time if the reply fails.
        let builder = builder.callback(move |query| drop(query.reply(&*of_answers, "").wait()));
        Ok(RoundTrips { _answering: builder.wait()?, times: Arc::default() })
    }

    /// Queries all bridges without waiting for their answers.
    pub fn measure(&self, network: &Network) {
        let (times, begin) = (self.times.clone(), Instant::now());
        let builder = network.session.get(format!("{KEYS}/*")).target(QueryTarget::All);
        let builder = builder.consolidation(ConsolidationMode::None).allowed_destination(Locality::Remote);
        let builder = builder.priority(Priority::RealTime).express(true).timeout(MAX_AGE);
        let asked = builder.callback(move |reply| {
            let Ok(sample) = reply.result() else { return };
            if let Some((_, session)) = sample.key_expr().as_str().rsplit_once('/') {
                lock(&times).insert(session.to_owned(), (Instant::now(), begin.elapsed()));
            }
        });
        drop(asked.wait()); // an error means that the session has ended
    }

    /// The times of the bridges that answered within `MAX_AGE`.
    #[must_use]
    pub fn get(&self) -> Vec<RoundTrip> {
        let mut times = lock(&self.times);
        times.retain(|_, (answered, _)| answered.elapsed() < MAX_AGE);
        let shown = |(session, (_, time)): (&String, &(Instant, Duration))| RoundTrip {
            session: session.clone(),
            time_ns: u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
        };
        times.iter().map(shown).collect()
    }
}
