//! The server: it accepts viewers, shows them the domain, and carries out their requests.

mod connection;
mod hub;
mod listener;
mod report;
mod shown;

pub use hub::{Hub, Options};
pub use report::Report;

use crate::threads;
use gantry::Node;
use gantry_command::{Output, Result, Selection, say};
use listener::Listener;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The period of the reports about dropped messages. It is also the longest time between two readings of the graph.
const PERIOD: Duration = Duration::from_secs(1);
/// At the end, viewers have this time to close their connections; after that, all threads have this time to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves viewers until a signal ends the program.
///
/// # Errors
/// The port cannot be used, the domain cannot be read, or the output cannot be written.
pub fn serve(node: Node, selection: Selection, options: Options, output: Output) -> Result<()> {
    let listener = Listener::new(&options.host, options.port)?;
    let hub = Arc::new(Hub::new(node.clone(), selection, options)?);
    hub.update()?;
    listener.start(&hub)?;
    let address = listener.address;
    say(format_args!("domain {} is served on ws://{address}; Ctrl-C ends it", node.domain_id()));
    if !address.ip().is_loopback() {
        say("the port is open to other hosts, without a password; --read-only lets them only look");
    }
    let served = serve_until_end(&node, &hub, output);
    end(&listener, &hub);
    let printed = output.print(&hub.report());
    served.and(printed)
}

fn serve_until_end(node: &Node, hub: &Hub, output: Output) -> Result<()> {
    let (mut due, mut has_failed) = (Instant::now() + PERIOD, false);
    while gantry::ok() {
        let left = due.saturating_duration_since(Instant::now());
        match node.wait_for_graph_change(left).map_err(Into::into).and_then(|_| hub.update()) {
            Ok(()) => has_failed = false,
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    say(format_args!("the graph is not read: {error}"));
                }
                std::thread::sleep(PERIOD); // avoids a busy loop: a repeated error returns at once
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
    Ok(())
}

/// Ends all connections and all threads. The threads share the node, so the node leaves the domain only after they have
/// ended.
fn end(listener: &Listener, hub: &Hub) {
    listener.end();
    let connections = hub.close();
    gantry::shutdown(); // ends calls that wait for a response
    if !threads::wait_for_end(PATIENCE) {
        connections.iter().for_each(|connection| connection.close());
        if !threads::wait_for_end(PATIENCE) {
            say("a thread does not end: the next process of the domain removes the files of this one");
        }
    }
}
