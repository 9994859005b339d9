//! The machine for which the programs are built.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use serde::Serialize;

use perf_test::common::error::Failure;

/// The emulator that runs the board's programs.
pub const EMULATOR: &str = "qemu-system-arm";

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A Cortex-M3, which QEMU emulates.
    Thumbv7m,
    /// This machine. Its pointers are longer, and its stack also has the frames of its operating system.
    Host,
}

impl Target {
    /// The name of the target in rustc.
    #[must_use]
    pub fn triple(self) -> &'static str {
        match (self, cfg!(target_arch = "aarch64")) {
            (Target::Thumbv7m, _) => "thumbv7m-none-eabi",
            (Target::Host, false) => "x86_64-unknown-linux-gnu",
            (Target::Host, true) => "aarch64-unknown-linux-gnu",
        }
    }

    /// A description of the machine for the results.
    #[must_use]
    pub fn machine(self) -> String {
        match self {
            Target::Thumbv7m => format!("Cortex-M3 ({}, board mps2-an385 in QEMU)", self.triple()),
            Target::Host => format!("this host ({}), not a microcontroller", self.triple()),
        }
    }
}

/// The target of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Chosen {
    /// The target.
    pub target: Target,
    /// The reason why the target is not the Cortex-M3, if no target was requested.
    pub reason: Option<String>,
}

/// Chooses the requested target. Without a request, chooses the Cortex-M3 if its tools are installed, otherwise this
/// host. `folder` is the folder of the firmware.
///
/// # Errors
/// [`Failure::Usage`], if the Cortex-M3 was requested, but a tool for it is missing.
pub fn choose(wanted: Option<Target>, folder: &Path) -> Result<Chosen, Failure> {
    let missing = if wanted == Some(Target::Host) { None } else { missing(folder) };
    match (wanted, missing) {
        (Some(Target::Thumbv7m), Some(why)) => {
            Err(Failure::Usage(format!("{why}. --target host measures on this host")))
        }
        (Some(target), _) => Ok(Chosen { target, reason: None }),
        (None, None) => Ok(Chosen { target: Target::Thumbv7m, reason: None }),
        (None, reason) => Ok(Chosen { target: Target::Host, reason }),
    }
}

/// A sentence about the tool that the Cortex-M3 needs and that is missing, with the command that installs it.
fn missing(folder: &Path) -> Option<String> {
    let triple = Target::Thumbv7m.triple();
    let found =
        Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).current_dir(folder).output();
    let has_target = found.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout);
        output.status.success() && Path::new(path.trim()).is_dir()
    });
    if !has_target {
        return Some(format!("rustc has no target {triple} here: `rustup target add {triple}` installs it"));
    }
    let mut emulator = Command::new(EMULATOR);
    let answer = emulator.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has_emulator = answer.is_ok_and(|status| status.success());
    (!has_emulator).then(|| format!("{EMULATOR} is not installed: `sudo apt-get install qemu-system-arm` installs it"))
}
