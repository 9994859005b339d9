//! `gantry interface show`.

use super::is_service;
use crate::{known_types::KnownTypes, names, session::Session};
use clap::Args;
use gantry_command::{Failure, Result, message::TopicType};
use serde::Serialize;
use std::{fmt, io};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The type, such as std_msgs/msg/String; - reads it from standard input
    #[arg(name = "TYPE")]
    type_name: String,
}

#[derive(Serialize)]
struct Shown {
    name: String,
    definition: String,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let name = match self.type_name.as_str() {
            "-" => {
                let mut line = String::new();
                io::stdin().read_line(&mut line).map_err(Failure::new)?;
                line.trim().to_owned()
            }
            name => name.to_owned(),
        };
        let name = names::long_type(&name, "msg");
        let known = KnownTypes::new(&session.join()?)?;
        let definition = |name: &str| match known.get(name) {
            Some(found) => TopicType::new(found)?.definition(),
            None => Err(known.unknown("Unknown type", name)),
        };
        let definition = match known.get(&name) {
            None if is_service(&name) && known.interfaces().contains(name.as_str()) => {
                format!("{}---\n{}", definition(&format!("{name}_Request"))?, definition(&format!("{name}_Response"))?)
            }
            _ => definition(&name)?,
        };
        session.output.print(&Shown { name, definition })
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.definition)
    }
}
