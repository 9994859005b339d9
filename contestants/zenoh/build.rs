//! Passes the version of zenoh in the lock file to the program.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock")?;
    let mut after = lock.lines().skip_while(|line| *line != "name = \"zenoh\"");
    let version = after.nth(1).and_then(|line| line.strip_prefix("version = ")).ok_or("Cargo.lock has no zenoh")?;
    println!("cargo::rustc-env=ZENOH_VERSION={}", version.trim_matches('"'));
    Ok(())
}
