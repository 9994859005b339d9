//! Lines on standard error. A closed pipe is no reason to end.

use std::{fmt::Display, io::Write};

/// A line for the user.
pub fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "gantry-bridge-rmw: {line}");
}
