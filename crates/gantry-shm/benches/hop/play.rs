//! The other process: it builds its side of every variant and answers in turn.
//!
//! Lines are `build`, `meet`, `turn PLACE COUNT` and `end` (`peer`). However it ends, it removes what both made.

use crate::{
    Result,
    contestant::{Contestant, Side},
    cpus::Cpus,
    peer::{self, Role},
    root::Root,
    variant::{self, Variant},
};
use std::io::Write;

/// Until it is told to end.
pub fn play(words: &[String]) -> Result<()> {
    let role = Role::parse(words)?;
    let root = Root::at(&role.place);
    let (mut built, variants) = (Vec::new(), variant::usable(&role.cpus));
    role.play(|line, output| obey(line, &root, &role.cpus, &variants, &mut built, output))
}

fn obey(
    line: &str,
    root: &Root,
    cpus: &Cpus,
    variants: &[Variant],
    built: &mut Vec<Box<dyn Contestant>>,
    output: &mut dyn Write,
) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["build"] => {
            for (place, variant) in variants.iter().enumerate() {
                built.push(variant.build(root, place, cpus, Side::Pong)?);
            }
            Ok(())
        }
        ["meet"] => built.iter_mut().try_for_each(|contestant| contestant.meet()),
        ["end"] => {
            built.clear();
            Ok(())
        }
        ["turn", place, count] => {
            let (place, count): (usize, usize) = (place.parse()?, count.parse()?);
            let (Some(variant), Some(contestant)) = (variants.get(place), built.get_mut(place)) else {
                return Err(format!("there is no variant {place}").into());
            };
            Cpus::pin(&[variant.cpu(cpus, Side::Pong)])?;
            peer::ready(output)?;
            contestant.answer(count)
        }
        _ => Err(format!("the benchmark said {line:?}, which means nothing").into()),
    }
}
