//! The rig of an experiment: a board, a line, the agent, and a node of the host.
//!
//! The board is a thread of this process with gantry-micro's client. The agent is the program `gantry-agent`, as in
//! real use.

mod board;
mod board_line;

use std::path::{Path, PathBuf};

use gantry::Node;
use perf_test::{common::interrupt::Interrupt, run::coordinator::daemon::StartedDaemon};
use perf_worker::backend::{DaemonCommand, Readiness};

use crate::{line::Line, transport::Transport};
pub use board::{Board, BoardMemory, HISTORY, board_ended};
pub use board_line::{BoardLine, Sent, Traffic};

/// The name of the agent's program.
pub const AGENT: &str = "gantry-agent";

/// The prefix of this program's topics, which contains the process id.
#[must_use]
pub fn topic() -> String {
    format!("perf_micro_{}", std::process::id())
}

/// Creates the node of the host. Returns the node and the id of its domain, in the integer type of a board.
///
/// # Errors
/// The reason, as a sentence: the library fails, or the domain id is too large for DDS-XRCE.
pub fn host_node() -> Result<(Node, u16), String> {
    let node = Node::new("perf_micro").map_err(host_failed)?;
    let domain_id = u16::try_from(node.domain_id())
        .map_err(|_| format!("DDS-XRCE has no domain {}: set ROS_DOMAIN_ID", node.domain_id()))?;
    Ok((node, domain_id))
}

/// Formats an error of the host's node as a sentence.
pub fn host_failed(error: gantry::Error) -> String {
    format!("the host's node failed: {error}")
}

/// The rig: a line with an agent at its end.
#[derive(Debug)]
pub struct Rig {
    /// The agent. As the first field it is dropped first, so the agent ends before the line.
    pub agent: StartedDaemon,
    program: PathBuf,
    /// The flag that the user wants to end the experiment.
    pub interrupt: Interrupt,
    /// The transport.
    pub transport: Transport,
    /// The line.
    pub line: Line,
    /// The counters of the messages that the boards have sent.
    pub traffic: Traffic,
}

impl Rig {
    /// Opens the line of a transport and starts an agent at its end.
    ///
    /// # Errors
    /// The reason, as a sentence: the line cannot be created, or the agent does not start.
    pub fn start(transport: Transport, agent: &Path, interrupt: &Interrupt) -> Result<Rig, String> {
        let line = Line::open(transport).map_err(|error| format!("cannot open the line {transport:?}: {error}"))?;
        let program = agent.to_owned();
        let agent = start_agent(&program, &line, interrupt)?;
        Ok(Rig { agent, program, interrupt: interrupt.clone(), transport, line, traffic: Traffic::default() })
    }

    /// Kills the agent, and starts a new one.
    ///
    /// # Errors
    /// The reason, as a sentence, if the new agent does not start.
    pub fn restart_agent(&mut self) -> Result<(), String> {
        self.agent.kill();
        self.agent = start_agent(&self.program, &self.line, &self.interrupt)?;
        Ok(())
    }

    /// Opens the board's end of the line.
    ///
    /// # Errors
    /// The reason, as a sentence, if the port or socket of the board cannot be opened.
    pub fn board_line(&self) -> Result<BoardLine, String> {
        BoardLine::open(&self.line.board_end, self.transport, self.traffic.clone())
            .map_err(|error| format!("the board cannot open its end of the line: {error}"))
    }
}

/// Starts the agent at the end of a line, and waits until it is ready.
fn start_agent(program: &Path, line: &Line, interrupt: &Interrupt) -> Result<StartedDaemon, String> {
    let mut command = vec![program.display().to_string()];
    command.extend(line.agent_arguments.iter().cloned());
    command.push("--verbose".to_owned());
    let daemon = DaemonCommand { name: AGENT.to_owned(), command, ready: Readiness::Line("clients ".to_owned()) };
    StartedDaemon::start(&daemon, interrupt).map_err(|failure| failure.to_string())
}
