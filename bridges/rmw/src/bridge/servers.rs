//! Local servers for clients on the network. For each local server, a server on the network (its counterpart) receives
//! the requests. One client of the bridge then calls the local servers of this name.

use super::{
    far_graph::FarGraph,
    mirror::{Mirror, Object, Shown},
};
use crate::rmw::{Handle, Ready, RequestOrigin, Serialized, Server};
use gantry::{GenericClient, GenericResponse, Node, RequestId};
use gantry_bridge::{Call, Caller, Context, Kind, Sources};
use gantry_command::say;
use rmw_abi::messages::Message;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The local services that the network can call, by name.
pub struct Servers {
    sources: Sources,
    services: BTreeMap<String, Service>,
}

struct Service {
    /// The counterpart of the first local server with this name. The bridge's client also reaches the other local
    /// servers of this name.
    requests: Arc<Requests>,
    source: Option<u64>,
    /// The counterparts of the other local servers with this name.
    namesakes: Vec<Arc<Namesake>>,
}

/// The counterpart of a further local server with the same name, which receives the same requests as the first
/// counterpart. It takes and drops them: requests that stayed in it would be executed a second time when the first
/// server leaves.
struct Namesake {
    server: Arc<Server>,
    request: Mutex<Message>,
}

impl Ready for Namesake {
    fn handle(&self) -> Handle {
        self.server.handle()
    }

    fn take(&self, _memory: &mut Serialized) -> bool {
        let mut request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(Some(_)) = self.server.take(&mut request) {}
        true
    }
}

/// The counterpart of a local server. The thread that waits for the network takes its requests.
struct Requests {
    server: Arc<Server>,
    caller: Arc<Caller<FarCall>>,
    request: Mutex<Message>,
}

/// A call of a client on the network.
struct FarCall {
    origin: RequestOrigin,
    /// The request in CDR.
    body: Vec<u8>,
    server: Arc<Server>,
}

impl Call for FarCall {
    fn length_bytes(&self) -> usize {
        self.body.len()
    }

    fn send(&self, client: &mut GenericClient) -> Option<gantry::Result<RequestId>> {
        Some(client.send_request_copy(&self.body))
    }

    fn answer(self, response: &GenericResponse) -> Option<usize> {
        let mut message = Message::new(&self.server.support.service_type.response).ok()?;
        let mut body = vec![0; response.message_info().length_bytes];
        response.sample().copy_to(&mut body);
        message.read(&body).ok()?;
        self.server.respond(self.origin, &message).ok()?;
        Some(body.len())
    }
}

impl Ready for Requests {
    fn handle(&self) -> Handle {
        self.server.handle()
    }

    fn take(&self, _memory: &mut Serialized) -> bool {
        let mut request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.server.take(&mut request) {
                Ok(Some(origin)) => match body(&request) {
                    Some(body) => self.caller.call(FarCall { origin, body, server: self.server.clone() }),
                    None => self.caller.counts.malform(),
                },
                Ok(None) => return true,
                Err(_) => {
                    self.caller.counts.fail();
                    return true;
                }
            }
        }
    }
}

/// Writes a message as CDR.
fn body(message: &Message) -> Option<Vec<u8>> {
    let mut body = vec![0; message.size_bytes().ok()?];
    message.write(&mut body).ok()?;
    Some(body)
}

impl Servers {
    pub fn new(sources: Sources) -> Servers {
        Servers { sources, services: BTreeMap::new() }
    }

    /// Starts and ends services. The bridge's client of a service is created when the network has a client of the
    /// service.
    pub fn update(&mut self, context: &Context, node: &Node, far: &FarGraph, mirror: &Mirror) {
        let mut wanted: BTreeMap<&str, Vec<(&Shown, &Arc<Server>)>> = BTreeMap::new();
        for shown in mirror.endpoints() {
            if let Object::Server(server) = &shown.object {
                wanted.entry(&shown.local.endpoint.name).or_default().push((shown, server));
            }
        }
        let sources = &self.sources;
        self.services.retain(|name, service| {
            let servers = wanted.get(name.as_str());
            let is_wanted = servers
                .is_some_and(|servers| servers.iter().any(|(_, server)| Arc::ptr_eq(server, &service.requests.server)));
            if !is_wanted && let Some(number) = service.source {
                sources.remove(number);
            }
            is_wanted
        });
        for (name, servers) in wanted {
            let Some((shown, server)) = servers.first() else { continue };
            if !self.services.contains_key(name) {
                match Service::new(context, name, server) {
                    Ok(service) => drop(self.services.insert(name.to_owned(), service)),
                    Err(error) => {
                        say(format_args!("service {name} is not carried: {error}"));
                        continue;
                    }
                }
            }
            let Some(service) = self.services.get_mut(name) else { continue };
            service.update_namesakes(servers.iter().map(|(_, server)| *server));
            let is_asked = far.endpoints(Kind::Client).any(|far| far.endpoint.name == name);
            match service.requests.caller.connect(node, &shown.with_installed_types(), is_asked) {
                Ok(Some(source)) => service.source = Some(self.sources.add(source)),
                Ok(None) => {}
                Err(error) => say(format_args!("service {name} is not carried: {error}")),
            }
            service.requests.caller.flush();
        }
    }

    /// The names of the services that the network can call.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.services.keys()
    }

    /// The counterparts, for the thread that waits for requests from the network.
    pub fn ready(&self) -> impl Iterator<Item = Arc<dyn Ready>> {
        self.services.values().flat_map(|service| {
            let namesakes = service.namesakes.iter().map(|namesake| namesake.clone() as Arc<dyn Ready>);
            std::iter::once(service.requests.clone() as Arc<dyn Ready>).chain(namesakes)
        })
    }

    /// True if calls wait until a server is matched.
    pub fn is_waiting(&self) -> bool {
        self.services.values().any(|service| service.requests.caller.is_waiting())
    }

    /// Sends the waiting calls whose server has been matched meanwhile.
    pub fn flush(&self) {
        self.services.values().for_each(|service| _ = service.requests.caller.flush());
    }

    pub fn end(&mut self) {
        self.services.clear();
        self.sources.end();
    }
}

impl Service {
    fn new(context: &Context, name: &str, server: &Arc<Server>) -> Result<Service, String> {
        let request = Message::new(&server.support.service_type.request).map_err(|failure| failure.sentence)?;
        let caller = Caller::new(context.counts("out", name), context.wake());
        let requests = Arc::new(Requests { server: server.clone(), caller, request: Mutex::new(request) });
        Ok(Service { requests, source: None, namesakes: Vec::new() })
    }

    /// Drops the counterparts of further servers that have left, and creates counterparts for new ones.
    fn update_namesakes<'a>(&mut self, servers: impl Iterator<Item = &'a Arc<Server>>) {
        let mut former = std::mem::take(&mut self.namesakes);
        for server in servers.filter(|server| !Arc::ptr_eq(server, &self.requests.server)) {
            if let Some(at) = former.iter().position(|namesake| Arc::ptr_eq(&namesake.server, server)) {
                self.namesakes.push(former.swap_remove(at));
            } else if let Ok(request) = Message::new(&server.support.service_type.request) {
                self.namesakes.push(Arc::new(Namesake { server: server.clone(), request: Mutex::new(request) }));
            }
        }
    }
}
