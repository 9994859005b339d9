//! The terminal: the program uses the terminal's alternate screen, without echo. The terminal is restored when the
//! program ends, even after a panic.

use crate::{app::App, view};
use crossterm::{
    Command,
    cursor::Show,
    event::{self, Event, KeyEvent},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use gantry_command::{Context, Result};
use ratatui::{backend::CrosstermBackend, layout::Size};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{
    cell::Cell,
    io::{self, IsTerminal, Stdout},
    mem::ManuallyDrop,
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

static HOOK: Once = Once::new();
/// Whether the program has changed the terminal's mode, so that it must be restored.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// The poll events of a terminal that was closed.
const GONE: PollFlags = PollFlags::HUP.union(PollFlags::ERR);
/// The longest wait at the end of the program for a terminal that accepts no bytes.
const PATIENCE: Duration = Duration::from_millis(500);

/// The result of waiting for input.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// No input came.
    None,
    /// A key was pressed.
    Key(KeyEvent),
    /// The table must be drawn again, for example because the size of the terminal has changed.
    Drawn,
    /// The terminal was closed.
    Gone,
}

/// Whether standard input and standard output are a terminal.
#[must_use]
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The terminal that shows the table.
pub struct Terminal {
    /// The screen is never dropped: if the terminal was closed, the library's drop function prints an error to it, and
    /// panics.
    screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<Stdout>>>,
    /// The size at which the table was last drawn.
    drawn: Size,
    /// Whether the library may have read keys that it has not returned yet.
    has_more: Cell<bool>,
}

impl Terminal {
    /// Switches the terminal to the alternate screen and raw mode.
    ///
    /// # Errors
    /// Standard input or output is not a terminal, or its mode cannot be set.
    pub fn open() -> Result<Terminal> {
        HOOK.call_once(|| {
            let next = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                restore(); // so that the message of the panic stays visible
                next(panic);
            }));
        });
        let open = || {
            IS_TAKEN.store(true, SeqCst);
            enable_raw_mode()?;
            execute!(io::stdout(), EnterAlternateScreen)?;
            ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))
        };
        let screen = open().inspect_err(|_| restore()).context(|| "the terminal cannot be used".to_owned())?;
        Ok(Terminal { screen: ManuallyDrop::new(screen), drawn: Size::default(), has_more: Cell::new(false) })
    }

    /// Waits for input, for at most `time`. The function checks whether the terminal was closed before the library
    /// reads, because the library would read the end of the input in an endless loop.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub fn wait(&self, time: Duration) -> Result<Input> {
        let unreadable = || "the terminal cannot be read".to_owned();
        // The remaining keys are available without a wait if the library has read several keys at once.
        if !self.has_more.get() {
            let found = poll_input(time).context(unreadable)?;
            if found.intersects(GONE) {
                return Ok(Input::Gone);
            }
            if found.is_empty() {
                // The library reports a new size only after it has read a key, so the size is compared here.
                let has_new_size = self.screen.size().is_ok_and(|size| size != self.drawn);
                return Ok(if has_new_size { Input::Drawn } else { Input::None });
            }
        }
        let has_event = event::poll(Duration::ZERO).context(unreadable)?;
        self.has_more.set(has_event);
        match has_event.then(event::read).transpose().context(unreadable)? {
            Some(Event::Key(key)) => Ok(Input::Key(key)),
            Some(_) => Ok(Input::Drawn),
            None => Ok(Input::None),
        }
    }

    /// Draws the table. If the terminal was closed, this is not an error: the next [`Self::wait`] reports it.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn draw(&mut self, app: &mut App) -> Result<()> {
        match self.screen.draw(|frame| view::draw(app, frame)) {
            Ok(drawn) => {
                self.drawn = drawn.area.as_size();
                Ok(())
            }
            Err(_) if poll_input(Duration::ZERO).is_ok_and(|found| found.intersects(GONE)) => Ok(()),
            Err(error) => Err(error).context(|| "the terminal cannot be written".to_owned()),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal if its mode was changed. The function does not lock standard output, because another thread
/// may hold this lock while the terminal accepts no bytes.
pub fn restore() {
    if !IS_TAKEN.swap(false, SeqCst) {
        return;
    }
    // Errors are ignored: nothing can be done about a terminal that was closed or accepts no bytes.
    let _ = disable_raw_mode();
    let mut codes = String::new();
    let _ = LeaveAlternateScreen.write_ansi(&mut codes).and_then(|()| Show.write_ansi(&mut codes));
    let stdout = io::stdout();
    let mut ready = [PollFd::new(&stdout, PollFlags::OUT)];
    if poll(&mut ready, Some(&timespec(PATIENCE))).is_ok_and(|count| count > 0) {
        let _ = rustix::io::write(&stdout, codes.as_bytes());
    }
}

/// Waits for at most `time`, and returns the poll events of standard input. They are empty after the time or a signal.
fn poll_input(time: Duration) -> rustix::io::Result<PollFlags> {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut ready, Some(&timespec(time))) {
        Err(Errno::INTR) => Ok(PollFlags::empty()),
        polled => polled.map(|_| ready[0].revents()),
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
