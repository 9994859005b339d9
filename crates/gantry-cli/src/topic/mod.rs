//! `gantry topic`.

mod bw;
mod delay;
mod echo;
mod endpoint;
mod explain;
mod find;
mod hz;
mod info;
mod list;
mod publish;
mod source;
mod type_name;
mod window;

use crate::session::Session;
use clap::Subcommand;
use gantry_command::Result;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the topics
    List(list::Arguments),
    /// Show the type of a topic, its publishers and its subscriptions
    Info(info::Arguments),
    /// Print the type of a topic
    Type(type_name::Arguments),
    /// List the topics of a type
    Find(find::Arguments),
    /// Print the messages of a topic
    Echo(echo::Arguments),
    /// Print the average rate of a topic, each second
    Hz(hz::Arguments),
    /// Print the bandwidth of a topic, each second
    Bw(bw::Arguments),
    /// Print, each second, the average delay between the stamps in message headers and the arrival of the messages
    Delay(delay::Arguments),
    /// Publish messages on a topic
    Pub(publish::Arguments),
    /// Explain for each publisher and subscription whether they are connected, or why not
    Explain(explain::Arguments),
}

impl Command {
    pub fn run(self, session: Session) -> Result<()> {
        match self {
            Command::List(arguments) => arguments.run(session),
            Command::Info(arguments) => arguments.run(session),
            Command::Type(arguments) => arguments.run(session),
            Command::Find(arguments) => arguments.run(session),
            Command::Echo(arguments) => arguments.run(session),
            Command::Hz(arguments) => arguments.run(session),
            Command::Bw(arguments) => arguments.run(session),
            Command::Delay(arguments) => arguments.run(session),
            Command::Pub(arguments) => arguments.run(session),
            Command::Explain(arguments) => arguments.run(session),
        }
    }
}
