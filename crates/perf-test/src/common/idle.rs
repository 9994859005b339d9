//! The guard that keeps CPUs out of deep sleep during runs (`--prevent-cpu-idle`, and `compare conditions`).
//!
//! A CPU in deep sleep needs up to hundreds of microseconds to wake up. This time would be part of the measured
//! latency, although the CPUs of a busy robot do not sleep deeply. A process sets a bound on the wake-up time through
//! `/dev/cpu_dma_latency`. The kernel drops the bound when the file is closed, even if the process is killed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

const DEVICE: &str = "/dev/cpu_dma_latency";

/// A guard that keeps all CPUs of this machine out of deep sleep while it exists.
#[derive(Debug)]
pub struct Awake {
    _device: File,
}

impl Awake {
    /// Opens the kernel's device file and sets the bound to 0 µs.
    ///
    /// # Errors
    /// The reason, as a sentence: the machine has no such device, or this user may not use it.
    pub fn hold() -> Result<Awake, String> {
        Awake::hold_by(Path::new(DEVICE), 0).map_err(|error| {
            format!(
                "--prevent-cpu-idle: {error}. Without it: boot with `cpuidle.off=1`, disable deep states with `sudo cpupower \
                 idle-set -D 0`, or keep the readers' CPUs busy with `--wait spin`"
            )
        })
    }

    /// Opens the given device file and sets the bound on the wake-up time of CPUs to `limit_us` microseconds.
    ///
    /// # Errors
    /// See [`Awake::hold`].
    pub fn hold_by(device: &Path, limit_us: i32) -> Result<Awake, String> {
        let mut file = OpenOptions::new().write(true).open(device).map_err(|error| refused(device, &error))?;
        // The number is written in binary, because the kernel reads a text as hexadecimal.
        file.write_all(&limit_us.to_ne_bytes()).map_err(|error| refused(device, &error))?;
        Ok(Awake { _device: file })
    }
}

fn refused(device: &Path, error: &std::io::Error) -> String {
    let device = device.display();
    let way = match error.kind() {
        ErrorKind::PermissionDenied => {
            format!("run as root, or allow it until the next boot: sudo chmod o+rw {device}")
        }
        ErrorKind::NotFound => format!("a container needs it passed in: --device {device}"),
        _ => "the kernel refused the bound".to_owned(),
    };
    format!("CPUs cannot be kept awake through {device}: {error} ({way})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_written_in_binary() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let _held = Awake::hold_by(file.path(), 0).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), [0; 4]);
    }

    #[test]
    fn the_error_names_the_reason_and_the_way() {
        let sentence = Awake::hold_by(Path::new("/nowhere/cpu_dma_latency"), 0).unwrap_err();
        for part in ["/nowhere/cpu_dma_latency", "No such file", "--device"] {
            assert!(sentence.contains(part), "{part} is not in: {sentence}");
        }
        let denied = refused(Path::new(DEVICE), &std::io::Error::from(ErrorKind::PermissionDenied));
        assert!(denied.contains("root") && denied.contains("chmod"), "{denied}");
    }
}
