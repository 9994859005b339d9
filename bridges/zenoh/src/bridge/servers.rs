//! Local servers for clients on the network. For each service name, one Zenoh queryable receives the requests, and one
//! client of the bridge calls the local servers.
//!
//! The hash of some service types is unknown, for example of an action's services. A client of rmw_zenoh calls as soon
//! as it sees the token of the server. The client's first request has the client's hash in the key and arrives before
//! the client's token, from which the bridge could learn the hash. So the queryable of such a server accepts each hash.

use super::{Context, far_graph::FarGraph};
use crate::{
    payload,
    wire::{Attachment, key_of, key_of_any_hash},
};
use gantry::{GenericClient, GenericResponse, Node, RequestId};
use gantry_bridge::{Call, Caller, Kind, LocalEndpoint, Sources};
use gantry_command::say;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};
use zenoh::{
    Wait,
    key_expr::KeyExpr,
    query::{Query, Queryable},
    sample::Locality,
};

/// The local services that the network can call, by their Zenoh keys.
pub struct Servers {
    sources: Sources,
    services: BTreeMap<String, Service>,
}

struct Service {
    caller: Arc<Caller<FarCall>>,
    _queryable: Queryable<()>,
    /// The number that `sources` gave the client.
    source: Option<u64>,
}

/// A call of a client on the network.
struct FarCall {
    /// The Zenoh key of the reply.
    key: KeyExpr<'static>,
    query: Query,
    attachment: Attachment,
}

impl Call for FarCall {
    fn length_bytes(&self) -> usize {
        self.query.payload().map_or(0, zenoh::bytes::ZBytes::len)
    }

    fn send(&self, client: &mut GenericClient) -> Option<gantry::Result<RequestId>> {
        let body = self.query.payload().and_then(payload::body)?;
        Some(client.send_request_copy(&body))
    }

    fn answer(self, response: &GenericResponse) -> Option<usize> {
        let source_time_ns = response.message_info().source_wall_time_ns.cast_signed();
        let attachment = Attachment { source_time_ns, ..self.attachment };
        let message = payload::from_sample(response.sample());
        let length = message.len();
        self.query.reply(&self.key, message).attachment(attachment.to_bytes()).wait().ok()?;
        Some(length)
    }
}

impl Servers {
    pub fn new(sources: Sources) -> Servers {
        Servers { sources, services: BTreeMap::new() }
    }

    /// Declares a queryable for each new service, before the network sees the token of its server. The bridge's client
    /// is created when the network has a client of the service. `unhashed` has the keys, with any hash, of the
    /// services that have a server without a known hash. All servers of such a service share one queryable, because a
    /// request reaches each queryable whose key matches, and each client of the bridge calls all local servers.
    pub fn update(
        &mut self,
        (context, node): (&Context, &Node),
        far: &FarGraph,
        servers: &[&LocalEndpoint],
        unhashed: &HashSet<String>,
    ) {
        let with_key = |local: &&LocalEndpoint| {
            let of_any_hash = key_of_any_hash(context.network.domain_id, &local.endpoint)?;
            let key = match unhashed.contains(&of_any_hash) {
                true => of_any_hash,
                false => key_of(context.network.domain_id, &local.endpoint)?,
            };
            Some((key, (*local).clone()))
        };
        let wanted: HashMap<String, LocalEndpoint> = servers.iter().filter_map(with_key).collect();
        let sources = &self.sources;
        self.services.retain(|key, service| {
            let is_wanted = wanted.contains_key(key);
            if !is_wanted && let Some(number) = service.source {
                sources.remove(number);
            }
            is_wanted
        });
        for (key, local) in wanted {
            let name = &local.endpoint.name;
            if !self.services.contains_key(&key) {
                match offer(context, &key, name) {
                    Ok(service) => drop(self.services.insert(key.clone(), service)),
                    Err(error) => say(format_args!("service {name} is not carried: {error}")),
                }
            }
            let Some(service) = self.services.get_mut(&key) else { continue };
            let any_hash = key.strip_suffix('*');
            let is_its = |far: &String| *far == key || any_hash.is_some_and(|start| far.starts_with(start));
            let is_asked = far.endpoints(Kind::Client).any(|(_, entity, _)| entity.key.as_ref().is_some_and(is_its));
            match service.caller.connect(node, &local, is_asked) {
                Ok(Some(source)) => service.source = Some(self.sources.add(source)),
                Ok(None) => {}
                Err(error) => say(format_args!("service {name} is not carried: {error}")),
            }
            service.caller.flush();
        }
    }

    /// True if calls wait until a server is matched.
    pub fn is_waiting(&self) -> bool {
        self.services.values().any(|service| service.caller.is_waiting())
    }

    /// Sends the waiting calls whose server has been matched meanwhile.
    pub fn flush(&self) {
        self.services.values().for_each(|service| _ = service.caller.flush());
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.sources.end();
    }
}

fn offer(context: &Context, key: &str, name: &str) -> zenoh::Result<Service> {
    let caller: Arc<Caller<FarCall>> = Caller::new(context.counts("out", name), context.wake());
    let (of_query, of_key) = (caller.clone(), KeyExpr::try_from(key.to_owned())?);
    let builder = context.network.session.declare_queryable(key.to_owned()).complete(true);
    let builder = builder.allowed_origin(Locality::Remote).callback(move |query| {
        let attachment = query.attachment().and_then(|bytes| Attachment::from_bytes(&bytes.to_bytes()));
        match attachment.filter(|_| query.payload().is_some()) {
            Some(attachment) => {
                let key = if of_key.is_wild() { query.key_expr().clone() } else { of_key.clone() };
                of_query.call(FarCall { key, query, attachment });
            }
            None => of_query.counts.malform(),
        }
    });
    Ok(Service { caller, _queryable: builder.wait()?, source: None })
}
