//! Removes what dead processes left behind.
//!
//! Called by `participant` when it joins, when it leaves and when a sleeper's slice ends. Control path; the registry lock
//! is held. It never writes into anybody's region: it takes back board entries and names, nothing else.

use crate::{
    board::{Board, Registry},
    directory::{BOARD_NAME, Directory, PROCESS_SUFFIX, PUBLISHER_SUFFIX},
    error::Result,
    layout::topic_hash,
    peer::Peer,
};
use rustix::fs::FileType;

/// Removes the files of dead processes from a domain and wakes who was matched with them. Returns how many processes
/// are left.
pub(crate) fn reap(directory: &Directory, board: &Board, registry: &Registry<'_>) -> Result<usize> {
    let names = directory.names()?;
    let mut alive = Vec::new();
    for (name, _) in names.iter().filter(|(name, _)| name.ends_with(PROCESS_SUFFIX)) {
        match Peer::open(directory, name) {
            Ok(peer) if peer.is_alive() => alive.push(name.trim_end_matches(PROCESS_SUFFIX)),
            Ok(peer) => bury(directory, board, registry, &peer, &names)?,
            Err(e) if e.is_not_found() => {}
            // Whatever it is, a living owner made it so; nobody can match with it, and it is not ours to remove.
            Err(_) if is_locked(directory, name) => alive.push(name.trim_end_matches(PROCESS_SUFFIX)),
            Err(_) => directory.unlink(name)?,
        }
    }
    // Files of a process whose own file is gone: it removed its publishers' files first, so somebody else meddled.
    for (name, _) in names.iter().filter(|(name, _)| name.ends_with(PUBLISHER_SUFFIX)) {
        if !alive.iter().any(|id| name.starts_with(id)) {
            directory.unlink(name)?;
        }
    }
    Ok(alive.len())
}

fn bury(
    directory: &Directory,
    board: &Board,
    registry: &Registry<'_>,
    peer: &Peer,
    names: &[(String, FileType)],
) -> Result<()> {
    registry.free_waiters(&peer.held_waiters()?);
    let id = peer.file_name.trim_end_matches(PROCESS_SUFFIX);
    for (name, _) in names.iter().filter(|(name, _)| name.ends_with(PUBLISHER_SUFFIX) && name.starts_with(id)) {
        directory.unlink(name)?;
    }
    // The process file goes last: a reaper that dies on the way leaves the rest to the next one.
    directory.unlink(&peer.file_name)?;
    board.processes_changed();
    // A damaged list of endpoints costs their partners the news, which their own probes bring a second later.
    for endpoint in peer.endpoints(None).unwrap_or_default() {
        board.topic_changed(board.topic(topic_hash(&endpoint.topic)));
    }
    Ok(())
}

fn is_locked(directory: &Directory, name: &str) -> bool {
    crate::region::Region::open(directory, name, 0, false)
        .is_ok_and(|region| crate::lock::is_locked(region.file()).unwrap_or(true))
}

/// Reaps every other domain of the user and removes the ones in which nobody is left. Best effort: a domain that cannot
/// be opened, or is busy, is its own users' business.
pub(crate) fn reap_other_domains(user_directory: &Directory, own_domain: &str) -> Result<()> {
    for (name, kind) in user_directory.names()? {
        if name != own_domain && kind == FileType::Directory {
            let _ = reap_domain(user_directory, &name);
        }
    }
    Ok(())
}

fn reap_domain(user_directory: &Directory, name: &str) -> Result<()> {
    user_directory.remove_if_empty(name);
    let directory = user_directory.existing(name)?;
    let board = Board::open(&directory)?;
    if let Some(registry) = board.try_lock(&directory)? {
        let left = reap(&directory, &board, &registry)?;
        remove_if_unused(user_directory, name, &directory, left)?;
    }
    Ok(())
}

/// Removes the board and the directory of a domain in which no process is left. The registry lock is held.
pub(crate) fn remove_if_unused(
    user_directory: &Directory,
    name: &str,
    directory: &Directory,
    processes: usize,
) -> Result<()> {
    if processes == 0 {
        directory.unlink(BOARD_NAME)?;
        user_directory.remove_if_empty(name);
    }
    Ok(())
}
