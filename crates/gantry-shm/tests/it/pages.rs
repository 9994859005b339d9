//! Tests that pages are mapped before they are used, so that the data path of large messages causes no page faults.
//!
//! The engine uses advice of madvise(2) that maps pages. An emulator of another machine may accept this advice but
//! ignore it: [`why_not`] tests for this.

use crate::support::*;
use gantry_shm::{Qos, SourceTime};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

const PAGE_BYTES: usize = 4096;

tests![pages_are_brought_in_before_they_are_used];

/// The reason why this test cannot work on this machine; `None` if it can.
pub fn why_not() -> Option<String> {
    const PAGES: usize = 1024;
    let (bytes, protection) = (PAGES * PAGE_BYTES, ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
    let first = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, MapFlags::PRIVATE) }.unwrap();
    // SAFETY: the pages were just mapped here.
    let advised = unsafe { madvise(first, bytes, Advice::LinuxPopulateWrite) };
    let before = faults();
    for offset in (0..bytes).step_by(PAGE_BYTES) {
        // SAFETY: the address is inside the mapping above, which has no other user.
        unsafe { first.cast::<u8>().wrapping_add(offset).write_volatile(1) };
    }
    let faults = faults() - before;
    // SAFETY: the pages were mapped here and are not used any more.
    unsafe { munmap(first, bytes) }.unwrap();
    // A kernel without this advice is no problem, because the engine also works without it.
    let is_ignored = advised.is_ok() && faults > PAGES as i64 / 2;
    is_ignored.then(|| format!("MADV_POPULATE_WRITE succeeds, and then {PAGES} pages take {faults} faults"))
}

/// The number of page faults of this thread.
fn faults() -> i64 {
    // SAFETY: an all-zero `rusage` is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a local variable.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
    usage.ru_minflt
}

/// Counts page faults with images of a camera. If pages were not mapped in advance, the first write and the first read
/// of each slot would fault about a thousand times.
fn pages_are_brought_in_before_they_are_used() {
    const LARGE: usize = 4 << 20;
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, LARGE, Qos::default());
    let mut subscription = subscription(&participant, LARGE, Qos::default());
    match_up(&mut publisher, &mut subscription);
    let (mut writing, mut reading) = (0, 0);
    for number in 1..=16 {
        let mut loan = publisher.loan(LARGE).unwrap(); // may make the file grow, and maps the new pages
        let before = faults();
        fill(loan.bytes_mut(), number);
        writing += faults() - before;
        publisher.publish(loan, SourceTime::now()).unwrap();
        subscription.publisher_count().unwrap(); // does the work for which the control thread was woken
        let sample = receive(&mut subscription);
        let before = faults();
        assert_eq!(check(sample.bytes()), number);
        reading += faults() - before;
    }
    let pages = (LARGE / PAGE_BYTES) as i64;
    assert!(writing < pages / 16 && reading < pages / 16, "{writing} faults in writing, {reading} in reading");
}
