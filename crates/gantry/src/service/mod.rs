//! Services: a server takes requests and builds responses in place; a [`Client`] sends the requests.
//!
//! A service has one topic for requests, named as ROS 2 names it on DDS, and one topic for the replies to each client.
//! Requests are RELIABLE and KEEP_ALL, so no request is lost: a client whose server is too slow waits when it sends.
//! Replies never make a server wait: for each client, the server keeps more replies than the client may have requests
//! in flight (the client's QoS depth).

mod client;
mod connections;
mod server;
mod service_type;

pub use client::{Client, GenericClient, GenericResponse, Response, SharedClient};
pub use connections::ServiceConnection;
pub use server::{GenericRequest, GenericService, Request, Service};
pub use service_type::ServiceTypeDescription;

use crate::error::{Error, Result};
use gantry_shm::{History, Qos, Reliability};

/// The largest number of requests that a client may have in flight if its QoS does not set another depth.
const DEFAULT_DEPTH: u32 = 100;
/// The largest depth of a client or a server.
const MAX_DEPTH: u32 = 10_000;
/// The smallest number of requests that a client keeps for a server that does not take them, so that such a server does
/// not soon block a client with a small depth. With this number, rings of 1024 entries are enough on both sides,
/// because a ring has a few more entries than the messages that it keeps.
const MIN_KEPT_REQUESTS: u32 = 960;
/// The longest request that travels inline, in an entry of the client's ring. With this length, an entry is one cache
/// line. Longer entries would only enlarge the resident ring: a longer request costs little more in a slot.
const MAX_INLINE_REQUEST_BYTES: usize = 48;

/// The QoS of requests on both sides: the sender waits, so no request is lost. The depth is the client's limit of
/// requests in flight, which its servers read.
fn request_qos(depth: u32) -> Qos {
    Qos { depth, ..Qos::default().reliable().keep_all() }
}

/// Returns the limit of requests in flight from a client's QoS. A server's QoS is also checked, because other processes
/// see it.
fn depth_of(qos: &Qos) -> Result<u32> {
    let refused = |what, value, range| Err(Error::Engine(gantry_shm::Error::OutOfRange { what, value, range }));
    if qos.reliability == Reliability::BestEffort {
        let range = "services are RELIABLE, so that no request and no response is lost; use reliable()".to_owned();
        return refused("the reliability of a service's QoS", "BEST_EFFORT".to_owned(), range);
    }
    match qos.history {
        History::KeepAll => Ok(MAX_DEPTH),
        History::KeepLast if (1..=MAX_DEPTH).contains(&qos.depth) => Ok(qos.depth),
        History::KeepLast => {
            let range =
                format!("the depth is the number of requests that a client may have in flight, from 1 to {MAX_DEPTH}");
            refused("the depth of a service's QoS", qos.depth.to_string(), range)
        }
    }
}

/// The number of requests that a client with this depth keeps for a server that does not take them, while other servers
/// answer them or the client gives them up. At this number, the client waits for the server. The depth may come from
/// another process, so it is clamped.
fn kept_requests(depth: u32) -> u32 {
    (4 * depth.clamp(1, MAX_DEPTH)).max(MIN_KEPT_REQUESTS)
}

/// The number of replies of any size that a server keeps for a client with this depth, unless all memory is in use. It
/// keeps further replies up to `PublisherOptions::max_kept_bytes`.
fn guaranteed_replies(depth: u32) -> u32 {
    2 * depth.clamp(1, MAX_DEPTH)
}

/// The number of replies that both sides keep for a client with this depth, if there is room. It is large enough that a
/// server may answer all waiting requests at once without overwriting a reply that the client waits for.
fn kept_replies(depth: u32) -> u32 {
    kept_requests(depth) + guaranteed_replies(depth)
}
