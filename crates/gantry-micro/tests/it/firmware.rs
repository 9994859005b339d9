//! Tests of the example firmware on an emulated Cortex-M3. The serial line of the emulator is connected to an agent.

use crate::{
    agent::Agent,
    transports::{End, Serial, Stream, now},
};
use gantry_msgs::{
    gantry_cdr::{AlignedBytes, Message},
    geometry_msgs::msg::{Twist, Vector3},
    sensor_msgs::msg::{Imu, ImuView},
};
use gantry_xrce::wire::ObjectKind;
use std::{
    env, fs,
    io::Write,
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The address of the firmware's memory, from its `memory.x`.
const RAM: usize = 0x2000_0000;
const RAM_BYTES: usize = 20 * 1024;
/// The number of bytes of the stack that are filled with `PAINT` before the firmware starts. The bytes that differ at
/// the end show how deep the stack was.
const PAINTED_BYTES: usize = 8 * 1024;
const PAINT: u8 = 0xcc;

/// An emulated board, and the agent at its serial line.
struct Board {
    machine: Child,
    end: Stream<UnixStream, Serial>,
    agent: Agent,
}

impl Board {
    fn start(elf: &str, folder: &std::path::Path) -> Self {
        let (path, paint) = (folder.join("serial"), folder.join("paint"));
        fs::write(&paint, [PAINT; PAINTED_BYTES]).unwrap();
        let painted = RAM + RAM_BYTES - PAINTED_BYTES;
        let listener = UnixListener::bind(&path).unwrap();
        let machine = Command::new("qemu-system-arm")
            .args(["-machine", "mps2-an385", "-display", "none", "-monitor", "stdio", "-kernel", elf])
            .args(["-serial", &format!("unix:{}", path.display())])
            .args(["-device", &format!("loader,file={},addr={painted:#x},force-raw=on", paint.display())])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { machine, end: Stream { stream, framing: Serial::default() }, agent: Agent::default() }
    }

    #[track_caller]
    fn until(&mut self, what: &str, condition: impl Fn(&Agent) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !condition(&self.agent) {
            assert!(Instant::now() < deadline, "never: {what}");
            self.end.receive().iter().for_each(|message| self.agent.receive(message, now()));
            while let Some(message) = self.agent.transmit(now()) {
                self.end.send(&message);
            }
        }
    }

    /// Sends a command to the monitor of the emulator.
    fn order(&mut self, command: &str) {
        writeln!(self.machine.stdin.as_mut().unwrap(), "{command}").unwrap();
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.machine.kill();
        let _ = self.machine.wait();
    }
}

fn imu(agent: &Agent, index: usize) -> ImuView<AlignedBytes> {
    Imu::view(AlignedBytes::copy_of(&agent.written[index].2)).unwrap()
}

fn shows(agent: &Agent, rotation_rad_per_s: f64) -> bool {
    !agent.written.is_empty() && imu(agent, agent.written.len() - 1).angular_velocity().z == rotation_rad_per_s
}

#[test]
#[ignore = "needs qemu-system-arm and, in GANTRY_FIRMWARE, the path of the example firmware"]
fn the_example_firmware_publishes_and_takes() {
    let elf = env::var("GANTRY_FIRMWARE").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut board = Board::start(&elf, folder.path());
    board.until("messages come with the agent's time", |agent| {
        agent.written.len() >= 10 && imu(agent, agent.written.len() - 1).header().stamp().sec >= 1_700_000_000
    });
    assert_eq!(imu(&board.agent, 0).header().frame_id(), "imu_link");
    let twist = |z| Twist { angular: Vector3 { z, ..Vector3::default() }, ..Twist::default() }.to_cdr().unwrap();
    assert!(board.agent.send(ObjectKind::DATA_READER, &[], &twist(0.5)[4..]));
    board.until("the command has an effect", |agent| shows(agent, 0.5));
    board.agent.restart();
    board.until("the robot stops and goes on publishing", |agent| !agent.reads.is_empty() && shows(agent, 0.0));
    assert!(board.agent.send(ObjectKind::DATA_READER, &[], &twist(-0.25)[4..]));
    board.until("the command has an effect again", |agent| shows(agent, -0.25));
    let image = folder.path().join("ram");
    let painted = RAM + RAM_BYTES - PAINTED_BYTES;
    board.order(&format!("pmemsave {painted:#x} {PAINTED_BYTES} \"{}\"\nquit", image.display()));
    board.machine.wait().unwrap();
    let unused_bytes = fs::read(image).unwrap().iter().take_while(|byte| **byte == PAINT).count();
    eprintln!("figure stack-bytes {}", PAINTED_BYTES - unused_bytes);
}
