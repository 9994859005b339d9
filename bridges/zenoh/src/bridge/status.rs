//! The fields of the bridge's status that come from the Zenoh session.

use super::Context;
use gantry_bridge::{LinkStatus, Status};
use std::sync::atomic::Ordering::Relaxed;
use zenoh::Wait;

/// Returns the status without its topics, numbers of nodes, and mismatches.
pub fn status(context: &Context, name: &str) -> Status {
    let network = &context.network;
    let links = network.session.info().links().wait();
    let link =
        |link: zenoh::session::Link| LinkStatus { session: link.zid().to_string(), address: link.dst().to_string() };
    Status {
        network: name.to_owned(),
        domain_id: network.domain_id,
        session: network.session_id.clone(),
        links: links.map(link).collect(),
        malformed: network.malformed.load(Relaxed),
        ..Status::default()
    }
}
