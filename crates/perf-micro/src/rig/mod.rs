//! The rig: a board, a line, the agent, and a node of the host.
//!
//! The board is a thread of this process with gantry-micro's client; the agent is the program `gantry-agent`, as users
//! run it.

mod agent;
mod board;
mod board_line;

use std::path::{Path, PathBuf};

use gantry::Node;

use crate::{line::Line, transport::Transport};
pub use agent::find;
pub use board::{BoardClient, BoardClock, wait};
pub use board_line::{BoardLine, Sent, Traffic};
use perf_test::{coordinator::daemon::StartedDaemon, error::Failure, interrupt::Interrupt};

/// The node of the board.
pub const BOARD: &str = "board";

/// The beginning of the names of this program's topics.
#[must_use]
pub fn topic() -> String {
    format!("perf_micro_{}", std::process::id())
}

/// The domain of a node as a board states it.
///
/// # Errors
/// A sentence: DDS-XRCE has no such domain.
pub fn domain_id(node: &Node) -> Result<u16, String> {
    u16::try_from(node.domain_id())
        .map_err(|_| format!("DDS-XRCE has no domain {}: set ROS_DOMAIN_ID", node.domain_id()))
}

/// A line with an agent at its end.
#[derive(Debug)]
pub struct Rig {
    /// Dropped first: it ends before the line.
    agent: StartedDaemon,
    program: PathBuf,
    transport: Transport,
    /// The line.
    pub line: Line,
    /// The traffic that the boards have sent.
    pub traffic: Traffic,
}

impl Rig {
    /// Opens the line of a transport and starts an agent at its end.
    ///
    /// # Errors
    /// [`Failure`]: the system gives no line, or the agent does not start.
    pub fn start(transport: Transport, agent: &Path, interrupt: &Interrupt) -> Result<Rig, Failure> {
        let line = Line::open(transport)
            .map_err(|error| Failure::Measurement(format!("cannot open the line {transport:?}: {error}")))?;
        let program = agent.to_owned();
        let agent = agent::start(&program, &line, interrupt)?;
        Ok(Rig { agent, program, transport, line, traffic: Traffic::default() })
    }

    /// Kills the agent, and starts another one in its place.
    ///
    /// # Errors
    /// [`Failure`]: it does not start.
    pub fn restart_agent(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        self.agent.kill();
        self.agent = agent::start(&self.program, &self.line, interrupt)?;
        Ok(())
    }

    /// The last lines of the agent's log since a time, each with its time, ns.
    #[must_use]
    pub fn said_since(&self, time_ns: i64) -> Vec<(i64, String)> {
        self.agent.said_since(time_ns)
    }

    /// The board's transport.
    ///
    /// # Errors
    /// [`Failure::Measurement`]: its port or socket cannot be opened.
    pub fn board_line(&self) -> Result<BoardLine, Failure> {
        BoardLine::open(&self.line.board_end, self.transport, self.traffic.clone())
            .map_err(|error| Failure::Measurement(format!("the board cannot open its end of the line: {error}")))
    }
}
