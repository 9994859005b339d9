//! Makes arrays on loans harmless in a forked child process.
//!
//! In a child of `fork`, the engine replaces the parent's writable memory by inaccessible memory, so that a stray write
//! does no damage. But an access from Python must not crash. Therefore this file maps private memory over the loans:
//! the child reads zeros, and its writes stay in the child. Samples stay readable in the child.

use pyo3::prelude::*;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// The address ranges of loans on which there may be arrays, each with the number of its holders.
static LOANS: Mutex<BTreeMap<(usize, usize), usize>> = Mutex::new(BTreeMap::new());

/// The registration of a loan in `LOANS`. The loan's holder owns this value; dropping it removes the entry.
pub struct LoanAddress(usize, usize);

impl LoanAddress {
    /// Registers the memory of a loan.
    pub fn new(bytes: &[u8]) -> LoanAddress {
        let Range { start, end } = bytes.as_ptr_range();
        let (start, end) = (start.addr(), end.addr());
        *LOANS.lock().unwrap_or_else(PoisonError::into_inner).entry((start, end)).or_default() += 1;
        LoanAddress(start, end)
    }
}

impl Drop for LoanAddress {
    fn drop(&mut self) {
        let mut loans = LOANS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holders) = loans.get_mut(&(self.0, self.1)) {
            *holders -= 1;
            if *holders == 0 {
                loans.remove(&(self.0, self.1));
            }
        }
    }
}

/// Replaces the parent's loans by private memory. Python calls this function in a forked child before any other code.
#[pyfunction]
pub fn after_fork_in_child() {
    let page_bytes = rustix::param::page_size();
    // The lock is free: the forking thread ran Python code, and no thread holds this lock while Python code runs.
    let Ok(loans) = LOANS.try_lock() else { return };
    for &(start, end) in loans.keys() {
        let (first, behind) = (start / page_bytes * page_bytes, end.next_multiple_of(page_bytes));
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
        let address = std::ptr::without_provenance_mut(first);
        // SAFETY: these pages are in the mapping of a loan of the parent (`LoanAddress`). The loan is alive, because
        // its entry is in the list. In this child, the pages are the inaccessible memory that the engine's fork handler
        // mapped (F4 of `gantry-shm`). No Rust reference points into them, and all handles of the parent are dead (F1),
        // so nothing else uses or frees them. Only Python arrays may refer to them, by plain addresses.
        let _ = unsafe { mmap_anonymous(address, behind - first, protection, flags) };
    }
}
