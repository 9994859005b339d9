//! The objects of a client.

use super::{
    ClientCell,
    outlet::{ListenedOutlet, Outlet, Requester, Source},
    plan::{Endpoint, KnownObjects, Plan},
    refusal::Refusal,
};
use crate::context::{Context, DomainListener, DomainUse, Memory, WriterMemory};
use gantry::{GenericPublisher, Node, PublisherOptions};
use gantry_dynamic::MessageType;
use gantry_xrce::wire::{ClientKey, Create, Flags, ObjectId, StatusValue};
use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Arc, Weak},
    time::Duration,
};

/// The objects of a client, by their identifiers.
pub struct Objects(BTreeMap<ObjectKey, Object>, Memory);

/// An [`ObjectId`] as a number, because the table needs an order.
type ObjectKey = u16;

pub struct Object {
    pub plan: Plan,
    /// The participant, publisher or subscriber to which the object belongs.
    pub owner: ObjectId,
    pub entity: Entity,
    /// The type of the data that the client writes to the object.
    pub written: Option<Arc<MessageType>>,
}

/// The Gantry entity that belongs to an object of the client.
pub enum Entity {
    /// The node of a participant, and the participant's use of the domain. The node is dropped first.
    Node(Node, DomainUse),
    /// No entity: Gantry needs none for topics, publishers and subscribers.
    None,
    /// The publisher of a data writer.
    Publisher(Box<GenericPublisher>, WriterMemory),
    /// The outlet of a data reader, a requester or a replier.
    Outlet(Box<Outlet>),
}

/// The context and the client for which an object is created.
pub struct Site<'a> {
    pub context: &'a Arc<Context>,
    pub client: &'a Weak<ClientCell>,
    pub key: ClientKey,
}

impl Objects {
    /// An empty set of objects. Its data writers, requesters and repliers are counted in `memory`.
    pub fn new(memory: Memory) -> Self {
        Self(BTreeMap::new(), memory)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.0.get(&id.0)
    }

    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.0.get_mut(&id.0)
    }

    /// Calls a function for each outlet once. The first call is for the outlet after `after`; the order is cyclic.
    pub fn each_outlet_after(&mut self, after: ObjectId, mut each: impl FnMut(ObjectId, &mut Outlet)) {
        let ranges = [(Bound::Excluded(after.0), Bound::Unbounded), (Bound::Unbounded, Bound::Included(after.0))];
        for range in ranges {
            for (&id, object) in self.0.range_mut(range) {
                if let Entity::Outlet(outlet) = &mut object.entity {
                    each(ObjectId(id), outlet);
                }
            }
        }
    }

    /// The outlets.
    pub fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        self.0.values().filter_map(|object| match &object.entity {
            Entity::Outlet(outlet) => Some(&**outlet),
            _ => None,
        })
    }

    /// The outlet with the number `number`.
    pub fn outlet(&mut self, number: u64) -> Option<&mut Outlet> {
        self.0.values_mut().find_map(|object| match &mut object.entity {
            Entity::Outlet(outlet) if outlet.number == number => Some(&mut **outlet),
            _ => None,
        })
    }

    /// Begins to create an object. The flags REUSE and REPLACE determine the result if the object exists already.
    pub fn create(&mut self, flags: Flags, create: &Create<'_>, site: &Site<'_>) -> Result<Creation, Refusal> {
        let (plan, owner) = Plan::new(create, self, &site.context.config, site.key)?;
        let id = ObjectId::new(create.request.object.number(), plan.kind(create.object.kind));
        let mut replaced = Vec::new();
        if let Some(object) = self.get(id) {
            let (reuses, replaces) = (flags.has(Flags::REUSE), flags.has(Flags::REPLACE));
            let is_same = object.plan == plan && object.owner == owner;
            match () {
                () if reuses && is_same => return Ok(Creation::There(StatusValue::OK_MATCHED, Vec::new())),
                // A replaced data reader is created again, because it has to get the samples of the publishers'
                // histories again.
                () if replaces && is_same && !matches!(object.entity, Entity::Outlet(_)) => {
                    return Ok(Creation::There(StatusValue::OK, self.take_owned(id, site.context)));
                }
                () if replaces => replaced = self.take(id, site.context),
                () if reuses => {
                    let why = format!(
                        "the existing object {:#06x} differs from the object that the client wants to reuse",
                        id.0
                    );
                    return Err(Refusal::new(StatusValue::MISMATCH, why));
                }
                () => {
                    let why = format!(
                        "object {:#06x} exists already, and the request has neither the flag REUSE nor the flag \
                         REPLACE",
                        id.0
                    );
                    return Err(Refusal::new(StatusValue::ALREADY_EXISTS, why));
                }
            }
        }
        if self.len() >= site.context.config.limits.objects {
            let why = format!("the client has {} objects, which is the limit; delete an object first", self.len());
            return Err(Refusal::new(StatusValue::RESOURCES, why));
        }
        let parent = node_of(self, owner).map(|(node, listener)| (node.clone(), listener.clone()));
        Ok(Creation::New(Box::new(Building { id, owner, plan, parent, memory: self.1.clone() }), replaced))
    }

    /// Adds an object. Returns a sentence about the new object for the log.
    pub fn insert(&mut self, built: Built) -> Option<String> {
        let Built { id, object, listener } = built;
        let sentence = object.plan.sentence();
        if let (Entity::Outlet(outlet), Some((listener, client, context))) = (&object.entity, listener) {
            listener.add(outlet.number, Box::new(ListenedOutlet { number: outlet.number, client, context }));
        }
        self.0.insert(id.0, object);
        sentence
    }

    /// Removes an object and all objects that belong to it. Returns the objects with entities, in the order in which
    /// they must be destroyed.
    pub fn take(&mut self, id: ObjectId, context: &Context) -> Vec<Object> {
        let Some(object) = self.0.remove(&id.0) else { return Vec::new() };
        let mut taken = self.take_owned(id, context);
        if let Entity::Outlet(outlet) = &object.entity {
            context.forget(outlet.number);
        }
        if !matches!(object.entity, Entity::None) {
            taken.push(object);
        }
        taken
    }

    /// Removes the objects that belong to an object.
    fn take_owned(&mut self, id: ObjectId, context: &Context) -> Vec<Object> {
        let owned: Vec<ObjectId> =
            self.0.iter().filter(|(_, object)| object.owner == id).map(|(&owned, _)| ObjectId(owned)).collect();
        // The recursion ends after three levels, because only participants, publishers and subscribers own objects.
        owned.into_iter().flat_map(|owned| self.take(owned, context)).collect()
    }

    /// Removes all objects.
    pub fn take_all(&mut self, context: &Context) -> Vec<Object> {
        self.outlets().for_each(|outlet| context.forget(outlet.number));
        let mut taken: Vec<Object> = std::mem::take(&mut self.0).into_values().collect();
        taken.sort_by_key(|object| matches!(object.entity, Entity::Node(..))); // nodes last, after their endpoints
        taken
    }
}

impl KnownObjects for Objects {
    fn plan(&self, id: ObjectId) -> Option<&Plan> {
        Some(&self.get(id)?.plan)
    }

    fn node(&self, owner: ObjectId) -> Option<&Node> {
        node_of(self, owner).map(|(node, _)| node)
    }
}

/// The first result of a CREATE.
pub enum Creation {
    /// The object exists already, so nothing has to be built. The second field has the removed objects, which belonged
    /// to the existing object.
    There(StatusValue, Vec<Object>),
    /// The object has to be built. The second field has the objects that it replaces.
    New(Box<Building>, Vec<Object>),
}

/// An object that has not been built yet.
pub struct Building {
    id: ObjectId,
    owner: ObjectId,
    plan: Plan,
    /// The node of the object's participant, and the listener of its domain.
    parent: Option<(Node, Arc<DomainListener>)>,
    memory: Memory,
}

/// A built object, and the listener that waits for its messages.
pub struct Built {
    id: ObjectId,
    object: Object,
    listener: Option<(Arc<DomainListener>, Weak<ClientCell>, Weak<Context>)>,
}

impl Building {
    /// Whether the object has no entity, so that a build does not block.
    pub fn is_cheap(&self) -> bool {
        matches!(self.plan, Plan::Topic { .. } | Plan::Group)
    }

    /// Builds the entity. This may block until other processes react.
    pub fn build(self, site: &Site<'_>) -> Result<Box<Built>, Refusal> {
        let Self { id, owner, plan, parent, memory } = self;
        let written = plan.written_type().map(|described| site.context.message_types.read(described));
        let written = written.transpose().map_err(|why| Refusal::new(StatusValue::DDS_ERROR, why))?.flatten();
        let mut listener = None;
        let entity = match &plan {
            Plan::Participant { domain_id, namespace, name } => node(*domain_id, namespace, name, site)?,
            Plan::Topic { .. } | Plan::Group => Entity::None,
            Plan::Writer(_) | Plan::Reader(_) | Plan::Requester(_) | Plan::Replier(_) => {
                let Some((node, its_listener)) = parent else {
                    return Err(Refusal::unknown("the participant of object", id));
                };
                listener = Some((its_listener, site.client.clone(), Arc::downgrade(site.context)));
                endpoint(&node, &plan, &memory, site)?
            }
        };
        Ok(Box::new(Built { id, object: Object { plan, owner, entity, written }, listener }))
    }
}

fn node(domain_id: u32, namespace: &str, name: &str, site: &Site<'_>) -> Result<Entity, Refusal> {
    let refused = |why| Refusal::new(StatusValue::RESOURCES, why);
    let mut domain = site.context.use_domain(domain_id).map_err(refused)?;
    let node = Node::builder(name)
        .namespace(namespace)
        .domain_id(domain_id)
        .use_global_arguments(false)
        .start_parameter_services(false)
        .build()?;
    domain.listen(&node).map_err(refused)?;
    Ok(Entity::Node(node, domain))
}

/// Creates the entity of a data writer, data reader, requester or replier.
fn endpoint(node: &Node, plan: &Plan, memory: &Memory, site: &Site<'_>) -> Result<Entity, Refusal> {
    if plan.written_type().is_some() {
        memory.check(&site.context.config.limits).map_err(|why| Refusal::new(StatusValue::RESOURCES, why))?;
    }
    let source = match plan {
        Plan::Participant { .. } | Plan::Topic { .. } | Plan::Group => return Ok(Entity::None),
        Plan::Writer(endpoint) => {
            // The publisher must not wait for a slow reader, because this thread serves other clients as well.
            let options = PublisherOptions {
                max_blocking_time: Duration::ZERO,
                max_memory_bytes: Some(site.context.config.limits.writer_bytes),
                ..Default::default()
            };
            let (name, message_type) = (&endpoint.topic.name, endpoint.message_type.clone());
            let publisher = node.create_generic_publisher_with_options(name, message_type, endpoint.qos, options);
            let publisher = Box::new(publisher?);
            let memory = memory.count(publisher.memory_bytes());
            return Ok(Entity::Publisher(publisher, memory));
        }
        Plan::Reader(endpoint) => {
            let (name, message_type) = (&endpoint.topic.name, endpoint.message_type.clone());
            Source::Subscription(node.create_generic_subscription(name, message_type, endpoint.qos)?)
        }
        Plan::Requester(service) => {
            let mut client = node.create_generic_client(&service.name, service.service_type.clone())?;
            client.set_requires_server(false); // as in ROS 2; the agent tracks the requests itself
            client.set_max_blocking_time(Duration::ZERO); // this thread serves other clients as well
            let memory = memory.count(client.memory_bytes());
            Source::Requester(Box::new(Requester::new(client)), memory)
        }
        Plan::Replier(service) => {
            let service = node.create_generic_service(&service.name, service.service_type.clone())?;
            let memory = memory.count(service.memory_bytes());
            Source::Service(service, memory)
        }
    };
    Ok(Entity::Outlet(Box::new(Outlet::new(source))))
}

impl Plan {
    /// A sentence about a new object for the log.
    fn sentence(&self) -> Option<String> {
        Some(match self {
            Self::Participant { domain_id, namespace, name } => {
                let namespace = namespace.trim_end_matches('/');
                format!("is node {namespace}/{name} in domain {domain_id}")
            }
            Self::Topic { .. } | Self::Group => return None,
            Self::Writer(Endpoint { topic, message_type, .. }) => {
                format!("publishes {} ({})", topic.name, message_type.name)
            }
            Self::Reader(Endpoint { topic, message_type, .. }) => {
                format!("subscribes to {} ({})", topic.name, message_type.name)
            }
            Self::Requester(service) => format!("asks service {} ({})", service.name, service.service_type.name),
            Self::Replier(service) => format!("serves {} ({})", service.name, service.service_type.name),
        })
    }
}

/// The node of a participant and the listener of its domain. `owner` is the participant, or one of its publishers or
/// subscribers.
fn node_of(objects: &Objects, owner: ObjectId) -> Option<(&Node, &Arc<DomainListener>)> {
    let object = objects.get(owner)?;
    let entity = match &object.entity {
        Entity::Node(..) => &object.entity,
        _ => &objects.get(object.owner)?.entity,
    };
    match entity {
        Entity::Node(node, domain) => Some((node, domain.listener()?)),
        _ => None,
    }
}
