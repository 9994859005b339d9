//! The terminal: its other screen, without echo. It is as before when this ends, also by a panic.

use crate::{app::App, view};
use crossterm::{
    cursor::Show,
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use gantry_command::{Context, Result};
use ratatui::backend::CrosstermBackend;
use std::{
    io::{self, Stdout},
    panic,
    sync::Once,
};

static HOOK: Once = Once::new();

/// The terminal while the table is shown.
pub struct Terminal(ratatui::Terminal<CrosstermBackend<Stdout>>);

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
        open().inspect_err(|_| restore()).map(Terminal).context(|| "the terminal cannot be used".to_owned())
    }

    /// Draws the table.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn draw(&mut self, app: &mut App) -> Result<()> {
        let drawn = self.0.draw(|frame| view::draw(app, frame));
        drawn.map(drop).context(|| "the terminal cannot be written".to_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // Nothing else can be done with a terminal that is gone.
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
