//! The other process of the benchmark. It builds its side of every variant, and answers the measuring process in each
//! turn.
//!
//! This process reads the lines `build`, `meet`, `turn INDEX COUNT` and `end` from its standard input (`peer`). When it
//! ends, for any reason, it removes the files of both processes.

use crate::{
    Result,
    contestant::{Contestant, Side},
    cpus::Cpus,
    peer::{self, Role},
    root::Root,
    variant::{self, Variant},
};
use std::io::Write;

/// Answers the measuring process until the line `end`.
pub fn play(words: &[String]) -> Result<()> {
    let role = Role::parse(words)?;
    let root = Root::at(&role.place);
    let (mut built, variants) = (Vec::new(), variant::usable(&role.cpus));
    role.play(|line, output| serve(line, &root, &role.cpus, &variants, &mut built, output))
}

fn serve(
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
            for (index, variant) in variants.iter().enumerate() {
                built.push(variant.build(root, index, cpus, Side::Pong)?);
            }
            Ok(())
        }
        ["meet"] => built.iter_mut().try_for_each(|contestant| contestant.meet()),
        ["end"] => {
            built.clear();
            Ok(())
        }
        ["turn", index, count] => {
            let (index, count): (usize, usize) = (index.parse()?, count.parse()?);
            let (Some(variant), Some(contestant)) = (variants.get(index), built.get_mut(index)) else {
                return Err(format!("there is no variant {index}").into());
            };
            Cpus::pin(&[variant.cpu(cpus, Side::Pong)])?;
            peer::ready(output)?;
            contestant.answer(count)
        }
        _ => Err(format!("unknown line {line:?} from the benchmark").into()),
    }
}
