//! The server: accepts viewers, shows them the domain, does what they ask for.

mod connection;
mod hub;
mod report;
mod shown;

pub use hub::{Hub, Options};
pub use report::Report;

use crate::viewer::Viewer;
use gantry::Node;
use gantry_command::{Context, Output, Result, Selection, say, spawn};
use std::{
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

/// The time between two looks at drops, and at the graph if nothing changes.
const PERIOD: Duration = Duration::from_secs(1);
/// The most viewers.
const MAX_VIEWERS: usize = 64;

/// Serves until the program ends.
///
/// # Errors
/// The port cannot be used; the domain cannot be read.
pub fn serve(node: Node, selection: Selection, options: Options, output: Output) -> Result<()> {
    let address = format!("{}:{}", options.host, options.port);
    let listener = TcpListener::bind((options.host.as_str(), options.port)).context(|| {
        format!("the server cannot listen on {address} (another one may do: --port chooses another port)")
    })?;
    let local = listener.local_addr().context(|| "the listening socket has no address".to_owned())?;
    let hub = Arc::new(Hub::new(node.clone(), selection, options)?);
    hub.update()?;
    let accepting = hub.clone();
    spawn("foxglove-accept", move || accept(&accepting, &listener))?;
    say(format_args!("domain {} is served on ws://{local}; Ctrl-C ends it", node.domain_id()));
    if !local.ip().is_loopback() {
        say("the port is open to other hosts, without a password; --read-only lets them only look");
    }
    let (mut due, mut has_failed) = (Instant::now() + PERIOD, false);
    while gantry::ok() {
        let left = due.saturating_duration_since(Instant::now());
        match node.wait_for_graph_change(left).map_err(Into::into).and_then(|_| hub.update()) {
            Ok(()) => has_failed = false,
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    say(format_args!("the graph is not read: {error}"));
                }
                std::thread::sleep(PERIOD); // an error comes at once, again and again
            }
        }
        if Instant::now() >= due {
            due = Instant::now() + PERIOD;
            let report = hub.report();
            if output.json {
                output.print(&report)?;
            }
        }
    }
    hub.close();
    Ok(())
}

/// Accepts viewers, each with a thread that reads and one that writes.
fn accept(hub: &Arc<Hub>, listener: &TcpListener) {
    for number in 1.. {
        let (stream, address) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) => {
                say(format_args!("a viewer is not accepted: {error}"));
                std::thread::sleep(PERIOD); // as when descriptors are short
                continue;
            }
        };
        let start = || -> Result<()> {
            if hub.viewer_count() >= MAX_VIEWERS {
                return Err(format!("there are {MAX_VIEWERS} viewers already").into());
            }
            let socket = || "its socket cannot be used".to_owned();
            stream.set_nodelay(true).context(socket)?;
            let reading = stream.try_clone().context(socket)?;
            let viewer = Arc::new(Viewer::new(number, address.to_string(), stream, hub.options().queue_bytes));
            let writing = viewer.clone();
            spawn("foxglove-write", move || writing.write())?;
            let hub = hub.clone();
            spawn("foxglove-read", move || connection::read(&hub, &viewer, reading))?;
            Ok(())
        };
        if let Err(error) = start() {
            say(format_args!("viewer {address} is not accepted: {error}"));
        }
    }
}
