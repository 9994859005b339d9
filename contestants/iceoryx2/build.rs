//! Passes the version of iceoryx2 in the lock file to the program.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock")?;
    let mut after = lock.lines().skip_while(|line| *line != "name = \"iceoryx2\"");
    let version = after.nth(1).and_then(|line| line.strip_prefix("version = ")).ok_or("Cargo.lock has no iceoryx2")?;
    println!("cargo::rustc-env=ICEORYX2_VERSION={}", version.trim_matches('"'));
    Ok(())
}
