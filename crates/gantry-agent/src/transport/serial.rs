//! Transport over serial lines and pseudoterminals, with DDS-XRCE's serial framing.

use super::{
    device::{Device, Open},
    stream::Stream,
};
use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    link::{PeerAddress, Transport},
    threads,
};
use gantry_xrce::framing::{SerialCounters, SerialDecoder, SerialEncoder};
use rustix::{
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
};

/// The largest length of a message that is accepted, in bytes.
const MAX_BYTES: usize = 16 << 10;

/// The clients on a serial line. They are served until this value is dropped. Several clients can share a line, because
/// each frame has an address.
#[derive(Debug)]
pub struct Serial {
    path: PathBuf,
    shared: Arc<SerialLine>,
    thread: Option<JoinHandle<()>>,
    /// The slave end of a pseudoterminal. It stays open, because reading from the master end fails while the slave end
    /// is open nowhere.
    _other_end: Option<OwnedFd>,
}

struct SerialLine {
    name: String,
    device: Device,
}

impl Serial {
    /// Serves clients on a device, such as `/dev/ttyUSB0`. If the device disappears, it is opened again when it is
    /// back.
    ///
    /// # Errors
    /// The device cannot be opened, or does not support the speed `baud` (in bits per second).
    pub fn open(agent: &Agent, path: &Path, baud: u32) -> Result<Serial> {
        let line = open_device(path, baud).map_err(|source| {
            let advice = match source.kind() {
                io::ErrorKind::PermissionDenied => "; join the group that owns it (often dialout)",
                io::ErrorKind::NotFound => "; check that the device is plugged in",
                _ => "",
            };
            Error::Open { what: format!("serial line {} at {baud} baud", path.display()), source, advice }
        })?;
        let of_thread = path.to_owned();
        let open = move || Stream::new(open_device(&of_thread, baud)?);
        Self::start(agent, path.to_owned(), line, None, Some(Box::new(open)))
    }

    /// Makes a pseudoterminal and serves clients on it. A program such as an emulator opens [`Self::path`].
    ///
    /// # Errors
    /// The system has no free pseudoterminal.
    pub fn pseudoterminal(agent: &Agent) -> Result<Serial> {
        let (line, other_end, path) = open_pseudoterminal().map_err(|source| Error::Open {
            what: "a pseudoterminal".to_owned(),
            source,
            advice: "",
        })?;
        Self::start(agent, path, line, Some(other_end), None)
    }

    fn start(
        agent: &Agent,
        path: PathBuf,
        line: OwnedFd,
        other_end: Option<OwnedFd>,
        open: Option<Open>,
    ) -> Result<Serial> {
        let failed = |source| Error::Thread { what: "a serial line", source };
        let device = Device::new(Stream::new(line).map_err(failed)?);
        let shared = Arc::new(SerialLine { name: format!("serial {}", path.display()), device });
        let port = agent.attach(shared.clone());
        let of_thread = shared.clone();
        let thread = threads::spawn("serial", move || of_thread.run(&port, open.as_ref())).map_err(failed)?;
        Ok(Serial { path, shared, thread: Some(thread), _other_end: other_end })
    }

    /// The path of the device.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open_device(path: &Path, baud: u32) -> io::Result<OwnedFd> {
    let line = open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    make_raw(&line, Some(baud))?;
    Ok(line)
}

fn open_pseudoterminal() -> io::Result<(OwnedFd, OwnedFd, PathBuf)> {
    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&line)?;
    unlockpt(&line)?;
    let path = PathBuf::from(ptsname(&line, Vec::new())?.to_string_lossy().into_owned());
    let other_end = open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    make_raw(&other_end, None)?;
    rustix::io::ioctl_fionbio(&line, true)?;
    Ok((line, other_end, path))
}

/// Sets the mode of the line: raw bytes, 8 data bits, no parity, one stop bit.
fn make_raw(line: impl AsFd, baud: Option<u32>) -> io::Result<()> {
    let mut settings = tcgetattr(&line)?;
    settings.make_raw();
    if let Some(baud) = baud {
        settings.set_speed(baud)?;
    }
    tcsetattr(&line, OptionalActions::Flush, &settings)?;
    Ok(())
}

impl SerialLine {
    fn run(&self, port: &Port, open: Option<&Open>) {
        let mut buffer = vec![0; MAX_BYTES];
        self.device.run(port, open, |stream| {
            let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
            let mut reported = SerialCounters::default();
            stream.run(
                &mut |mut bytes| {
                    while let Some(frame) = decoder.decode(&mut bytes, &mut buffer) {
                        port.receive(PeerAddress::Number(frame.source.into()), frame.message);
                    }
                    reported = log_defects(port, reported, decoder.counters());
                },
                &mut || port.has_room_for_all(),
                &mut || true,
            )
        });
    }
}

/// Logs the number of frames that were dropped since the last report.
fn log_defects(port: &Port, reported: SerialCounters, now: SerialCounters) -> SerialCounters {
    let defects = |counters: &SerialCounters| {
        counters.crc_errors.wrapping_add(counters.incomplete).wrapping_add(counters.too_long)
    };
    let count = defects(&now).wrapping_sub(defects(&reported));
    if count > 0 {
        port.defective(format_args!(
            "{count} frames are dropped; since the start, {} frames had a wrong checksum, {} were incomplete, {} were \
             too long, and {} bytes are lost",
            now.crc_errors, now.incomplete, now.too_long, now.dropped_bytes
        ));
    }
    now
}

impl Drop for Serial {
    fn drop(&mut self) {
        self.shared.device.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Transport for SerialLine {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        let PeerAddress::Number(number) = peer else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
        let mut encoder =
            SerialEncoder::new(SerialEncoder::AGENT, number as u8, message.len()).map_err(io::Error::other)?;
        // A frame has a flag, and at most two bytes for each byte of its content, because of the stuffing.
        let mut frame = vec![0; 2 * (message.len() + 8)];
        let length = encoder.encode(message, &mut frame);
        self.device.send(frame.get(..length).unwrap_or_default())
    }

    fn has_room(&self, _peer: PeerAddress) -> bool {
        self.device.has_room()
    }

    fn max_message_bytes(&self) -> usize {
        MAX_BYTES
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for SerialLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
