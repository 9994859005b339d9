//! Limits the files that the process may open, with Linux's Landlock. The process may read and write shared memory, and
//! read files of the system and of the configuration. It may not send signals to other processes, nor connect to local
//! sockets of other programs. So a bug in the code that reads from the network cannot reach other files and programs of
//! the user.

use gantry_shm::shared_memory_directory;
use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use serde_json::Value;
use std::path::PathBuf;

/// The newest version of Landlock whose rights are restricted. On an older kernel, only the rights that it supports
/// are: signals and abstract sockets from version 6 on (Linux 6.12), sockets in files from version 9 on.
const VERSION: ABI = ABI::V9;
/// The folders that are needed for host names, certificates, properties of the machine, programs and libraries.
const SYSTEM: [&str; 7] = ["/etc", "/proc", "/run", "/sys", "/usr", "/dev/null", "/dev/urandom"];
/// The folders with the sockets of the daemons that resolve host names.
const NAME_SERVICES: [&str; 2] = ["/run/nscd", "/run/systemd/resolve"];
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
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?;
    let ruleset = ruleset.scope(Scope::from_all(VERSION))?.create()?;
    let written = [shared_memory_directory()].into_iter().chain(made);
    let read = SYSTEM.map(PathBuf::from).into_iter().chain(read);
    let status = ruleset
        .add_rules(path_beneath_rules(written, AccessFs::from_all(VERSION) & !AccessFs::Execute))?
        .add_rules(path_beneath_rules(read, AccessFs::ReadFile | AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(NAME_SERVICES, AccessFs::ResolveUnix))?
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
    use landlock::{CompatLevel, Compatible};
    use std::{
        fs,
        io::Write as _,
        os::{
            linux::net::SocketAddrExt,
            unix::net::{SocketAddr, UnixListener, UnixStream},
        },
        process::Command,
        thread,
    };

    fn is_refused<T>(result: std::io::Result<T>) -> bool {
        result.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    }

    /// True if the kernel can restrict access to files.
    fn has_landlock() -> bool {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(AccessFs::from_all(ABI::V1)).is_ok_and(|ruleset| ruleset.create().is_ok())
    }

    /// True if the kernel can restrict signals and abstract sockets.
    fn has_scopes() -> bool {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.scope(Scope::from_all(ABI::V6)).is_ok()
    }

    /// A kernel without Landlock refuses nothing, and `confine` reports it.
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
            let is_confined = confine(&configuration).unwrap();
            assert_eq!(is_confined, has_landlock());
            if !is_confined {
                // The test runner would hide the output of a macro, and the step `bridge` looks for this sentence.
                writeln!(std::io::stderr(), "this kernel has no Landlock").unwrap();
            }
            assert_eq!(fs::read_to_string(&certificate).unwrap(), "text");
            assert!(fs::read_to_string("/etc/passwd").is_ok());
            fs::write(shared.path().join("segment"), "bytes").unwrap();
            assert_eq!(is_refused(fs::read_to_string(&secret)), is_confined);
            assert_eq!(is_refused(fs::write(&certificate, "other")), is_confined);
            assert_eq!(is_refused(Command::new("/bin/true").status()), is_confined);
        });
        confined.join().unwrap();
    }

    /// A kernel with a Landlock before version 6 refuses neither signals nor connections.
    #[test]
    fn other_processes_get_no_signals_and_their_abstract_sockets_no_connections() {
        let is_restricted = has_scopes();
        let address = SocketAddr::from_abstract_name(format!("gantry-{}", std::process::id())).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        assert!(UnixStream::connect_addr(&address).is_ok());
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        thread::scope(|scope| {
            let confined = scope.spawn(|| {
                confine("{}").unwrap();
                assert_eq!(is_refused(UnixStream::connect_addr(&address)), is_restricted);
                assert_eq!(is_refused(other.kill()), is_restricted);
            });
            confined.join().unwrap();
        });
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
