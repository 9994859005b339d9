//! The answer of a worker program to a command such as `describe`, `check` or `clean-up`.
//!
//! Invariants: the wait has a time limit and the output has a size limit, even if the program hangs or leaves processes
//! behind. The program leads a process group, which is killed when the program ends or its time is over.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gantry::printable;
use rustix::process::{Pid, Signal, kill_process_group};

/// The longest time for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest wait for the rest of the output after the program has exited. The output may not end, because a process
/// that the program left behind may hold the pipe open.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);
/// The limit of the standard output, and of the standard error, in bytes.
const LONGEST_BYTES: usize = 1 << 20;
/// The number of characters of the standard error that an error sentence shows at most.
const SHOWN_CHARS: usize = 2000;
/// The time between two checks whether a program has exited.
const POLL: Duration = Duration::from_millis(1);

/// The output of a program that answered and exited.
#[derive(Debug)]
pub struct Answer {
    /// The exit status of the program.
    pub status: ExitStatus,
    /// The standard output of the program.
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Answer {
    /// Runs the program until it exits.
    ///
    /// # Errors
    /// The reason, as a sentence: the program cannot be started, or it was killed because it did not exit in time
    /// or printed too much.
    pub fn from_command(command: &mut Command) -> Result<Answer, String> {
        Answer::within(ANSWER_TIMEOUT, command)
    }

    fn within(timeout: Duration, command: &mut Command) -> Result<Answer, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| format!("cannot start {program}: {error}");
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let outputs = [Output::read(child.stdout.take()), Output::read(child.stderr.take())];
        let deadline = Instant::now() + timeout;
        let given_up = |why: String| {
            let arguments: Vec<_> = command.get_args().take(1).map(|argument| argument.to_string_lossy()).collect();
            format!("{program} {} {why} and was killed", arguments.concat())
        };
        let status = loop {
            if outputs.iter().any(Output::is_too_long) {
                kill(&mut child);
                return Err(given_up(format!("printed more than {LONGEST_BYTES} bytes")));
            }
            match child.try_wait().map_err(failed)? {
                Some(status) => break status,
                None if Instant::now() < deadline => std::thread::sleep(POLL),
                None => {
                    kill(&mut child);
                    return Err(given_up(format!("did not answer within {} s", timeout.as_secs())));
                }
            }
        };
        let deadline = Instant::now() + LAST_WORDS_TIMEOUT;
        while !outputs.iter().all(Output::has_ended) && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        kill_group(&child);
        let [stdout, stderr] = outputs.map(Output::into_bytes);
        Ok(Answer { status, stdout, stderr })
    }

    /// The beginning of the standard error, as part of an error sentence. Terminal control characters are escaped.
    #[must_use]
    pub fn error(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let shown: String = text.trim().chars().take(SHOWN_CHARS).collect();
        let more = if shown.len() < text.trim().len() { " …" } else { "" };
        format!("{}{more}", printable(&shown, &['\n', '\t']))
    }
}

fn kill(child: &mut Child) {
    kill_group(child);
    // The kill fails only if the program has just exited.
    let _ = child.kill().and_then(|()| child.wait());
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The kill fails if no process of the group is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// One output of a process. A thread reads it, so that the process never blocks on a full pipe.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    fn read(from: Option<impl Read + Send + 'static>) -> Output {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = bytes.clone();
        let reader = std::thread::spawn(move || {
            let (Some(mut from), mut part) = (from, vec![0; 1 << 16]) else { return };
            // An error ends the loop; the bytes before it are kept.
            while let Ok(length @ 1..) = from.read(&mut part) {
                let mut bytes = read.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&part[..length]);
                if bytes.len() > LONGEST_BYTES {
                    return;
                }
            }
        });
        Output { bytes, reader }
    }

    fn is_too_long(&self) -> bool {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len() > LONGEST_BYTES
    }

    fn has_ended(&self) -> bool {
        self.reader.is_finished()
    }

    /// The bytes that were read so far.
    fn into_bytes(self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    fn answer(timeout: Duration, script: &str) -> Result<Answer, String> {
        Answer::within(timeout, Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn a_program_that_leaves_a_process_behind_has_answered() {
        let began = Instant::now();
        let answer = answer(ANSWER_TIMEOUT, "sleep 1000 & echo said; echo why >&2").unwrap();
        assert_eq!((answer.stdout.as_slice(), answer.error().as_str()), (&b"said\n"[..], "why"));
        assert!(began.elapsed() < ANSWER_TIMEOUT, "it waited for the process that was left");
    }

    #[test]
    fn a_process_group_ends_at_the_limit_of_time_and_of_memory() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        // The child that the program starts holds the pipe open. It outlives the program if only the program is killed
        // instead of the process group.
        let script = format!("exec 9>{path}; sleep 1000 & echo >&9; wait");
        let run = std::thread::spawn(move || answer(Duration::from_secs(3), &script));
        reader.read_exact(&mut [0]).unwrap(); // the child has started
        drop(writer);
        let error = run.join().unwrap().unwrap_err();
        assert!(error.ends_with("-c did not answer within 3 s and was killed"), "{error}");
        assert_eq!(reader.read(&mut [0]).unwrap(), 0, "a process of the group lives");
        let error = answer(ANSWER_TIMEOUT, "exec cat /dev/zero").unwrap_err();
        assert!(error.ends_with("-c printed more than 1048576 bytes and was killed"), "{error}");
    }

    #[test]
    fn a_long_error_is_cut_and_moves_no_cursor() {
        let answer =
            answer(ANSWER_TIMEOUT, "printf '\\033[31m' >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1")
                .unwrap();
        let error = answer.error();
        assert!(
            error.starts_with("\\u{1b}[31mxxx") && error.ends_with("x …") && error.len() < 2 * SHOWN_CHARS,
            "{error}"
        );
    }
}
