//! `gantry service`.

mod call;
mod explain;
mod info;
mod list;

use crate::{cli::Session, error::Result};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the services
    List(list::Arguments),
    /// Show the type of a service, and the number of its clients and servers
    Info(info::Arguments),
    /// Call a service and print the response
    Call(call::Arguments),
    /// Say of each client and server whether they are connected, or why not
    Explain(explain::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::List(arguments) => arguments.run(session),
            Command::Info(arguments) => arguments.run(session),
            Command::Call(arguments) => arguments.run(session),
            Command::Explain(arguments) => arguments.run(session),
        }
    }
}

/// The half of a service that a topic is.
#[derive(Debug, PartialEq)]
pub struct ServiceTopic<'a> {
    /// The full name of the service.
    pub name: &'a str,
    /// Whether it carries the requests, not the responses.
    pub is_request: bool,
}

/// The service of a topic, by ROS 2's names: `rq/addRequest` and `rr/addReply` of `/add`, the latter also with a client behind
/// a `#`; `None` for other topics.
pub fn service_of_topic(topic: &str) -> Option<ServiceTopic<'_>> {
    let topic = topic.split_once('#').map_or(topic, |(topic, _client)| topic);
    let inside = |prefix: &str, suffix: &str| topic.strip_prefix(prefix)?.strip_suffix(suffix);
    let half = |name, is_request| ServiceTopic { name, is_request };
    let request = inside("rq", "Request").map(|name| half(name, true));
    request.or_else(|| inside("rr", "Reply").map(|name| half(name, false))).filter(|half| half.name.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_services_are_recognised() {
        let half = |name, is_request| Some(ServiceTopic { name, is_request });
        assert_eq!(service_of_topic("rq/getReplyRequest"), half("/getReply", true));
        assert_eq!(service_of_topic("rr/getReplyReply"), half("/getReply", false));
        assert_eq!(service_of_topic("rr/addReply#a7a7"), half("/add", false));
        assert_eq!(service_of_topic("/rq/addRequest"), None);
    }
}
