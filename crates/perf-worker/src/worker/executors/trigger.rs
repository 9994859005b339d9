//! The trigger of a publisher without a timer. The publisher publishes as soon as each of its input topics has had a
//! message since the last publish. Of several messages on one topic, only the last counts, as in a node that keeps only
//! the newest message.

use std::sync::{Arc, Mutex, PoisonError};

use super::{origin::Origin, sender::Sender};
use crate::{
    backend::Taken,
    endpoint::{ChainLink, Endpoint, EndpointPlan},
};

/// The trigger of a publisher. The callbacks of the input subscriptions share it.
pub struct Trigger {
    sender: Arc<Sender>,
    inputs: Vec<Endpoint>,
    links: Vec<ChainLink>,
    arrived: Mutex<Arrived>,
}

/// The messages that have arrived since the last publish.
struct Arrived {
    /// For each input (a subscription of the node): whether a message has arrived since the last publish.
    inputs: Vec<bool>,
    /// For each input: the origins of its last message, one for each chain.
    origins: Vec<Vec<Option<Origin>>>,
    /// The origins of the message that is being published, one for each chain.
    merged: Vec<Option<Origin>>,
}

impl Trigger {
    /// Creates the trigger of the publisher in `sender`.
    pub fn new(plan: &EndpointPlan, sender: Arc<Sender>) -> Trigger {
        let (inputs, links) = (plan.triggers.clone(), plan.chains.clone());
        let none = vec![None; links.len()];
        let arrived =
            Arrived { inputs: vec![false; inputs.len()], origins: vec![none.clone(); inputs.len()], merged: none };
        Trigger { sender, inputs, links, arrived: Mutex::new(arrived) }
    }

    /// Whether `subscription` is an input of the trigger.
    pub fn has(&self, subscription: Endpoint) -> bool {
        self.inputs.contains(&subscription)
    }

    /// Records a message of `subscription`, and publishes if all inputs now have a message. `links` are the chains to
    /// which the subscription belongs.
    pub fn taken(&self, subscription: Endpoint, links: &[ChainLink], taken: &Taken<'_>) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let Arrived { inputs, origins, merged } = &mut *arrived;
        for ((input, has_come), of_input) in self.inputs.iter().zip(inputs.iter_mut()).zip(origins.iter_mut()) {
            if *input != subscription {
                continue;
            }
            *has_come = true;
            for (own, origin) in self.links.iter().zip(of_input) {
                let link = links.iter().find(|link| link.slot == own.slot);
                *origin = link.and_then(|link| Origin::read(taken, link));
            }
        }
        if !inputs.iter().all(|has_come| *has_come) {
            return;
        }
        inputs.fill(false);
        for (index, origin) in merged.iter_mut().enumerate() {
            let of_inputs = origins.iter().filter_map(|of_input| of_input.get(index).copied().flatten());
            *origin = of_inputs.reduce(Origin::merge);
        }
        self.sender.triggered(merged);
    }
}
