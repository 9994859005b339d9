//! Tests of the simulated CAN bus: firmware and hostile nodes, the socket file, the order of the frames, and their
//! timing.

use crate::{
    firmware::echo,
    sessions::create_client,
    storms::{LONGEST_GAP, any_domain_config, storm},
    support::agent,
};
use gantry_agent::{Agent, Can, CanFrame, CanTiming, Config};
use gantry_micro::{
    Memory, Transport,
    transport::{CanFdTransport, SimulatedCan},
};
use gantry_xrce::wire::SessionId;
use rustix::{
    io::{Errno, read, write},
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with, socketpair, sockopt,
    },
    process::{Pid, Signal, kill_process},
};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::fd::OwnedFd,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use test_support::{PATIENCE, eventually};

test_support::tests!(
    two_clients_share_a_simulated_bus,
    clients_survive_a_killed_agent_on_the_bus,
    an_interface_that_comes_back_is_opened_again,
    frames_are_sent_in_the_order_of_their_identifiers,
    a_saturated_bus_holds_up_those_with_higher_identifiers_until_it_is_free,
    a_node_that_does_not_read_loses_frames_and_harms_nobody,
    storms_on_a_bus_leave_others_their_data,
    packets_that_are_no_frames_end_their_node,
    the_bus_is_no_faster_than_a_wire,
    a_bus_has_its_path_for_itself
);

const FAST: (u32, u32) = (1_000_000, 8_000_000);

/// A bus with its agent. Its socket file is in a separate folder.
struct Rig {
    can: Can,
    agent: Agent,
    lines: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
}

fn timing((nominal, data): (u32, u32)) -> CanTiming {
    CanTiming::new(nominal, data).unwrap()
}

impl Rig {
    fn new(rates: (u32, u32)) -> Self {
        Self::with(Config::default(), rates)
    }

    fn with(config: Config, rates: (u32, u32)) -> Self {
        let (agent, _udp, lines) = agent(config);
        let folder = tempfile::tempdir().unwrap();
        let can = Can::simulated(&agent, &folder.path().join("can0"), timing(rates)).unwrap();
        Self { can, agent, lines, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("can0")
    }

    fn client(&self, identifier: u32) -> CanFdTransport<SimulatedCan> {
        SimulatedCan::connect(self.path(), identifier).unwrap()
    }

    fn has_logged(&self, words: &str) -> bool {
        self.lines.lock().unwrap().iter().any(|line| line.contains(words))
    }
}

/// The memory of a session over CAN FD.
fn memory() -> Memory<63, 8> {
    Memory::new()
}

/// A node that sends raw frames over a blocking socket.
struct Raw(OwnedFd);

fn new_socket() -> OwnedFd {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

impl Raw {
    fn new(path: &Path) -> Self {
        let socket = new_socket();
        sockopt::set_socket_send_buffer_size(&socket, 1).unwrap();
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE)).unwrap();
        connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
        Self(socket)
    }

    fn send(&self, identifier: u32, data: &[u8]) {
        let frame = CanFrame { identifier, has_bit_rate_switch: true, data };
        write(&self.0, &frame.to_bytes().unwrap()).unwrap();
    }

    /// The identifier and the data of the next frame; `None` if the bus has disconnected the node.
    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        let mut packet = [0; 128];
        let length = read(&self.0, &mut packet).unwrap();
        let frame = (length > 0).then(|| CanFrame::parse(&packet[..length]).unwrap())?;
        Some((frame.identifier, frame.data.to_vec()))
    }
}

/// Sends frames with the lowest identifier as long as `run` runs, so that the bus is never free.
fn saturated(path: &Path, run: impl FnOnce()) {
    let (raw, is_over) = (Raw::new(path), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                raw.send(0, &[0; 8]);
            }
        });
        let result = catch_unwind(AssertUnwindSafe(run));
        is_over.store(true, Relaxed); // set even after a panic, so that the scope ends
        result.unwrap_or_else(|panic| resume_unwind(panic));
    });
}

fn two_clients_share_a_simulated_bus() {
    let rig = Rig::new((500_000, 2_000_000));
    let long = "in fragments, ".repeat(15);
    thread::scope(|scope| {
        for (identifier, key, topic) in [(1, 0x0901, "/can_one"), (0x1fff_ffff, 0x0902, "/can_two")] {
            let (transport, long) = (rig.client(identifier), &long);
            scope.spawn(move || {
                echo(transport, memory(), key, topic, |talk| ["one", long, "three"].into_iter().for_each(talk));
            });
        }
    });
    let unsent: Vec<u64> = rig.agent.statistics().iter().map(|client| client.counts.unsent).collect();
    assert_eq!(unsent, [0, 0]);
    drop(rig.can);
    assert!(!rig.folder.path().join("can0").exists(), "the socket is left behind");
}

fn storms_on_a_bus_leave_others_their_data() {
    const KEY: u32 = 0x0904;
    let rig = Rig::with(any_domain_config(), (500_000, 2_000_000));
    let mut hostile = rig.client(9);
    let login = create_client(SessionId::CLIENT, 0x0d00_0904, &[]);
    let (storm, theft) = (storm(1), create_client(SessionId::CLIENT, KEY, &[]));
    let (mut sent, mut talks, mut longest) = (0, 0, Duration::ZERO);
    echo(rig.client(7), memory(), KEY, "/amid_can", |talk| {
        talk("connected");
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            for message in [&login, &storm, &theft] {
                sent += u32::from(hostile.send(message).unwrap());
            }
            let asked = Instant::now();
            talk(&talks.to_string());
            (talks, longest) = (talks + 1, longest.max(asked.elapsed()));
            thread::sleep(Duration::from_millis(20).saturating_sub(asked.elapsed()));
        }
    });
    assert!(talks >= 25 && longest < LONGEST_GAP, "{talks} texts came back, one after {longest:?}");
    assert!(sent >= 20, "the bus took {sent} messages of the storm");
    assert!(rig.has_logged("uses the key of"), "the theft came to nothing");
}

/// Starts the program with a simulated bus, and waits until it reports that the bus is ready.
fn program(path: &Path) -> Child {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gantry-agent"))
        .args(["can", "--bitrate", "1000000", "--dbitrate", "8000000", "--domain", "0", "--simulated"])
        .arg(path)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("simulated") && line.contains("1000000 bit/s, data 8000000"), "{line}");
    program
}

fn clients_survive_a_killed_agent_on_the_bus() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("can0");
    let mut first = program(&path);
    echo(SimulatedCan::connect(&path, 7).unwrap(), memory(), 0x0903, "/can_restart", |talk| {
        ["one", "two"].into_iter().for_each(&mut *talk);
        first.kill().unwrap();
        first.wait().unwrap();
        let mut second = program(&path);
        ["three", "four"].into_iter().for_each(talk);
        kill_process(Pid::from_child(&second), Signal::INT).unwrap();
        assert!(second.wait().unwrap().success());
    });
    assert!(!path.exists(), "the socket is left behind");
}

/// The two ends of a connection to the bus: the agent's end, which does not block, and the client's end.
fn line() -> (OwnedFd, Raw) {
    let (line, end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    rustix::io::ioctl_fionbio(&line, true).unwrap();
    sockopt::set_socket_timeout(&end, sockopt::Timeout::Recv, Some(PATIENCE)).unwrap();
    (line, Raw(end))
}

fn an_interface_that_comes_back_is_opened_again() {
    let (agent, _udp, lines) = agent(Config::default());
    let count = |words: &str| lines.lock().unwrap().iter().filter(|line| line.contains(words)).count();
    let login = create_client(SessionId::CLIENT, 0x0908, &[]);
    let frame = [&[login.len() as u8][..], &login].concat();
    let log_in = |end: &Raw| {
        end.send(7, &frame);
        assert_eq!(end.receive().map(|(identifier, _)| identifier), Some(7));
    };
    let plugged = Arc::<Mutex<Option<OwnedFd>>>::default();
    let (of_agent, tries) = (plugged.clone(), Arc::<AtomicUsize>::default());
    let of_test = tries.clone();
    let open = move || {
        tries.fetch_add(1, Relaxed);
        of_agent.lock().unwrap().take().ok_or_else(|| Errno::NODEV.into())
    };
    let (first, end) = line();
    let _can = Can::over(&agent, first, open).unwrap();
    log_in(&end);
    drop(end);
    eventually("it is looked for several times", || of_test.load(Relaxed) > 2);
    assert_eq!((count("can test: failed"), count("works again")), (1, 0));
    let (second, end) = line();
    *plugged.lock().unwrap() = Some(second);
    eventually("it is back", || count("can test: works again") == 1);
    log_in(&end);
    assert_eq!(count("can test: failed"), 1);
}

fn frames_are_sent_in_the_order_of_their_identifiers() {
    let rig = Rig::new((10_000, 10_000));
    let reader = Raw::new(&rig.path());
    let nodes = [9, 3, 0x1fff_ffff, 5].map(|identifier| (identifier, Raw::new(&rig.path())));
    saturated(&rig.path(), || {
        // The bus reads the waiting frames of all nodes before each transmission, so it knows all of them when it
        // becomes free.
        assert_eq!(reader.receive(), Some((0, vec![0; 8])));
        for (identifier, node) in &nodes {
            node.send(*identifier, &[*identifier as u8; 9]);
        }
    });
    let others = std::iter::repeat_with(|| reader.receive().unwrap()).filter(|(identifier, _)| *identifier != 0);
    let others: Vec<_> = others.take(4).collect();
    assert_eq!(others.iter().map(|(identifier, _)| *identifier).collect::<Vec<_>>(), [3, 5, 9, 0x1fff_ffff]);
    // Nine bytes of data are padded with zeros to twelve.
    assert_eq!(others[0].1, [3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0]);
}

fn a_saturated_bus_holds_up_those_with_higher_identifiers_until_it_is_free() {
    let rig = Rig::new((500_000, 2_000_000));
    let mut held_up = rig.client(6);
    saturated(&rig.path(), || {
        // The socket of the node has room for a few frames and then accepts no more.
        let mut sent = 0;
        eventually("the node is full", || {
            assert!(sent < 50, "the node has taken {sent} frames");
            let is_sent = held_up.send(&[0xff; 63]).unwrap();
            sent += u32::from(is_sent);
            !is_sent
        });
    });
    eventually("the node has room", || held_up.send(&[0xff; 63]).unwrap());
    let listener = Raw::new(&rig.path());
    echo(rig.client(5), memory(), 0x0904, "/can_saturated", |talk| {
        talk("before");
        saturated(&rig.path(), || while listener.receive() != Some((0, vec![0; 8])) {});
        talk("after");
    });
}

fn a_node_that_does_not_read_loses_frames_and_harms_nobody() {
    let rig = Rig::new(FAST);
    let deaf = Raw::new(&rig.path());
    saturated(&rig.path(), || {
        eventually("frames are lost", || rig.has_logged("node 1 does not read its frames, and has lost 1 "))
    });
    echo(rig.client(1), memory(), 0x0905, "/can_overrun", |talk| talk("one"));
    // The node that did not read gets only the frames for which its socket had room.
    assert_eq!(deaf.receive(), Some((0, vec![0; 8])));
}

fn packets_that_are_no_frames_end_their_node() {
    let rig = Rig::new(FAST);
    let good = CanFrame { identifier: 1, has_bit_rate_switch: false, data: &[1] }.to_bytes().unwrap();
    let standard = [&1_u32.to_ne_bytes()[..], &good[4..]].concat();
    let too_long = [&good[..4], &[65], &good[5..]].concat();
    for packet in [&good[..16], &good[..71], &[&good[..], &[0]].concat(), &[0; 1000], &standard, &too_long] {
        let node = Raw::new(&rig.path());
        write(&node.0, packet).unwrap();
        assert_eq!(node.receive(), None, "a packet of {} bytes", packet.len());
    }
    assert!(rig.has_logged("node 1 is disconnected: 16 bytes are not a frame of CAN FD"));
    // Frames without a complete message do not end the node's connection.
    let node = Raw::new(&rig.path());
    [&[][..], &[0], &[63; 8], &[3, 0x81, 0, 0]].into_iter().for_each(|data| node.send(2, data));
    echo(rig.client(1), memory(), 0x0906, "/can_hostile", |talk| talk("one"));
}

fn the_bus_is_no_faster_than_a_wire() {
    const FRAMES: u32 = 500;
    let rig = Rig::new((500_000, 2_000_000));
    let (sender, receiver) = (Raw::new(&rig.path()), Raw::new(&rig.path()));
    let data: [u8; 64] = std::array::from_fn(|index| index as u8);
    let frame = CanFrame { identifier: 0x0123_4567, has_bit_rate_switch: true, data: &data };
    let wire = FRAMES * timing((500_000, 2_000_000)).frame_time(&frame);
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| (0..FRAMES).for_each(|_| sender.send(frame.identifier, &data)));
        (0..FRAMES).for_each(|_| drop(receiver.receive().unwrap()));
    });
    let ratio = began.elapsed().as_secs_f64() / wire.as_secs_f64();
    // The first frame may start before the measurement, and the last frames may still be in the socket.
    assert!(ratio > 0.95, "{FRAMES} frames took {ratio:.3} of {wire:?}");
}

fn a_bus_has_its_path_for_itself() {
    let rig = Rig::new(FAST);
    let in_use = Can::simulated(&rig.agent, &rig.path(), timing(FAST)).unwrap_err().to_string();
    assert!(in_use.contains("can0") && in_use.contains("another agent hosts it"), "{in_use}");
    let file = rig.folder.path().join("notes.txt");
    File::create(&file).unwrap();
    let no_socket = Can::simulated(&rig.agent, &file, timing(FAST)).unwrap_err().to_string();
    assert!(no_socket.contains("not a socket") && file.exists(), "{no_socket}");
    let no_folder = Can::simulated(&rig.agent, &rig.folder.path().join("no/can0"), timing(FAST)).unwrap_err();
    assert!(no_folder.to_string().contains("create the folder"), "{no_folder}");
    // A killed bus leaves a socket file behind, on which no process listens.
    let stale = rig.folder.path().join("stale");
    let killed = new_socket();
    bind(&killed, &SocketAddrUnix::new(&stale).unwrap()).unwrap();
    listen(&killed, 1).unwrap();
    drop(killed);
    let second = Can::simulated(&rig.agent, &stale, timing(FAST)).unwrap();
    echo(SimulatedCan::connect(&stale, 1).unwrap(), memory(), 0x0907, "/can_stale", |talk| talk("one"));
    // A bus must not remove a file that is not its own socket.
    std::fs::remove_file(&stale).unwrap();
    File::create(&stale).unwrap();
    drop(second);
    assert!(stale.exists());
}
