//! Tests of the registry lock, under which processes join, leave and remove files of dead processes (reap): all at the
//! same time, and with a process that blocks the others.

use crate::{child::*, support::*};
use gantry_shm::{Error, Participant};
use rustix::process::{Signal, kill_process};
use std::{
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering::Relaxed},
};

tests![reapers_never_remove_the_living, a_process_that_keeps_others_from_joining_is_named];

/// The number of times that each creating process joins.
const CREATIONS: u64 = 600;

fn reapers_never_remove_the_living() {
    let root = Root::new();
    let mut reapers = [root.child("reap", &[]), root.child("reap", &[])];
    reapers.iter_mut().for_each(|reaper| assert_eq!(reaper.line(), "ready"));
    let mut creators: Vec<Peer> = (0..3).map(|_| root.child("create", &[])).collect();
    // Killed processes leave files, which the reaping processes must remove.
    for _ in 0..10 {
        let mut victim = root.child("idle", &[]);
        victim.line();
        victim.kill();
    }
    for creator in &mut creators {
        assert_eq!(creator.line(), format!("created {CREATIONS}, of which 0 were removed"));
    }
    creators.into_iter().chain(reapers).for_each(Peer::finish);
    drop(Participant::join_under(root.path(), 0).unwrap()); // removes the files of the last victim
    root.assert_empty();
}

/// Role of a child process: joins another domain again and again. Each join also removes the files of dead processes in
/// this domain.
pub fn reap_often(root: &Path, participant: Arc<Participant>) {
    drop(participant);
    let ended = watch_stdin();
    say("ready");
    while !ended.load(Relaxed) {
        drop(Participant::join_under(root, 7).unwrap());
    }
}

/// Role of a child process: joins, publishes and leaves often. Counts the joins in which another process removed its
/// files.
pub fn create_often(root: &Path, participant: Arc<Participant>) {
    drop(participant);
    let mut removed = 0;
    for number in 1..=CREATIONS {
        // Between two joins, the board and the directory may be removed.
        let participant = Participant::join_under(root, 0).unwrap();
        let mut publisher = publisher(&participant, 64, stream_qos());
        let mut subscription = subscription(&participant, 64, stream_qos());
        match_up(&mut publisher, &mut subscription);
        send(&mut publisher, 64, number << 20 | u64::from(std::process::id()));
        assert!(drain(&mut subscription).contains(&(number << 20 | u64::from(std::process::id()))));
        let files = files_of(root);
        let own = files.iter().find(|path| path.extension().is_some_and(|e| e == "process") && is_ours(path));
        let named = |id: &str| files.iter().any(|path| is_publisher_of(path, id));
        let has_both = own.is_some_and(|path| named(path.file_stem().unwrap().to_str().unwrap()));
        removed += u64::from(!has_both);
    }
    say(&format!("created {CREATIONS}, of which {removed} were removed"));
}

fn files_of(root: &Path) -> Vec<PathBuf> {
    let user = std::fs::read_dir(root).unwrap().next().unwrap().unwrap();
    std::fs::read_dir(user.path().join("0")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn is_ours(path: &PathBuf) -> bool {
    let (pid, offset) = (std::process::id().to_le_bytes(), offset_of("ProcessHeader", "pid"));
    std::fs::read(path).is_ok_and(|bytes| bytes.get(offset..offset + 4) == Some(&pid))
}

fn is_publisher_of(path: &Path, id: &str) -> bool {
    path.extension().is_some_and(|e| e == "pub") && path.file_name().unwrap().to_str().unwrap().starts_with(id)
}

fn a_process_that_keeps_others_from_joining_is_named() {
    let root = Root::new();
    let mut holder = root.child("hold-registry", &[]);
    assert_eq!(holder.line(), "holds");
    kill_process(holder.pid(), Signal::STOP).unwrap();
    let path = root.path().to_owned();
    let waits = std::thread::spawn(move || Participant::join_under(&path, 0));
    // The blocked domain must not delay joins of other domains, neither their removal of dead processes' files nor
    // another thread of this process.
    for domain_id in 7..27 {
        drop(Participant::join_under(root.path(), domain_id).unwrap());
    }
    assert!(!waits.is_finished(), "joins of other domains waited, too");
    let error = waits.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::RegistryBusy { pid, .. } if pid == holder.child.id()), "{error}");
    holder.kill();
    drop(root.join());
    root.assert_empty();
}

/// Role of a child process: locks the board and writes its pid there, as if it was stopped while it joined.
pub fn hold_registry(root: &Path, _participant: &Arc<Participant>) {
    let path = files_of(root).into_iter().find(|path| path.ends_with("board")).unwrap();
    let board = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let request = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open, and the kernel only reads `request`.
    let code = unsafe { libc::fcntl(board.as_raw_fd(), libc::F_OFD_SETLK, &request) };
    assert_eq!(code, 0);
    let offset = offset_of("BoardHeader", "holder_pid") as u64;
    board.write_all_at(&std::process::id().to_le_bytes(), offset).unwrap();
    say("holds");
    std::io::stdin().lines().for_each(drop);
}
