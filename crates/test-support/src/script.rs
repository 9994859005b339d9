//! Scripts that tests start as programs.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes an executable script. A child process writes the file: if this process wrote it, a child that another test
/// forks meanwhile would have it open for writing for a moment, and the kernel starts no such file (ETXTBSY).
pub fn write_script(path: &Path, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"cat >"$0" && chmod 755 "$0""#]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    shell.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success(), "cannot write {}", path.display());
}
