//! `gantry topic hz`: measures the rate at which messages arrive.

use super::{source::Source, window::Periods};
use crate::{qos::QosOptions, session::Session};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter
    topic_name: String,
    /// The number of messages over which the rate is calculated
    #[arg(short, long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let Some(mut source) = Source::open(&domain, &self.topic_name, None, &QosOptions::default(), None)? else {
            return Ok(());
        };
        source.report_each_second(
            session.output,
            Periods::new(self.window as usize),
            |periods, _, _, time| {
                periods.add(time);
                Ok(())
            },
            |periods, _| periods.rate(),
        )
    }
}
