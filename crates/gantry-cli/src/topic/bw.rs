//! `gantry topic bw`: the bytes of messages that arrive here in a second.

use super::{hz::REPORT, source::Source, window::Sizes};
use crate::{cli::Session, error::Result, qos::QosOptions};
use clap::Args;
use std::time::Instant;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, as /image
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
        let (start, mut sizes) = (Instant::now(), Sizes::new(self.window as usize));
        let mut report = start + REPORT;
        while source.goes_on() {
            while let Some(sample) = source.next(Some(report))? {
                sizes.add(start.elapsed(), sample.bytes().len());
                if Instant::now() >= report {
                    break;
                }
            }
            report += REPORT;
            if let Some(bandwidth) = sizes.bandwidth(start.elapsed()) {
                session.output.print(&bandwidth)?;
            }
        }
        Ok(())
    }
}
