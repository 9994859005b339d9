//! `gantry topic find`.

use crate::{
    names::{self, Names},
    session::Session,
};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The type, such as std_msgs/msg/String
    topic_type: String,
    /// Print only the number of topics
    #[arg(short, long)]
    count_topics: bool,
    /// Show hidden topics, too: a part of their names begins with an underscore
    #[arg(long)]
    include_hidden_topics: bool,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let wanted = names::long_type(&self.topic_type, "msg");
        let mut topics = session.join()?.topics(self.include_hidden_topics)?;
        topics.retain(|_, types| types.contains(&wanted));
        session.output.print(&Names::new(topics.into_keys().collect(), self.count_topics))
    }
}
