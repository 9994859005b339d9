//! Checks whether processes of a domain are alive, by their files and locks. Nothing is removed here.

use crate::{
    domain::peer::Peer,
    error::{Error, Result},
    os::{
        directory::{Directory, PROCESS_SUFFIX},
        file::SharedFile,
        lock,
    },
};

/// Refuses to join a domain in which living processes use another board. Their board was removed while in use (by `rm`,
/// or a tool that cleans shared memory), so announcements on one board would not reach the processes that use the other
/// board. With `None` as `id` there is no board: then any living process is a reason to refuse.
pub(crate) fn check_one_board(directory: &Directory, id: Option<u64>) -> Result<()> {
    for name in directory.files()?.iter().filter(|name| name.ends_with(PROCESS_SUFFIX)) {
        match Peer::board_id_of(directory, name) {
            Ok(its_board) if Some(its_board) == id => continue,
            Err(e) if e.is_not_found() => continue,
            _ => {}
        }
        let peer = match Peer::open(directory, name) {
            // Files of dead processes, of any version, do not prevent a join.
            Err(_) if !may_live(directory, name) => continue,
            peer => peer?,
        };
        if Some(peer.board_id) != id && peer.is_alive() {
            let why = format!("its board was removed while {peer} uses it; end or restart that process");
            return Err(Error::ForeignDirectory { path: directory.path().to_owned(), why });
        }
    }
    Ok(())
}

/// Whether the owner of a process file may be alive. The function only probes the lock.
pub(crate) fn may_live(directory: &Directory, name: &str) -> bool {
    match SharedFile::open(directory, name, false) {
        Ok(file) => lock::is_locked(&file, 0).unwrap_or(true),
        Err(e) => !e.is_not_found(),
    }
}
