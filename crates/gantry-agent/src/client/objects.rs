//! The objects of a client.

use super::{
    outlet::{Outlet, Requester, Source},
    plan::{Endpoint, Plan, Refusal, node_of},
};
use crate::{
    context::{ClientCell, Context},
    listener::Listener,
};
use gantry::{GenericPublisher, Node, PublisherOptions};
use gantry_xrce::wire::{ClientKey, Create, Flags, ObjectId, StatusValue};
use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Arc, Weak},
    time::Duration,
};

/// The objects of a client, by their identifiers.
#[derive(Default)]
pub struct Objects(BTreeMap<ObjectKey, Object>);

/// An [`ObjectId`] with an order.
type ObjectKey = u16;

pub struct Object {
    pub plan: Plan,
    /// The participant, publisher or subscriber that it belongs to.
    pub owner: ObjectId,
    pub entity: Entity,
}

/// The entity that stands for an object in Gantry.
pub enum Entity {
    /// Of a participant, and the listener of its domain.
    Node(Node, Arc<Listener>),
    /// Of topics, publishers and subscribers: nothing.
    None,
    /// Of a data writer.
    Publisher(Box<GenericPublisher>),
    /// Of a data reader, requester or replier.
    Outlet(Box<Outlet>),
}

/// Where an object is created.
pub struct Site<'a> {
    pub context: &'a Arc<Context>,
    pub client: &'a Weak<ClientCell>,
    pub key: ClientKey,
}

impl Objects {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.0.get(&id.0)
    }

    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.0.get_mut(&id.0)
    }

    /// Does something with each outlet, beginning with those behind `after`.
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

    /// The outlet of that number.
    pub fn outlet(&mut self, number: u64) -> Option<&mut Outlet> {
        self.0.values_mut().find_map(|object| match &mut object.entity {
            Entity::Outlet(outlet) if outlet.number == number => Some(&mut **outlet),
            _ => None,
        })
    }

    /// Creates an object by the rules of REUSE and REPLACE. Returns its status, and a sentence if it is new.
    pub fn create(
        &mut self,
        flags: Flags,
        create: &Create<'_>,
        site: &Site<'_>,
    ) -> Result<(StatusValue, Option<String>), Refusal> {
        let (plan, owner) = Plan::new(create, self, &site.context.config, site.key)?;
        let id = ObjectId::new(create.request.object.number(), plan.kind(create.object.kind));
        if let Some(object) = self.get(id) {
            let (reuses, replaces) = (flags.has(Flags::REUSE), flags.has(Flags::REPLACE));
            let is_same = object.plan == plan && object.owner == owner;
            match () {
                () if reuses && is_same => return Ok((StatusValue::OK_MATCHED, None)),
                () if replaces => self.delete(id, site.context),
                () if reuses => {
                    let why = format!("object {:#06x} is another one than the one to reuse", id.0);
                    return Err(Refusal::new(StatusValue::MISMATCH, why));
                }
                () => {
                    let why = format!("object {:#06x} exists, and is neither reused nor replaced", id.0);
                    return Err(Refusal::new(StatusValue::ALREADY_EXISTS, why));
                }
            };
        }
        if self.len() >= site.context.config.limits.objects {
            let why = format!("the client has {} objects, the most that are allowed", self.len());
            return Err(Refusal::new(StatusValue::RESOURCES, why));
        }
        let sentence = plan.sentence();
        let entity = self.entity(&plan, id, owner, site)?;
        self.0.insert(id.0, Object { plan, owner, entity });
        Ok((StatusValue::OK, sentence))
    }

    fn entity(&self, plan: &Plan, id: ObjectId, owner: ObjectId, site: &Site<'_>) -> Result<Entity, Refusal> {
        if let Plan::Participant { domain_id, namespace, name } = plan {
            let node = Node::builder(name)
                .namespace(namespace)
                .domain_id(*domain_id)
                .use_global_arguments(false)
                .start_parameter_services(false)
                .build()?;
            let listener = site.context.listener(&node).map_err(|why| Refusal::new(StatusValue::RESOURCES, why))?;
            return Ok(Entity::Node(node, listener));
        }
        if matches!(plan, Plan::Topic { .. } | Plan::Group) {
            return Ok(Entity::None);
        }
        let Some((node, listener)) = node_of(self, owner) else {
            return Err(Refusal::unknown("the participant of object", id));
        };
        let source = match plan {
            Plan::Participant { .. } | Plan::Topic { .. } | Plan::Group => return Ok(Entity::None),
            Plan::Writer(endpoint) => {
                // The agent has other clients: it never waits for a slow reader.
                let options = PublisherOptions {
                    max_blocking_time: Duration::ZERO,
                    max_memory_bytes: Some(site.context.config.limits.writer_bytes),
                    ..Default::default()
                };
                let (name, message_type) = (&endpoint.topic.name, endpoint.message_type.clone());
                let publisher = node.create_generic_publisher_with_options(name, message_type, endpoint.qos, options);
                return Ok(Entity::Publisher(Box::new(publisher?)));
            }
            Plan::Reader(endpoint) => {
                let (name, message_type) = (&endpoint.topic.name, endpoint.message_type.clone());
                let subscription = node.create_generic_subscription(name, message_type, endpoint.qos);
                Source::Subscription(subscription?)
            }
            Plan::Requester(service) => {
                let client = node.create_generic_client(&service.name, service.service_type.clone());
                let mut client = client?;
                client.set_requires_server(false); // ROS 2's rule; the agent follows the requests itself
                client.set_max_blocking_time(Duration::ZERO); // it has other clients
                Source::Requester(Box::new(Requester::new(client)))
            }
            Plan::Replier(service) => {
                let server = node.create_generic_service(&service.name, service.service_type.clone());
                Source::Service(server?)
            }
        };
        let outlet = Outlet::new(listener.next_number(), source);
        listener.add(outlet.number, site.client.clone());
        Ok(Entity::Outlet(Box::new(outlet)))
    }

    /// Deletes an object and those that belong to it. Returns whether it was there.
    pub fn delete(&mut self, id: ObjectId, context: &Context) -> bool {
        let Some(object) = self.0.remove(&id.0) else { return false };
        if let Entity::Outlet(outlet) = &object.entity {
            context.forget(outlet.number);
        }
        let owned: Vec<ObjectId> =
            self.0.iter().filter(|(_, object)| object.owner == id).map(|(&owned, _)| ObjectId(owned)).collect();
        // An owner is a participant, a publisher or a subscriber, so this ends after three levels.
        owned.into_iter().for_each(|owned| {
            self.delete(owned, context);
        });
        true
    }

    /// Deletes all objects.
    pub fn clear(&mut self, context: &Context) {
        self.outlets().for_each(|outlet| context.forget(outlet.number));
        self.0.clear();
    }
}

impl Plan {
    /// The sentence about a new object that the log has.
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
