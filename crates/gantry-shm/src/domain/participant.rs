//! A participant: this process's membership in one domain, with its control thread.
//!
//! A process has one participant for each root and domain; nodes, publishers and subscriptions share it. This module
//! is on the control path.

use crate::{
    domain::{Domain, board::TopicIndex, control::Control, sender::Sender},
    error::Result,
    os::{directory::shared_memory_directory, fork::Epoch},
    protocol::send::Outbox,
};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

/// This process in one domain.
pub struct Participant {
    /// The domain, which samples that outlive their participant also keep.
    pub(crate) domain: Arc<Domain>,
    pub(crate) control: Control,
    /// The sender thread, which the first asynchronous publisher starts.
    sender: Mutex<Option<Sender>>,
}

/// The participants of this process, by root, domain and number of the [`Epoch`]. Each participant has its own lock: if
/// a stopped process locks the registry of one domain, joins of other domains are not delayed.
type Joined = HashMap<(PathBuf, u32, u64), Arc<Mutex<Weak<Participant>>>>;

static JOINED: Mutex<Option<Joined>> = Mutex::new(None);

/// The domains that this process joined.
static DOMAINS: Mutex<Vec<Weak<Domain>>> = Mutex::new(Vec::new());

/// The domains that this process has joined. The result consists of domains and not of participants, because dropping
/// the last handle of a participant waits for its control thread.
pub(crate) fn joined_domains() -> Vec<Arc<Domain>> {
    let domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
    // In the child of a fork, the domains of the parent cannot be accessed.
    domains.iter().filter_map(Weak::upgrade).filter(|domain| domain.epoch.is_current()).collect()
}

impl Participant {
    /// Joins the domain under the root directory in the environment variable `GANTRY_SHM_DIR` (`/dev/shm` if unset).
    ///
    /// # Real-time
    /// Joining starts a thread, `gantry-control`, which maps files and reads directories. The thread has SCHED_OTHER,
    /// nice 0 (or the caller's nice value if that is higher) and the CPUs that the *main thread* of the process has at
    /// that time, not the caller's CPUs. A program that pins its main thread to one CPU should join before it pins the
    /// thread.
    ///
    /// `mlockall(MCL_FUTURE)` counts the address space of all files, with their room to grow, against `RLIMIT_MEMLOCK`.
    /// If the limit is too low, files are mapped without room to grow. The mapping is then extended whenever the file
    /// has outgrown it, which costs a few system calls on the data path.
    ///
    /// # Errors
    /// The errors of [`Participant::join_under`].
    pub fn join(domain_id: u32) -> Result<Arc<Participant>> {
        Participant::join_under(&shared_memory_directory(), domain_id)
    }

    /// Joins the domain under `root`. If this process has joined the domain before, returns the same participant.
    /// Removes the files that dead processes left in any domain of this user, and starts the control thread.
    ///
    /// # Errors
    /// The directory cannot be made or trusted, has no room, or contains files of another version of Gantry; the
    /// registry lock is held too long; no thread can be started.
    pub fn join_under(root: &Path, domain_id: u32) -> Result<Arc<Participant>> {
        let key = (root.to_owned(), domain_id, Epoch::current()?.number);
        let joined = {
            let mut all = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
            let all = all.get_or_insert_default();
            // Another thread that has a reference to an entry is joining the entry's domain now.
            let is_used = |weak: &mut Mutex<Weak<_>>| weak.get_mut().is_ok_and(|weak| weak.strong_count() > 0);
            all.retain(|_, joined| Arc::get_mut(joined).is_none_or(is_used));
            all.entry(key).or_default().clone()
        };
        let mut joined = joined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(participant) = joined.upgrade() {
            return Ok(participant);
        }
        let domain = Arc::new(Domain::join(root, domain_id)?);
        let mut domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
        domains.retain(|domain| domain.strong_count() > 0);
        domains.push(Arc::downgrade(&domain));
        drop(domains);
        let control = Control::start(domain.clone())?;
        let participant = Arc::new(Participant { domain, control, sender: Mutex::new(None) });
        *joined = Arc::downgrade(&participant);
        Ok(participant)
    }

    /// The number of the domain.
    #[must_use]
    pub fn domain_id(&self) -> u32 {
        self.domain.domain_id
    }

    /// Returns a new outbox. The sender thread wakes the readers of `topic` for each sample in the outbox, for as long
    /// as the caller keeps it.
    pub(crate) fn outbox(&self, topic: TopicIndex, period: Duration) -> Result<Arc<Outbox>> {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &mut *sender {
            Some(sender) => sender,
            none => none.insert(Sender::start(self.domain.clone())?),
        };
        Ok(sender.add(topic, period))
    }
}

impl std::fmt::Debug for Participant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Participant({})", self.domain.directory)
    }
}
