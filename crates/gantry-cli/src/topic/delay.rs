//! `gantry topic delay`: measures the time from the stamps in the headers of messages to their arrival.

use super::{source::Source, window::Delays};
use crate::{qos::QosOptions, session::Session};
use clap::Args;
use gantry_command::{Failure, Result};
use gantry_dynamic::DynamicMessage;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /image; its messages need a std_msgs/msg/Header named `header`
    topic_name: String,
    /// The number of messages over which the delay is calculated
    #[arg(short, long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let Some(mut source) = Source::open(&domain, &self.topic_name, None, &QosOptions::default(), None)? else {
            return Ok(());
        };
        if source.topic_type.check_path("header.stamp.nanosec").is_err() {
            let why = "its messages have no header with a stamp";
            return Err(Failure::new(format!("the delay of {} is not known: {why}", source.topic)));
        }
        let clock = domain.node.clock();
        source.report_each_second(
            session.output,
            Delays::new(self.window as usize),
            |delays, topic_type, sample, _| {
                let now_ns = clock.now().as_nanos() as i128;
                delays.add(now_ns - stamp_ns(&topic_type.view(sample.bytes())?));
                Ok(())
            },
            |delays, _| delays.delay(),
        )
    }
}

fn stamp_ns(message: &DynamicMessage<'_>) -> i128 {
    let number = |path| message.get(path).and_then(|value| value.as_integer()).unwrap_or_default();
    number("header.stamp.sec") * 1_000_000_000 + number("header.stamp.nanosec")
}
