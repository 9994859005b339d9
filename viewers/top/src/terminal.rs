//! The terminal: its other screen, without echo. It is as before when this ends, also by a panic.

use crate::{app::App, view};
use crossterm::{
    cursor::Show,
    event::{self, Event, KeyEvent},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use gantry_command::{Context, Result};
use ratatui::backend::CrosstermBackend;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{
    cell::Cell,
    io::{self, IsTerminal, Stdout},
    panic,
    sync::Once,
    time::Duration,
};

static HOOK: Once = Once::new();

/// What came from the terminal.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// Nothing.
    None,
    /// A key.
    Key(KeyEvent),
    /// The picture is to be drawn again, as in another size.
    Drawn,
    /// The terminal is gone.
    Gone,
}

/// Whether standard input and standard output are a terminal.
#[must_use]
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The terminal while the table is shown.
pub struct Terminal {
    screen: ratatui::Terminal<CrosstermBackend<Stdout>>,
    /// Whether the library may have read more keys than it gave.
    has_more: Cell<bool>,
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It is none, or cannot be set.
    pub fn open() -> Result<Terminal> {
        HOOK.call_once(|| {
            let next = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                restore(); // the message of the panic is to stay on the screen
                next(panic);
            }));
        });
        let open = || {
            enable_raw_mode()?;
            execute!(io::stdout(), EnterAlternateScreen)?;
            ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))
        };
        let new = |screen| Terminal { screen, has_more: Cell::new(false) };
        open().inspect_err(|_| restore()).map(new).context(|| "the terminal cannot be used".to_owned())
    }

    /// Waits for input until the time is over. A terminal that is gone is found before the library reads: it would read
    /// its end again and again.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub fn wait(&self, time: Duration) -> Result<Input> {
        let unreadable = || "the terminal cannot be read".to_owned();
        // Keys that were read with another one are there without a wait.
        if !self.has_more.get() {
            let stdin = io::stdin();
            let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
            let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
            match poll(&mut ready, Some(&time)) {
                Err(Errno::INTR) => return Ok(Input::Drawn), // another size
                polled => _ = polled.context(unreadable)?,
            }
            let found = ready[0].revents();
            if found.intersects(PollFlags::HUP | PollFlags::ERR) {
                return Ok(Input::Gone);
            }
            if found.is_empty() {
                return Ok(Input::None);
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

    /// Draws the table.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn draw(&mut self, app: &mut App) -> Result<()> {
        let drawn = self.screen.draw(|frame| view::draw(app, frame));
        drawn.map(drop).context(|| "the terminal cannot be written".to_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was.
pub fn restore() {
    // Nothing else can be done with a terminal that is gone.
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
