//! Limits the files that the process may open, with Linux's Landlock. The process may read and write shared memory, and
//! read files of the system and of the configuration. So a bug in the code that reads from the network cannot expose
//! other files of the user.

use gantry_shm::shared_memory_directory;
use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};
use serde_json::Value;
use std::path::PathBuf;

/// The newest version of Landlock whose rights are restricted. On an older kernel, only the rights that it supports
/// are.
const VERSION: ABI = ABI::V5;
/// The folders that are needed for host names, certificates, properties of the machine, programs and libraries.
const SYSTEM: [&str; 7] = ["/etc", "/proc", "/run", "/sys", "/usr", "/dev/null", "/dev/urandom"];
/// Transports whose addresses are the paths of files that the session creates.
const LOCAL_TRANSPORTS: [&str; 2] = ["unixsock-stream/", "unixpipe/"];

/// Restricts this thread, and the threads that it starts later, to shared memory, the system's files, and the files
/// that `configuration` (JSON) contains. The network is not restricted, because peers send each other their addresses.
/// Returns true if the kernel supports this.
///
/// # Errors
/// The configuration contains a file that cannot be examined, or the kernel refuses the rules.
pub fn confine(configuration: &str) -> Result<bool, RulesetError> {
    let mut strings = Vec::new();
    collect_strings(&serde_json::from_str(configuration).unwrap_or_default(), &mut strings);
    let (made, read) = files(&strings);
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?.create()?;
    let written = [shared_memory_directory()].into_iter().chain(made);
    let read = SYSTEM.map(PathBuf::from).into_iter().chain(read);
    let status = ruleset
        .add_rules(path_beneath_rules(written, AccessFs::from_all(VERSION) & !AccessFs::Execute))?
        .add_rules(path_beneath_rules(read, AccessFs::ReadFile | AccessFs::ReadDir))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

fn collect_strings(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(string) => strings.push(string.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, strings)),
        Value::Object(fields) => fields.values().for_each(|value| collect_strings(value, strings)),
        _ => {}
    }
}

/// Returns the folders in which the session creates files, and the files that it reads.
fn files(strings: &[String]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut made, mut read) = (Vec::new(), Vec::new());
    for string in strings {
        match LOCAL_TRANSPORTS.iter().find_map(|transport| string.strip_prefix(transport)) {
            Some(address) => made.extend(PathBuf::from(address).parent().map(PathBuf::from)),
            None => read.extend(Some(PathBuf::from(string)).filter(|path| path.is_absolute() && path.exists())),
        }
    }
    (made, read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, thread};

    #[test]
    fn only_shared_memory_is_written_and_only_named_files_are_read() {
        let elsewhere = tempfile::tempdir().unwrap();
        let [certificate, secret] = ["certificate.pem", "secret"].map(|name| elsewhere.path().join(name));
        for file in [&certificate, &secret] {
            fs::write(file, "text").unwrap();
        }
        let shared = tempfile::tempdir_in(shared_memory_directory()).unwrap();
        let configuration = serde_json::json!({ "transport": { "tls": [certificate] } }).to_string();
        // Landlock restricts only this thread, not the other threads of the test program.
        let confined = thread::spawn(move || {
            if !confine(&configuration).unwrap() {
                println!("SKIPPED: this kernel has no Landlock");
                return;
            }
            let is_refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
            assert_eq!(fs::read_to_string(&certificate).unwrap(), "text");
            assert!(fs::read_to_string("/etc/passwd").is_ok());
            fs::write(shared.path().join("segment"), "bytes").unwrap();
            assert!(fs::read_to_string(&secret).is_err_and(is_refused));
            assert!(fs::write(&certificate, "other").is_err_and(is_refused));
            assert!(std::process::Command::new("/bin/true").status().is_err_and(is_refused));
        });
        confined.join().unwrap();
    }
}
