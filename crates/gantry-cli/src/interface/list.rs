//! `gantry interface list`.

use super::{Kinds, is_service};
use crate::{known_types::KnownTypes, session::Session};
use clap::Args;
use gantry_command::Result;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    kinds: Kinds,
}

/// The names of types of one kind; `None` if that kind is not listed.
#[derive(Serialize)]
struct List {
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    services: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<String>>,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let known = KnownTypes::new(&session.join()?)?;
        let (services, messages): (Vec<String>, Vec<String>) =
            known.interfaces().into_iter().map(str::to_owned).partition(|name| is_service(name));
        let [with_messages, with_services, with_actions] = self.kinds.shown();
        session.output.print(&List {
            messages: with_messages.then_some(messages),
            services: with_services.then_some(services),
            actions: with_actions.then(Vec::new),
        })
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, names) in [("Messages", &self.messages), ("Services", &self.services), ("Actions", &self.actions)] {
            let Some(names) = names else { continue };
            writeln!(f, "{title}:")?;
            names.iter().try_for_each(|name| writeln!(f, "    {name}"))?;
        }
        Ok(())
    }
}
