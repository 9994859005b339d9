//! Tests of serial lines, and of the program on a serial line.

use super::{STRING, exchange, wires::SerialWire};
use crate::support::{TestClient, agent, host, socket};
use gantry::Qos;
use gantry_agent::{Config, Serial};
use gantry_msgs::std_msgs::msg::String;
use gantry_xrce::{framing::SerialEncoder, wire::StreamId};
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, openpt, ptsname, unlockpt},
};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Barrier,
    thread,
};
use test_support::eventually;

test_support::tests!(
    clients_share_a_serial_line,
    clients_on_two_serial_lines_have_the_same_address,
    noise_on_a_serial_line_is_survived_and_logged,
    a_slow_line_holds_up_nobody,
    a_serial_device_that_comes_back_is_opened_again,
    the_program_serves_a_pseudoterminal_until_it_is_interrupted
);

fn clients_share_a_serial_line() {
    let (agent, _udp, _) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut client = TestClient::open(SerialWire::open(serial.path(), 1), 0x0704);
    exchange(&mut client, "over_serial");
    // A line can be open in one program only, because two programs would each get some of its bytes. So the second
    // client opens it after the first has closed it.
    drop(client);
    let mut other = TestClient::open(SerialWire::open(serial.path(), 2), 0x0705);
    exchange(&mut other, "over_serial_too");
    assert_eq!(agent.statistics().len(), 2);
}

fn clients_on_two_serial_lines_have_the_same_address() {
    let (agent, _udp, _) = agent(Config::default());
    let lines = [(); 2].map(|()| Serial::pseudoterminal(&agent).unwrap());
    let both_are_connected = Barrier::new(2);
    thread::scope(|scope| {
        for (line, key, topic) in
            [(&lines[0], 0x0710, "over_the_first_line"), (&lines[1], 0x0711, "over_the_second_line")]
        {
            let (agent, both_are_connected) = (&agent, &both_are_connected);
            scope.spawn(move || {
                let mut client = TestClient::open(SerialWire::open(line.path(), SerialEncoder::CLIENT), key);
                both_are_connected.wait();
                assert_eq!(agent.statistics().len(), 2);
                exchange(&mut client, topic);
            });
        }
    });
}

fn noise_on_a_serial_line_is_survived_and_logged() {
    let (agent, _udp, lines) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut client = TestClient::open(SerialWire::open(serial.path(), 1), 0x0706);
    let mut line = File::options().write(true).open(serial.path()).unwrap();
    // Sends a frame with a wrong checksum, the beginning of another frame, and bytes outside of frames.
    line.write_all(&[0x7e, 1, 0, 2, 0, 5, 5, 0, 0, 0x7e, 1, 0, 0xff, 0, 0x55]).unwrap();
    exchange(&mut client, "over_noise");
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("wrong checksum")), "{lines:?}");
}

fn a_slow_line_holds_up_nobody() {
    let (agent, udp, _) = agent(Config::default());
    let serial = Serial::pseudoterminal(&agent).unwrap();
    let mut slow = TestClient::open(SerialWire::open(serial.path(), 1), 0x0708);
    let reader = slow.create_reader(1, "rt/too_fast", STRING);
    slow.read(reader, StreamId::BEST_EFFORT, u16::MAX);
    let mut publisher = host().create_publisher::<String>("/too_fast", Qos::default().keep_last(100)).unwrap();
    let text = |number: u32| format!("{number:0>150}");
    // The client does not read its line, whose buffer holds some kilobytes.
    for number in 0..1000 {
        publisher.publish_copy(&String { data: text(number) }).unwrap();
    }
    let mut other = TestClient::open(socket(&udp), 0x0709);
    exchange(&mut other, "beside_a_slow_line");
    // When the client reads again, it gets all waiting bytes.
    slow.until("the newest sample", |slow| {
        slow.data(reader).last().is_some_and(|data| data.windows(150).any(|window| window == text(999).as_bytes()))
    });
    let statistics = agent.statistics();
    let counts = statistics.iter().find(|client| client.key.0 == 0x0708_u32.to_be_bytes()).unwrap().counts;
    assert_eq!(counts.delivered as usize, slow.data(reader).len());
    assert_eq!(counts.delivered + counts.overwritten, 1000);
}

/// Makes a pseudoterminal that replaces a device. The agent opens the path; the test has the returned end.
fn device() -> (File, PathBuf) {
    let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    unlockpt(&end).unwrap();
    let path = ptsname(&end, Vec::new()).unwrap();
    (File::from(end), path.to_str().unwrap().into())
}

fn a_serial_device_that_comes_back_is_opened_again() {
    let (agent, _udp, lines) = agent(Config::default());
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("ttyUSB0");
    let (end, path) = device();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let serial = Serial::open(&agent, &link, 115_200).unwrap();
    assert_eq!(serial.path(), link);
    let mut client = TestClient::open(SerialWire::over(end, 1), 0x070a);
    // The test replaces the device, as if it was unplugged and plugged in again. In between, no client uses it. The
    // link goes first, because another test may get a pseudoterminal with the path of the old one.
    let (end, path) = device();
    std::fs::remove_file(&link).unwrap();
    client.wire = Box::new(SerialWire::over(end, 1));
    eventually("the device is gone", || lines.lock().unwrap().iter().any(|line| line.contains("failed")));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    eventually("the device is back", || lines.lock().unwrap().iter().any(|line| line.contains("works again")));
    client.until("connected", |client| client.session.is_connected());
    assert_eq!(agent.statistics().len(), 1);
    exchange(&mut client, "over_a_device_that_came_back");
}

fn the_program_serves_a_pseudoterminal_until_it_is_interrupted() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gantry-agent"))
        .args(["pty", "--domain", "0", "--verbose"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut path = std::string::String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut path).unwrap();
    let mut client = TestClient::open(SerialWire::open(Path::new(path.trim()), 1), 0x0707);
    exchange(&mut client, "over_program");
    kill_process(Pid::from_child(&program), Signal::INT).unwrap();
    eventually("the program ends", || program.try_wait().unwrap().is_some());
    assert!(program.wait().unwrap().success());
    let mut log = std::string::String::new();
    program.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("client 00000707 has connected at serial"), "{log}");
}
