//! Serial lines and pseudoterminals, with the framing of DDS-XRCE.

use super::stream::Stream;
use crate::{
    agent::{Agent, Port},
    error::{Error, Result},
    link::{PeerAddress, Transport},
    lock::lock,
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
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

/// The longest message that is taken, in bytes.
const MAX_BYTES: usize = 16 << 10;
/// A device that is gone, such as an adapter that was pulled out, is looked for so often.
const RETRY: Duration = Duration::from_millis(250);

/// Clients on a serial line, until this is dropped. Several can share a line: each has an address in the frames.
#[derive(Debug)]
pub struct Serial {
    path: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Keeps a pseudoterminal open while no client has it.
    _other_end: Option<OwnedFd>,
}

struct Shared {
    name: String,
    state: Mutex<State>,
    ending: Condvar,
}

#[derive(Default)]
struct State {
    /// The open line.
    stream: Option<Arc<Stream>>,
    is_ending: bool,
}

impl Serial {
    /// Takes clients on a device, such as `/dev/ttyUSB0`. If it goes away, it is opened again when it is back.
    ///
    /// # Errors
    /// The device cannot be opened, or does not have that speed, in bits per second.
    pub fn open(agent: &Agent, path: &Path, baud: u32) -> Result<Serial> {
        let line = open_device(path, baud).map_err(|source| {
            let advice = match source.kind() {
                io::ErrorKind::PermissionDenied => "; join the group that owns it (often dialout)",
                io::ErrorKind::NotFound => "; is it plugged in?",
                _ => "",
            };
            Error::Open { what: format!("serial line {} at {baud} baud", path.display()), source, advice }
        })?;
        let of_thread = path.to_owned();
        Self::start(agent, path.to_owned(), line, None, Some(Box::new(move || open_device(&of_thread, baud))))
    }

    /// Makes a pseudoterminal and takes clients on it: a program, such as an emulator, opens [`Self::path`].
    ///
    /// # Errors
    /// The system has none.
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
        again: Option<Reopen>,
    ) -> Result<Serial> {
        let failed = |source| Error::Thread { what: "a serial line", source };
        let stream = Arc::new(Stream::new(line).map_err(failed)?);
        let state = Mutex::new(State { stream: Some(stream.clone()), is_ending: false });
        let shared = Arc::new(Shared { name: format!("serial {}", path.display()), state, ending: Condvar::new() });
        let port = agent.attach(shared.clone());
        let of_thread = shared.clone();
        let thread =
            threads::spawn("serial", move || of_thread.run(stream, &port, again.as_deref())).map_err(failed)?;
        Ok(Serial { path, shared, thread: Some(thread), _other_end: other_end })
    }

    /// The device.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

type Reopen = Box<dyn Fn() -> io::Result<OwnedFd> + Send>;

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

/// Bytes as they are, 8 data bits, no parity, one stop bit.
fn make_raw(line: impl AsFd, baud: Option<u32>) -> io::Result<()> {
    let mut settings = tcgetattr(&line)?;
    settings.make_raw();
    if let Some(baud) = baud {
        settings.set_speed(baud)?;
    }
    tcsetattr(&line, OptionalActions::Flush, &settings)?;
    Ok(())
}

impl Shared {
    fn run(&self, mut stream: Arc<Stream>, port: &Port, again: Option<&(dyn Fn() -> io::Result<OwnedFd> + Send)>) {
        let mut buffer = vec![0; MAX_BYTES];
        loop {
            let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
            let mut told = SerialCounters::default();
            let ended = stream.run(
                &mut |mut bytes| {
                    while let Some(frame) = decoder.decode(&mut bytes, &mut buffer) {
                        port.receive(PeerAddress::Number(frame.source.into()), frame.message);
                    }
                    told = tell_defects(port, told, decoder.counters());
                },
                &mut || port.has_room_for_all(),
                &mut || true,
            );
            let Err(error) = ended else { return };
            port.failed(&error);
            lock(&self.state).stream = None;
            let Some(reopened) = again.and_then(|again| self.reopen(again)) else { return };
            stream = reopened;
            port.restored();
        }
    }

    /// Waits until the device is there again; `None` at the end.
    fn reopen(&self, again: &dyn Fn() -> io::Result<OwnedFd>) -> Option<Arc<Stream>> {
        let mut state = lock(&self.state);
        loop {
            if state.is_ending {
                return None;
            }
            if let Ok(stream) = again().and_then(Stream::new) {
                let stream = Arc::new(stream);
                state.stream = Some(stream.clone());
                return Some(stream);
            }
            state = self.ending.wait_timeout(state, RETRY).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Tells the agent of frames that were dropped since the last time.
fn tell_defects(port: &Port, told: SerialCounters, now: SerialCounters) -> SerialCounters {
    let defects = |counters: &SerialCounters| {
        counters.crc_errors.wrapping_add(counters.incomplete).wrapping_add(counters.too_long)
    };
    let count = defects(&now).wrapping_sub(defects(&told));
    if count > 0 {
        port.defective(format_args!(
            "{count} frames are dropped; so far {} with a wrong checksum, {} incomplete, {} too long, {} bytes",
            now.crc_errors, now.incomplete, now.too_long, now.dropped_bytes
        ));
    }
    now
}

impl Drop for Serial {
    fn drop(&mut self) {
        let stream = {
            let mut state = lock(&self.shared.state);
            state.is_ending = true;
            state.stream.take()
        };
        if let Some(stream) = stream {
            stream.end();
        }
        self.shared.ending.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Transport for Shared {
    fn send(&self, peer: PeerAddress, message: &[u8]) -> io::Result<()> {
        let PeerAddress::Number(number) = peer else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
        let stream = lock(&self.state).stream.clone().ok_or(io::ErrorKind::NotConnected)?;
        let mut encoder =
            SerialEncoder::new(SerialEncoder::AGENT, number as u8, message.len()).map_err(io::Error::other)?;
        // At most two bytes for each one, behind the flag.
        let mut frame = vec![0; 2 * (message.len() + 8)];
        let length = encoder.encode(message, &mut frame);
        stream.send(frame.get(..length).unwrap_or_default())
    }

    fn has_room(&self, _peer: PeerAddress) -> bool {
        // On a line that is gone, sending fails.
        lock(&self.state).stream.as_ref().is_none_or(|stream| stream.has_room())
    }

    fn max_message_bytes(&self) -> usize {
        MAX_BYTES
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
