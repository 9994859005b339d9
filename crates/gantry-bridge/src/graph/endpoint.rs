//! The description of an endpoint, for local endpoints and endpoints of the network.

use gantry::Qos;
use std::fmt;

/// The kind of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
    /// A server of a service.
    Server,
    /// A client of a service.
    Client,
}

/// An endpoint of a topic or a service, without its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The sort.
    pub kind: Kind,
    /// The full name of the topic or the service.
    pub name: String,
    /// The ROS 2 name of the type of the topic or the service.
    pub type_name: String,
    /// The hash of the type; zeros if it is unknown.
    pub hash: [u8; 32],
    /// The QoS.
    pub qos: Qos,
}

impl Kind {
    /// True if the endpoint belongs to a service.
    #[must_use]
    pub fn is_of_service(self) -> bool {
        matches!(self, Kind::Server | Kind::Client)
    }

    /// The kind that can be matched with this kind.
    #[must_use]
    pub fn other_end(self) -> Kind {
        match self {
            Kind::Publisher => Kind::Subscription,
            Kind::Subscription => Kind::Publisher,
            Kind::Server => Kind::Client,
            Kind::Client => Kind::Server,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Publisher => "publisher",
            Kind::Subscription => "subscription",
            Kind::Server => "server",
            Kind::Client => "client",
        })
    }
}
