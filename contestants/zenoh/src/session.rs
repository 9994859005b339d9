//! The session of a worker.
//!
//! Sessions find each other by zenoh's scouting, restricted to the loopback interface. So a run needs no network, and
//! does not see zenoh programs on other hosts. Each domain has its own port; domain 0 has zenoh's default port.

use perf_worker::{
    backend::{self, Delivery, DeliveryKind, Publisher, Settings},
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};
use zenoh::{Config, Session, Wait};

use crate::{
    callback, channel,
    names::{EXPRESS, SHARED_MEMORY, is_on},
    publisher,
};

/// The configuration key of the setting [`SHARED_MEMORY`].
const SHARED_MEMORY_KEY: &str = "transport/shared_memory/enabled";
/// The multicast group of zenoh's scouting.
const SCOUTING_GROUP: &str = "224.0.0.224";
/// The port of zenoh's scouting in domain 0. The port of another domain is this port plus the domain's id.
const SCOUTING_PORT: u32 = 7446;

fn on_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// The session.
pub struct ZenohSession {
    session: Session,
    /// The options and settings that each endpoint applies.
    effective: Settings,
    delivery: DeliveryKind,
}

impl ZenohSession {
    /// Opens the session.
    ///
    /// # Errors
    /// The reason, as a sentence: the loopback interface has no address, or this version of zenoh refuses
    /// the configuration.
    pub fn open(spec: &RunSpec, delivery: DeliveryKind) -> Result<ZenohSession, String> {
        let scouting = format!("\"{SCOUTING_GROUP}:{}\"", SCOUTING_PORT + spec.domain_id);
        let shared_memory = is_on(spec, SHARED_MEMORY).to_string();
        let mut config = Config::default();
        for (key, value) in [
            ("mode", "\"peer\""),
            ("listen/endpoints", "[\"tcp/127.0.0.1:0\"]"),
            ("scouting/multicast/interface", "\"lo\""),
            ("scouting/multicast/address", &scouting),
            (SHARED_MEMORY_KEY, &shared_memory),
        ] {
            let inserted = config.insert_json5(key, value);
            inserted.map_err(|error| format!("zenoh does not accept {key} = {value}: {error}"))?;
        }
        let session = zenoh::open(config).wait();
        let session =
            session.map_err(|error| format!("zenoh cannot open a session on the loopback interface: {error}"))?;
        let enabled = session.config().get_typed(SHARED_MEMORY_KEY);
        let enabled: bool =
            enabled.map_err(|error| format!("zenoh does not report the value of {SHARED_MEMORY_KEY}: {error}"))?;
        let mut effective = spec.options();
        effective.insert("transport".to_owned(), "tcp".to_owned());
        effective.insert(SHARED_MEMORY.to_owned(), on_off(enabled));
        effective.insert(EXPRESS.to_owned(), on_off(is_on(spec, EXPRESS)));
        Ok(ZenohSession { session, effective, delivery })
    }
}

impl backend::Session for ZenohSession {
    fn effective(&self) -> Settings {
        self.effective.clone()
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        publisher::create(&self.session, spec, plan)
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        Ok(match self.delivery {
            DeliveryKind::Pull => Delivery::Pull(channel::create(&self.session, spec, plan)?),
            DeliveryKind::Push => Delivery::Push(callback::create(&self.session, spec, plan)),
        })
    }
}
