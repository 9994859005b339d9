//! `gantry topic echo`.

use super::source::{Source, never_published};
use crate::{number::positive_seconds, qos::QosOptions, session::Session};
use clap::Args;
use gantry_command::{
    Failure, Result,
    message::{Printed, field},
    say,
};
use gantry_dynamic::Yaml;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter
    topic_name: String,
    /// The type, such as std_msgs/msg/String; another type on the topic is then an error
    message_type: Option<String>,
    /// End after the first message
    #[arg(long)]
    once: bool,
    /// End after N seconds; if no message arrived by then, the exit code is 1
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_seconds)]
    timeout: Option<Duration>,
    /// Print one field only, such as pose.pose.position or ranges[0]
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// Print only messages that match a DDS filter expression, such as "range_max > 0.5 AND name LIKE 'front%'"
    #[arg(long, value_name = "EXPRESSION")]
    filter: Option<String>,
    /// Print all elements of arrays and all characters of strings
    #[arg(short, long)]
    full_length: bool,
    /// Print at most N elements and characters
    #[arg(short = 'l', long, value_name = "N", default_value_t = 128)]
    truncate_length: usize,
    /// Print only type and length of arrays and sequences
    #[arg(long)]
    no_arr: bool,
    /// Print only the length of strings
    #[arg(long)]
    no_str: bool,
    /// Do not report lost messages
    #[arg(long)]
    no_lost_messages: bool,
    #[command(flatten)]
    qos: QosOptions,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let (name, timeout) = (&self.topic_name, self.timeout);
        let Some(mut source) = Source::open(&domain, name, self.message_type.as_deref(), &self.qos, timeout)? else {
            return match timeout.filter(|_| gantry::ok()) {
                Some(timeout) => Err(never_published(&domain, name, timeout)?),
                None => Ok(()),
            };
        };
        if let Some(path) = &self.field {
            source.topic_type.check_path(path)?;
        }
        let filter = self.filter.as_deref().map(|expression| source.topic_type.filter(expression)).transpose()?;
        let yaml = Yaml {
            truncate_length: (!self.full_length).then_some(self.truncate_length),
            no_arrays: self.no_arr,
            no_strings: self.no_str,
        };
        let (mut count, mut refused, mut lost) = (0u64, 0u64, 0);
        while let Some(sample) = source.next(None)? {
            let message = match source.topic_type.view(sample.bytes()) {
                Ok(message) => message,
                Err(malformed) => {
                    source.pass_over(&sample, &malformed);
                    continue;
                }
            };
            if filter.as_ref().is_some_and(|filter| !filter.matches(&message)) {
                refused += 1;
                continue;
            }
            let value = match &self.field {
                None => gantry_dynamic::Value::Message(message),
                Some(path) => match field(&message, path) {
                    Some(value) => value,
                    None => {
                        say(format_args!("Invalid field '{path}': this message has no such element"));
                        continue;
                    }
                },
            };
            session.output.print_contents(&Printed { value, yaml })?;
            count += 1;
            if self.once {
                break;
            }
            if !self.no_lost_messages && source.lost() > lost {
                say(format_args!(
                    "A message was lost!!!\n\ttotal count change:{}\n\ttotal count: {}",
                    source.lost() - lost,
                    source.lost()
                ));
                lost = source.lost();
            }
        }
        match timeout.filter(|_| count == 0 && gantry::ok()) {
            Some(timeout) if refused > 0 => Err(Failure::new(format!(
                "no message of {} passed the filter within {} s: {refused} came",
                source.topic,
                timeout.as_secs_f64()
            ))),
            Some(timeout) => Err(source.nothing_came(timeout.as_secs_f64())),
            None => Ok(()),
        }
    }
}
