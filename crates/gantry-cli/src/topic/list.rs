//! `gantry topic list`.

use crate::session::Session;
use clap::Args;
use gantry::printable;
use gantry_command::Result;
use gantry_shm::Role;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Show the types, too
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of topics
    #[arg(short, long)]
    count_topics: bool,
    /// Show hidden topics, too: a part of their names begins with an underscore
    #[arg(long)]
    include_hidden_topics: bool,
    /// List published and subscribed topics with their types and the number of endpoints
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum List {
    Count(usize),
    Names(Vec<String>),
    Types(Vec<Topic>),
    Verbose(Vec<CountedTopic>),
}

#[derive(Serialize)]
struct Topic {
    name: String,
    types: Vec<String>,
}

#[derive(Serialize)]
struct CountedTopic {
    #[serde(flatten)]
    topic: Topic,
    publishers: usize,
    subscribers: usize,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let topics = domain.topics(self.include_hidden_topics)?;
        let list = if self.count_topics {
            List::Count(topics.len())
        } else if self.verbose {
            let endpoints = domain.endpoints(None)?;
            let counted = topics.into_iter().map(|(name, types)| {
                let count = |role| endpoints.iter().filter(|end| end.topic == name && end.role == role).count();
                let (publishers, subscribers) = (count(Role::Publisher), count(Role::Subscription));
                CountedTopic { topic: Topic { name, types }, publishers, subscribers }
            });
            List::Verbose(counted.collect())
        } else if self.show_types {
            List::Types(topics.into_iter().map(|(name, types)| Topic { name, types }).collect())
        } else {
            List::Names(topics.into_keys().collect())
        };
        session.output.print(&list)
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            List::Count(count) => writeln!(f, "{count}"),
            List::Names(names) => names.iter().try_for_each(|name| writeln!(f, "{}", printable(name, &[]))),
            List::Types(topics) => topics.iter().try_for_each(|topic| writeln!(f, "{topic}")),
            List::Verbose(topics) => {
                write_counted(f, "Published", "publisher", topics, |topic| topic.publishers)?;
                write_counted(f, "Subscribed", "subscriber", topics, |topic| topic.subscribers)
            }
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", printable(&self.name, &[]), printable(&self.types.join(", "), &[]))
    }
}

/// Writes the topics that have endpoints of one kind (publishers or subscriptions), and an empty line after them.
fn write_counted(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    noun: &str,
    topics: &[CountedTopic],
    count: impl Fn(&CountedTopic) -> usize,
) -> fmt::Result {
    writeln!(f, "{title} topics:")?;
    for topic in topics.iter().filter(|topic| count(topic) > 0) {
        let (number, plural) = (count(topic), if count(topic) == 1 { "" } else { "s" });
        writeln!(f, " * {} {number} {noun}{plural}", topic.topic)?;
    }
    writeln!(f)
}
