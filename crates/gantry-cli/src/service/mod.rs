//! `gantry service`.

mod call;
mod explain;
mod find;
mod info;
mod list;
mod type_name;

use crate::session::Session;
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the services
    List(list::Arguments),
    /// Show the type of a service, and the number of its clients and servers
    Info(info::Arguments),
    /// Print the type of a service
    Type(type_name::Arguments),
    /// List the services of a type
    Find(find::Arguments),
    /// Call a service and print the response
    Call(call::Arguments),
    /// Explain for each client and server whether they are connected, or why not
    Explain(explain::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::List(arguments) => arguments.run(session),
            Command::Info(arguments) => arguments.run(session),
            Command::Type(arguments) => arguments.run(session),
            Command::Find(arguments) => arguments.run(session),
            Command::Call(arguments) => arguments.run(session),
            Command::Explain(arguments) => arguments.run(session),
        }
    }
}

/// Whether a topic carries the requests or responses of a service: in ROS 2, the topics of the service `/add` are
/// `rq/addRequest` and `rr/addReply`. The names of other topics begin with a slash.
pub fn is_of_service(topic: &str) -> bool {
    topic.starts_with("rq/") || topic.starts_with("rr/")
}

/// Whether a topic carries the replies to one client that is gone. The name of such a topic is, for example,
/// `rr/addReply#` and digits, and the topic has no readers.
pub fn is_of_gone_client(topic: &str, readers: usize) -> bool {
    readers == 0 && is_of_service(topic) && topic.contains('#')
}

/// ROS 2's services for the parameters of a node. Their full names begin with the node's name.
const PARAMETER_SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameters",
    "get_parameter_types",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

/// The full name of the node whose parameter service has this topic; `None` for other topics.
pub fn parameter_node(topic: &str) -> Option<&str> {
    let requests = topic.strip_prefix("rq").and_then(|rest| rest.strip_suffix("Request"));
    let service = requests.or_else(|| topic.strip_prefix("rr")?.strip_suffix("Reply"))?;
    let (node, name) = service.rsplit_once('/')?;
    (!node.is_empty() && PARAMETER_SERVICES.contains(&name)).then_some(node)
}
