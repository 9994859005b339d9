//! The folder of the firmware, and the builds of its benchmark program.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{target::Target, variant::Variant};
use perf_test::common::error::Failure;

const PACKAGE: &str = "benchmark";
/// The name of the folder in Gantry's repository.
const FOLDER: &str = "firmware";
/// The largest number of cargo's errors that are shown.
const MOST_ERRORS: usize = 3;

/// Finds the folder of the firmware: the given folder, or the nearest folder `firmware` above the working directory or
/// above this program.
///
/// # Errors
/// [`Failure::Usage`], if the folder does not exist.
pub fn find(given: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let has_program = |folder: &Path| folder.join(PACKAGE).join("Cargo.toml").is_file();
    let begins: Vec<PathBuf> = [std::env::current_dir(), std::env::current_exe()].into_iter().flatten().collect();
    let above = begins.iter().flat_map(|path| path.ancestors()).map(|above| above.join(FOLDER));
    let mut folders: Vec<PathBuf> = given.clone().map_or_else(|| above.collect(), |folder| vec![folder]);
    folders.retain(|folder| has_program(folder));
    folders.into_iter().next().ok_or_else(|| {
        let begins: Vec<String> = begins.iter().map(|path| path.display().to_string()).collect();
        Failure::Usage(match given {
            Some(folder) => {
                format!("{} is not Gantry's folder of firmware: it has no {PACKAGE}/Cargo.toml", folder.display())
            }
            None => format!(
                "there is no folder {FOLDER}/{PACKAGE} above {}: the program that is measured is built from Gantry's repository. Run \
                 perf_test there, or give --firmware DIR",
                begins.join(" nor above ")
            ),
        })
    })
}

/// Builds a variant, and returns the path of the program. The next build overwrites the file.
///
/// # Errors
/// The reason, as a sentence: cargo is missing, or has reported errors.
pub fn build(folder: &Path, target: Target, variant: &Variant) -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args(["build", "--locked", "--release", "--message-format", "json-render-diagnostics"])
        .args(["--package", PACKAGE, "--target", target.triple()])
        .current_dir(folder)
        .envs(variant.environment())
        // These variables would replace the flags in the folder's cargo configuration, which are needed to link.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stdin(Stdio::null())
        // cargo has its own process group, so Ctrl-C does not reach it: the experiment ends after this build, with the
        // results so far.
        .process_group(0)
        .output()
        .map_err(|error| format!("cannot start cargo: {error}; install Rust from https://rustup.rs"))?;
    if !output.status.success() {
        let errors = errors(&String::from_utf8_lossy(&output.stderr));
        return Err(format!("cargo cannot build {PACKAGE} in {} ({}): {errors}", folder.display(), variant.title()));
    }
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let mut executables = messages.filter_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let is_program = message["reason"] == "compiler-artifact" && message["target"]["name"] == PACKAGE;
        message["executable"].as_str().filter(|_| is_program).map(PathBuf::from)
    });
    executables.next().ok_or_else(|| format!("cargo has built {PACKAGE}, and has not said where it is"))
}

/// The lines with errors in cargo's output; if there are none, the last line.
fn errors(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("error")).take(MOST_ERRORS).collect();
    if errors.is_empty() { lines.last().copied().unwrap_or("it says nothing").to_owned() } else { errors.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_cargo_are_one_line() {
        let output = "   Compiling benchmark\nerror[E0432]: no `X`\n  --> a.rs\nwarning: w\nerror: could not compile\n";
        assert_eq!(errors(output), "error[E0432]: no `X`; error: could not compile");
        assert_eq!(errors("a\n\nthe lock file needs to be updated\n"), "the lock file needs to be updated");
        assert_eq!(errors(""), "it says nothing");
    }
}
