//! `gantry topic bw`: measures the bytes of messages that arrive per second.

use super::{source::Source, window::Sizes};
use crate::{qos::QosOptions, session::Session};
use clap::Args;
use gantry_command::Result;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /image
    topic: String,
    /// The number of messages over which the bandwidth is calculated
    #[arg(short, long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let Some(mut source) = Source::open(&domain, &self.topic, None, &QosOptions::default(), None)? else {
            return Ok(());
        };
        session.output.remark(&format!("Subscribed to [{}]", source.topic))?;
        source.report_each_second(
            session.output,
            Sizes::new(self.window as usize),
            |sizes, _, sample, time| {
                sizes.add(time, sample.bytes().len());
                Ok(())
            },
            |sizes, time| sizes.bandwidth(time),
        )
    }
}
