//! Tests of memory figures: sample text from the kernel, the memory of this process, and the memory of a child process.

use std::hint::black_box;
use std::process::{Child, Command, Stdio};

use procfs::FromRead;
use procfs::process::MemoryMaps;

use super::*;

/// One mapping of each kind in the format of `/proc/<pid>/smaps`. Each mapping has a different size.
const SMAPS: &str = "\
55d5c0000000-55d5c0021000 r-xp 00001000 fe:00 1234                       /usr/bin/perf_test
Size:                132 kB
Rss:                   1 kB
Pss:                   1 kB
VmFlags: rd ex mr mw me
55d5c1000000-55d5c1021000 rw-p 00000000 00:00 0                          [heap]
Rss:                   2 kB
Pss:                   2 kB
7f0000000000-7f0000100000 rw-p 00000000 00:00 0\x20
Rss:                   4 kB
Pss:                   4 kB
7f0000200000-7f0000300000 rw-p 00000000 00:00 0                          [anon:arena]
Rss:                   8 kB
Pss:                   8 kB
7f0001000000-7f0001100000 r--s 00000000 00:1b 77                         /dev/shm/gantry/publisher-1
Rss:                  16 kB
Pss:                   8 kB
7f0002000000-7f0002100000 rw-s 00000000 00:01 9                          /memfd:ring (deleted)
Rss:                  32 kB
Pss:                  16 kB
7f0003000000-7f0003100000 rw-s 00000000 00:01 10                         /SYSV00000001 (deleted)
Rss:                  64 kB
Pss:                  32 kB
7f0004000000-7f0004100000 rw-s 00000000 00:01 11                         /dev/zero (deleted)
Rss:                 128 kB
Pss:                  64 kB
7f0005000000-7f0005100000 r--s 00000000 fe:00 12                         /var/log/index
Rss:                 256 kB
Pss:                 256 kB
7f0006000000-7f0006100000 r-xp 00000000 00:1b 13                         /tmp/plugin.so
Rss:                 512 kB
Pss:                 512 kB
7f0007000000-7f0007100000 rw-s 00000000 00:06 14                         /dev/dri/card0
Rss:                1024 kB
Pss:                1024 kB
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
Rss:                2048 kB
Pss:                2048 kB
7ffc00100000-7ffc00102000 r-xp 00000000 00:00 0                          [vdso]
Rss:                4096 kB
Pss:                   0 kB
";

impl Footprint {
    /// The sum over all kinds.
    fn total(&self) -> Resident {
        let mut total = self.heap;
        [self.stack, self.shared, self.file, self.other].into_iter().for_each(|kind| total.add(kind));
        total
    }
}

fn kib(rss_kib: u64, pss_kib: u64) -> Resident {
    Resident { rss_kib, pss_kib }
}

#[test]
fn every_mapping_is_of_one_kind() {
    let maps = MemoryMaps::from_read(SMAPS.as_bytes()).unwrap();
    let found = Footprint::from_maps(&maps.0, &["0:27"]);
    let expected = Footprint {
        heap: kib(2 + 4 + 8, 2 + 4 + 8),
        stack: kib(2048, 2048),
        shared: kib(16 + 32 + 64 + 128, 8 + 16 + 32 + 64),
        // A library in tmpfs is a file, not shared memory.
        file: kib(1 + 256 + 512, 1 + 256 + 512),
        other: kib(1024 + 4096, 1024),
    };
    assert_eq!(found, expected);
    assert_eq!(found.total(), kib(8191, 1 + 14 + 120 + 256 + 512 + 1024 + 2048));
}

#[test]
fn processes_add_up() {
    let one = Memory { rss_kib: 10, anonymous_kib: 5, file_kib: 3, shared_kib: 2, peak_rss_kib: 11, virtual_kib: 12 };
    let mut sum = one;
    sum.add(&one);
    assert_eq!(
        sum,
        Memory { rss_kib: 20, anonymous_kib: 10, file_kib: 6, shared_kib: 4, peak_rss_kib: 22, virtual_kib: 24 }
    );
    let one = Footprint { heap: kib(1, 2), stack: kib(3, 4), shared: kib(5, 6), file: kib(7, 8), other: kib(9, 10) };
    let mut sum = one;
    sum.add(&one);
    assert_eq!((sum.heap, sum.other, sum.total()), (kib(2, 4), kib(18, 20), kib(50, 60)));
}

/// A process that does nothing until it is dropped.
struct Idle(Child);

impl Idle {
    fn start() -> Idle {
        let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Idle(child)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn written_memory_becomes_resident_and_is_heap() {
    // Other tests in this process allocate and free memory at the same time, but less than half of this.
    const LARGE_KIB: u64 = 256 << 10;
    let (before, footprint_before) = (Memory::of_this_process().unwrap(), Footprint::of_this_process().unwrap());
    let large = black_box(vec![1_u8; LARGE_KIB as usize * 1024]);
    let (after, footprint_after) = (Memory::of_this_process().unwrap(), Footprint::of_this_process().unwrap());
    assert!(after.rss_kib > before.rss_kib + LARGE_KIB / 2, "{before:?} {after:?}");
    assert!(after.anonymous_kib > before.anonymous_kib + LARGE_KIB / 2, "{before:?} {after:?}");
    assert!(after.peak_rss_kib >= after.rss_kib - LARGE_KIB / 2, "{after:?}");
    let grown_kib = footprint_after.heap.rss_kib.saturating_sub(footprint_before.heap.rss_kib);
    assert!(grown_kib > LARGE_KIB / 2, "{footprint_before:?} {footprint_after:?}");
    assert!(footprint_after.total().rss_kib.abs_diff(after.rss_kib) < LARGE_KIB / 2, "{footprint_after:?} {after:?}");
    drop(large);
    let later = Memory::of_this_process().unwrap();
    assert!(later.rss_kib < after.rss_kib - LARGE_KIB / 2, "now, not at the peak: {after:?} {later:?}");
    assert!(later.peak_rss_kib > later.rss_kib + LARGE_KIB / 2, "the peak stays: {after:?} {later:?}");
}

#[test]
fn another_process_can_be_read_until_it_exits() {
    let mut idle = Idle::start();
    let pid = idle.0.id();
    // Nothing of the child's program is resident until the child has run. If the child never runs, the test runner's
    // watchdog ends this test.
    while Footprint::of_process(pid).unwrap().file.rss_kib == 0 {
        std::thread::yield_now();
    }
    let (memory, footprint) = (Memory::of_process(pid).unwrap(), Footprint::of_process(pid).unwrap());
    assert!(memory.rss_kib > 0 && memory.peak_rss_kib > 0, "{memory:?}");
    assert!(
        footprint.total().rss_kib > 0 && footprint.stack.rss_kib > 0 && footprint.file.rss_kib > 0,
        "{footprint:?}"
    );
    let ours = Memory::of_this_process().unwrap();
    assert!(memory.rss_kib < ours.rss_kib, "it is another's: {memory:?}, ours {ours:?}");
    idle.0.kill().unwrap();
    idle.0.wait().unwrap();
    for refused in [Memory::of_process(pid).err(), Footprint::of_process(pid).err()] {
        let sentence = refused.unwrap();
        assert!(sentence.contains(&format!("process {pid}")) && sentence.contains("exited"), "{sentence}");
    }
    assert!(Memory::of_process(u32::MAX).is_err());
}
