//! Tests with little address space or lockable memory: files cannot be mapped with all their room to grow.

use crate::{child::say, memory::MEBIBYTE, support::*};
use gantry_shm::{
    Error, Participant, Publisher, PublisherOptions, Qos, Sample, SourceTime, Subscription, TypeDescription,
};
use rustix::{
    io::Errno,
    mm::{MapFlags, MlockAllFlags, ProtFlags, mlockall, mmap_anonymous},
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CapabilitySet, capabilities, set_capabilities},
};
use std::{collections::HashSet, path::Path, process::Command, sync::Arc};

tests![
    a_process_with_little_address_space_publishes_and_takes,
    a_process_that_may_lock_little_memory_publishes_and_takes,
    a_process_without_address_space_gets_a_sentence,
    a_sample_that_cannot_be_mapped_is_taken_later,
    a_publisher_without_a_memory_limit_publishes,
];

/// Ignores the test under an emulator, which has other limits than the program that it runs.
fn ignore_under_an_emulator() {
    if this_program().len() > 1 {
        ignore("an emulator runs this program");
    }
}

/// Creates a message type without a size bound. By default, its publisher reserves more address space than most of
/// these processes may map.
fn unbounded() -> TypeDescription {
    TypeDescription { payload_bytes: usize::MAX, ..bytes_type(0) }
}

fn publisher_of(participant: &Arc<Participant>, topic: &str) -> Publisher {
    let (qos, options) = (Qos::default().keep_last(64), PublisherOptions::default());
    Publisher::new(participant.clone(), "/talker", topic, unbounded(), qos, options).unwrap()
}

fn subscription_of(participant: &Arc<Participant>, topic: &str) -> Subscription {
    let qos = Qos::default().keep_last(64);
    Subscription::new(participant.clone(), "/listener", topic, unbounded(), qos).unwrap()
}

/// Publishes 40 messages, so that the file grows several times. Takes and holds all samples.
fn send_and_hold(publisher: &mut Publisher, subscription: &mut Subscription, bytes: usize) -> Vec<(u64, Sample)> {
    let mut held: Vec<(u64, Sample)> = Vec::new();
    for number in 1..=40 {
        send_any(publisher, bytes, number);
        held.push((number, subscription.take().unwrap().unwrap()));
        held.iter().for_each(|(number, sample)| check_any(sample.bytes(), *number));
    }
    held
}

/// Publishes a message of this length, with contents that depend on `number`.
fn send_any(publisher: &mut Publisher, bytes: usize, number: u64) {
    let mut loan = publisher.loan(bytes).unwrap();
    fill_any(loan.bytes_mut(), number);
    publisher.publish(loan, SourceTime::now()).unwrap();
}

/// Starts a role in a process with at most `kibibytes` KiB of address space.
fn limited_child(root: &Root, kibibytes: usize, role: &str) -> Peer {
    let mut shell = Command::new("sh");
    let program = this_program();
    shell.args(["-c", &format!("ulimit -v {kibibytes} && exec \"$@\""), "sh"]).args(program);
    root.child_by(shell, role, &[])
}

/// Starts a role in a process with at most `kibibytes` KiB of address space, and publishes to it. Returns the result
/// that the role prints.
fn with_address_space(kibibytes: usize, role: &str) -> String {
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_of(&participant, "/of/parent");
    let mut child = limited_child(&root, kibibytes, role);
    assert_eq!(child.line(), "ready");
    publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
    (1..=40).for_each(|number| send_any(&mut publisher, 10_000, number));
    let line = child.line();
    child.finish();
    line
}

fn a_process_with_little_address_space_publishes_and_takes() {
    ignore_under_an_emulator();
    // `ulimit -v` sets these limits. A publisher reserves 1 GiB by default, so each limit is too small for two full
    // mappings.
    for kibibytes in [60_000, 200_000, 700_000, 1_200_000, 1_500_000, 2_400_000, 2_600_000] {
        assert_eq!(with_address_space(kibibytes, "map-little"), "took all", "{kibibytes} KiB");
    }
}

/// Role of a child process: publishes and takes with little address space.
pub fn map_little(root: &Path, participant: &Arc<Participant>) {
    let mut remote = subscription_of(participant, "/of/parent");
    say("ready");
    for number in 1..=40 {
        check_any(receive(&mut remote).bytes(), number);
    }
    let (mut publisher, mut subscription) =
        (publisher_of(participant, "/chatter"), subscription_of(participant, "/chatter"));
    match_up(&mut publisher, &mut subscription);
    let held = send_and_hold(&mut publisher, &mut subscription, 20_000);
    check_mapped_once(root);
    check_hole_in_child(publisher.loan(20_000).unwrap().bytes_mut());
    // The samples stay mapped at their addresses, even without publisher and subscription.
    drop((publisher, subscription));
    held.iter().for_each(|(number, sample)| check_any(sample.bytes(), *number));
    // The program itself can still allocate memory.
    assert_eq!(vec![1_u8; MEBIBYTE].len(), MEBIBYTE);
    say("took all");
}

/// Checks that each file is mapped only once: a file that grew must not keep the mappings of its former lengths.
fn check_mapped_once(root: &Path) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let of_root = maps.lines().filter(|line| line.contains(root.to_str().unwrap()));
    let mut found = HashSet::new();
    for line in of_root {
        let columns: Vec<&str> = line.split_whitespace().collect();
        assert!(found.insert((columns[1], columns[4])), "mapped more than once: {line}");
    }
    assert!(found.len() >= 5, "{maps}");
}

/// Checks that a forked child maps no memory at the address of the parent's mapping, even if that mapping has grown.
fn check_hole_in_child(bytes: &mut [u8]) {
    let page = bytes.as_mut_ptr().map_addr(|address| address & !4095).cast();
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: the child makes only system calls.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: with MAP_FIXED_NOREPLACE, the system call replaces no mapping.
        let mapped = unsafe { mmap_anonymous(page, 4096, ProtFlags::READ, flags) };
        // SAFETY: a system call without memory arguments.
        unsafe { libc::_exit(i32::from(mapped != Err(Errno::EXIST))) };
    }
    let mut status = 0;
    // SAFETY: a system call; `status` is a local variable.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!((ended, status), (pid, 0), "a forked child maps memory where its parent writes");
}

fn a_process_that_may_lock_little_memory_publishes_and_takes() {
    ignore_under_an_emulator();
    let root = Root::new();
    let mut child = root.child("lock-little", &[]);
    let line = child.line();
    child.finish();
    if line.starts_with("cannot") {
        ignore(line);
    }
    assert_eq!(line, "took all");
}

/// Role of a child process: calls `mlockall(MCL_FUTURE)` with the usual `RLIMIT_MEMLOCK` of 8 MiB, then publishes and
/// takes.
pub fn lock_little(root: &Path, first: Arc<Participant>) {
    drop(first); // its control thread might just be mapping 64 MiB for the C library's heap
    let limit = Some(8 << 20);
    if let Err(error) = drop_lock_capability() {
        return say(&format!("cannot drop CAP_IPC_LOCK: {error}"));
    }
    if let Err(error) = setrlimit(Resource::Memlock, Rlimit { current: limit, maximum: limit }) {
        return say(&format!("cannot set RLIMIT_MEMLOCK: {error}"));
    }
    if let Err(error) = mlockall(MlockAllFlags::FUTURE) {
        return say(&format!("cannot lock memory: {error}"));
    }
    let participant = Participant::join_under(root, 0).unwrap();
    let (mut publisher, mut subscription) =
        (publisher_of(&participant, "/chatter"), subscription_of(&participant, "/chatter"));
    match_up(&mut publisher, &mut subscription);
    drop(send_and_hold(&mut publisher, &mut subscription, 1000));
    check_mapped_once(root);
    say("took all");
}

fn drop_lock_capability() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.effective.remove(CapabilitySet::IPC_LOCK);
    sets.permitted.remove(CapabilitySet::IPC_LOCK);
    set_capabilities(None, sets)
}

fn a_process_without_address_space_gets_a_sentence() {
    ignore_under_an_emulator();
    let line = with_address_space(200_000, "map-nothing");
    for part in ["cannot map", "ulimit -v", "bytes of"] {
        assert!(line.contains(part), "{part} is not in: {line}");
    }
}

/// Role of a child process: loans messages until it cannot map another one.
pub fn map_nothing(participant: &Arc<Participant>) {
    let mut remote = subscription_of(participant, "/of/parent");
    say("ready");
    (1..=40).for_each(|number| check_any(receive(&mut remote).bytes(), number));
    let mut publisher = publisher_of(participant, "/chatter");
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(20 * MEBIBYTE) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    // The publisher continues with the memory that it has.
    assert_eq!(loans.pop().unwrap().bytes_mut().len(), 20 * MEBIBYTE);
    drop(publisher.loan(20 * MEBIBYTE).unwrap());
    say(&error.to_string());
}

fn a_sample_that_cannot_be_mapped_is_taken_later() {
    ignore_under_an_emulator();
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher_of(&participant, "/of/parent");
    let mut child = limited_child(&root, 200_000, "map-later");
    assert_eq!(child.line(), "ready");
    publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
    send_any(&mut publisher, 10_000, 1);
    assert_eq!(child.line(), "full");
    send_any(&mut publisher, 16 * MEBIBYTE, 2);
    assert_eq!(child.line(), "took 2, lost 0");
    child.finish();
}

/// Role of a child process: takes a sample that it cannot map at first.
pub fn map_later(participant: &Arc<Participant>) {
    let mut subscription = subscription_of(participant, "/of/parent");
    say("ready");
    check_any(receive(&mut subscription).bytes(), 1);
    let maximum = getrlimit(Resource::As).maximum;
    let used_pages: u64 =
        std::fs::read_to_string("/proc/self/statm").unwrap().split(' ').next().unwrap().parse().unwrap();
    // The limit leaves enough address space for the program itself.
    let current = Some(used_pages * rustix::param::page_size() as u64 + (8 << 20));
    setrlimit(Resource::As, Rlimit { current, maximum }).unwrap();
    say("full");
    while !subscription.wait(PATIENCE).unwrap() {}
    for _ in 0..3 {
        let error = subscription.take().unwrap_err();
        assert!(matches!(error, Error::NotMapped { .. }), "{error}");
    }
    setrlimit(Resource::As, Rlimit { current: maximum, maximum }).unwrap();
    check_any(receive(&mut subscription).bytes(), 2);
    say(&format!("took 2, lost {}", subscription.losses().overwritten));
}

fn a_publisher_without_a_memory_limit_publishes() {
    let root = Root::new();
    let participant = root.join();
    for limit_bytes in [usize::MAX, usize::MAX - 4095, 1 << 40] {
        let options = PublisherOptions { max_memory_bytes: Some(limit_bytes), ..Default::default() };
        let qos = Qos::default().keep_last(64);
        let mut publisher = publisher_with(&participant, 64, qos, options);
        let mut subscription = subscription(&participant, 64, qos);
        match_up(&mut publisher, &mut subscription);
        for number in 1..=40 {
            send(&mut publisher, 64, number);
        }
        assert_eq!(drain(&mut subscription), (1..=40).collect::<Vec<_>>(), "a limit of {limit_bytes} bytes");
    }
}
