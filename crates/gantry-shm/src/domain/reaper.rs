//! The reaper. It removes the files and waiter lines of dead processes and announces their deaths.
//!
//! A process reaps when it joins, when it leaves and when its control thread finds another process dead. This module is
//! on the control path; the registry lock is held. The reaper never writes into another process's region: it only frees
//! waiter lines and removes names. Only a lock that is certainly free proves that a process is dead, so a reaper that
//! cannot probe the lock (no descriptors, no memory) removes nothing.

use crate::{
    domain::{
        board::Board,
        peer::{Peer, liveness::may_live},
        process_file::{owner_id, process_id, waiter_owner, waiter_owner_of},
        registry::Registry,
    },
    error::{Error, Result},
    os::directory::{BOARD_NAME, Directory, PROCESS_SUFFIX, PUBLISHER_SUFFIX},
    protocol::sleep::{SHARED_WAITER, Side},
};
use std::time::Duration;

/// Removes the files of dead processes from a domain and wakes the processes that were matched with them. Returns the
/// number of processes that are left.
pub(crate) fn reap(registry: &Registry<'_>) -> Result<usize> {
    let directory = registry.directory;
    let names = directory.files()?;
    let ending_with =
        |suffix: &'static str| names.iter().map(String::as_str).filter(move |name| name.ends_with(suffix));
    let publishers: Vec<&str> = ending_with(PUBLISHER_SUFFIX).collect();
    let mut alive = Vec::new();
    for name in ending_with(PROCESS_SUFFIX) {
        if may_live(directory, name) {
            alive.push(process_id(name));
        } else {
            remove_dead(registry, name, &publishers)?;
        }
    }
    // The loop removes the files of publishers whose process file is missing. A reaper removes publishers' files first,
    // so another program must have removed the process file.
    for name in publishers.iter().filter(|name| !alive.contains(&owner_id(name))) {
        directory.unlink(name)?;
    }
    Ok(alive.len())
}

/// Removes a dead process. Its death is announced before the process file is removed: if this reaper dies in between,
/// the next reaper does all the work again. A process that the announcement wakes finds the dead process's lock free.
fn remove_dead(registry: &Registry<'_>, name: &str, publishers: &[&str]) -> Result<()> {
    let Registry { board, directory, .. } = registry;
    let peer = match Peer::open(directory, name) {
        Ok(peer) => Some(peer),
        // The file is unreadable, but its owner is dead: only names and waiter lines are left to remove.
        Err(Error::Corrupt { .. } | Error::Incompatible { .. }) => {
            registry.free_waiters_of(waiter_owner_of(name));
            None
        }
        Err(e) if e.is_not_found() => return Ok(()),
        Err(e) => return Err(e),
    };
    for publisher in publishers.iter().filter(|publisher| owner_id(publisher) == process_id(name)) {
        directory.unlink(publisher)?;
    }
    // A process with another board was not matched with processes of this board, so its death is not announced here.
    if let Some(peer) = peer.filter(|peer| peer.board_id == board.id()) {
        announce_death(&peer, registry);
    }
    directory.unlink(name)?;
    board.processes_changed();
    Ok(())
}

/// Whether the death of a process whose file is gone may still be unannounced. Such a process still has waiter lines,
/// at least the line of its control thread. The exception: all lines were taken, and the control thread had to share
/// one.
pub(crate) fn is_unannounced(peer: &Peer, board: &Board) -> bool {
    let has_lines = || !board.waiters_of(waiter_owner(&peer.id)).is_empty() || board.waiters_of(0).is_empty();
    peer.board_id == board.id() && has_lines()
}

/// Announces the death of a process: raises the generations of both sides of its topics and of the graph, which wakes
/// their watchers. Then frees its waiter lines.
///
/// The waiter lines are freed last because they mark a death as unannounced (`is_unannounced`). If the reaping
/// process dies before it has freed them, the next reaper repeats the announcement.
pub(crate) fn announce_death(peer: &Peer, registry: &Registry<'_>) {
    let board = registry.board;
    // The generation of processes is raised first: a process that the generation of a topic wakes then also sees the
    // new generation of processes, and so probes all other processes.
    board.processes_changed();
    // Both sides are announced: of an endpoint that was being removed, only the topic is known and not the role. If the
    // list is damaged, there is no announcement. If a topic has no line, no process holds the topic, so no process
    // needs an announcement.
    for topic in peer.topics().unwrap_or_default().into_iter().filter_map(|hash| board.find(hash)) {
        board.topic_changed(topic, Side::Readers);
        board.topic_changed(topic, Side::Publishers);
        board.ring_sleepers(topic); // the dead process may have marked waiters AWAKE and not rung them
    }
    board.graph_changed();
    // The last waiter line is also rung: the waiters that share it may belong to processes that were matched with the
    // dead process.
    board.bell(SHARED_WAITER).ring();
    registry.free_waiters_of(waiter_owner(&peer.id));
}

/// Reaps every other domain of the user, and removes domains without processes. A domain that cannot be opened, or is
/// busy, is left to its own processes.
pub(crate) fn reap_other_domains(user_directory: &Directory, own_domain: &str) -> Result<()> {
    for name in user_directory.directories()?.iter().filter(|name| *name != own_domain) {
        let _ = reap_domain(user_directory, name);
    }
    Ok(())
}

fn reap_domain(user_directory: &Directory, name: &str) -> Result<()> {
    user_directory.remove_if_empty(name);
    let directory = user_directory.existing(name)?;
    // A board is made if there is none, because its lock gives the right to remove anything.
    let Some(board) = Board::open_or_create(&directory, Duration::ZERO)? else { return Ok(()) };
    if let Some(registry) = board.try_lock(&directory)?
        && board.has_name()
    {
        reap_or_remove(&registry, user_directory, name)?;
    }
    Ok(())
}

/// Reaps; if no process is left, removes the board and the domain's directory, which has the name `name` in the
/// user's directory.
pub(crate) fn reap_or_remove(registry: &Registry<'_>, user_directory: &Directory, name: &str) -> Result<usize> {
    let left = reap(registry)?;
    if left == 0 {
        registry.directory.unlink(BOARD_NAME)?;
        user_directory.remove_if_empty(name);
    }
    Ok(left)
}
