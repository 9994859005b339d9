//! Disks for tests of faults, such as small ones, which are full soon. Each is mounted in the mount namespace of its
//! recorder.

use crate::support::*;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// The command that makes a disk of 8 MiB in memory at the path `$1`.
pub const IN_MEMORY: &str = "mount -t tmpfs -o size=8m tmpfs \"$1\"";
/// The command that makes the folder read-only, for the user root, too.
pub const READ_ONLY: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";

/// The command that makes a disk of this size with direct writes at the path `$1`.
pub fn with_direct_writes(size: &str) -> String {
    let make = format!("truncate -s {size} \"$1.image\" && mkfs.ext4 -q -m 0 \"$1.image\"");
    format!("{make} && mount -o loop \"$1.image\" \"$1\"")
}

/// A command that runs the shell script with its arguments in a mount namespace of its own.
pub fn in_own_mounts(script: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", script, "sh"]).args(arguments);
    command
}

/// Starts a recorder with more `options` whose folder is on the disk that the command `mount` makes. At the end, the
/// folder is copied to `bag`. Also returns the path of the disk.
pub fn start_on_small_disk(
    mount: &str,
    (domain_id, options): (u32, &str),
    directory: &Path,
    bag: &Path,
) -> (Running, PathBuf) {
    let small = directory.join("small");
    fs::create_dir(&small).unwrap();
    let tried = run(&mut in_own_mounts(mount, &[text(&small)]));
    if tried.code != Some(0) {
        test_support::ignore(format!("this machine allows no small disk: {}", tried.err.trim()));
    }
    let script = format!(
        "{mount}; \"$2\" record --all --json --domain-id $4 {options} -o \"$1/bag\" & child=$!
         trap 'kill -INT $child' INT; wait $child; wait $child; cp -r \"$1/bag\" \"$3\""
    );
    let arguments = [text(&small), env!("CARGO_BIN_EXE_gantry-bag"), text(bag), &domain_id.to_string()];
    let recorder = start(&mut in_own_mounts(&script, &arguments));
    let seen_by_it = PathBuf::from(format!("/proc/{}/root{}", recorder.peer.child.id(), text(&small)));
    (recorder, seen_by_it)
}

/// Writes a file that fills the disk.
pub fn fill_disk(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    for bytes in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![1; bytes]).is_ok() {}
    }
}

/// A disk that takes no data until this value is dropped.
pub struct Frozen(PathBuf);

impl Frozen {
    pub fn new(disk: PathBuf) -> Frozen {
        let frozen = run(Command::new("fsfreeze").args(["-f", text(&disk)]));
        if frozen.code != Some(0) {
            test_support::ignore(format!("the disk cannot be frozen: {}", frozen.err.trim()));
        }
        Frozen(disk)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        assert_eq!(run(Command::new("fsfreeze").args(["-u", text(&self.0)])).err, "");
    }
}
