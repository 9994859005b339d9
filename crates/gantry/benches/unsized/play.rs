//! The other process, which answers the messages of the ping-pongs.
//!
//! The input lines of this process are `meet`, `turn PLACE TOUCH` and `end` (`peer`).

use crate::{
    Result,
    cpus::Cpus,
    hop::{self, Hop, Side},
    peer::{self, Role},
    touch::Touch,
};
use std::io::Write;

/// Executes the input lines until `end`.
pub fn play(words: &[String]) -> Result<()> {
    let role = Role::parse(words)?;
    let mut hops = hop::all(role.place.parse()?, Side::Pong, &role.cpus)?;
    Cpus::pin(&[role.cpus.second.unwrap_or(role.cpus.first)])?;
    role.play(|line, output| obey(line, &mut hops, output))
}

fn obey(line: &str, hops: &mut [Box<dyn Hop>], output: &mut dyn Write) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["meet"] => hops.iter_mut().try_for_each(|hop| hop.meet()),
        ["end"] => Ok(()),
        ["turn", place, touch] => {
            let touch = [Touch::Whole, Touch::Stamped].into_iter().find(|known| known.name() == touch);
            let (Some(hop), Some(touch)) = (hops.get_mut(place.parse::<usize>()?), touch) else {
                return Err(format!("there is no message for the line {line:?}").into());
            };
            peer::ready(output)?;
            hop.answer(touch)
        }
        _ => Err(format!("the line {line:?} of the benchmark is not understood").into()),
    }
}
