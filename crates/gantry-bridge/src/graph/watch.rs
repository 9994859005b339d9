//! The thread that watches the domain's graph.

use gantry_shm::Participant;
use std::{sync::Arc, thread, time::Duration};

/// The time between two checks whether the program ends.
const PERIOD: Duration = Duration::from_secs(1);

/// Starts a thread that calls `on_change` after each change of the domain's graph. The thread ends when `on_change`
/// returns `false` or the program ends.
///
/// # Errors
/// The domain cannot be read, or the thread cannot be started.
pub fn watch_domain(
    participant: Arc<Participant>,
    on_change: impl Fn() -> bool + Send + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut seen = participant.graph_generation()?;
    let watch = move || {
        while gantry::ok() {
            if participant.wait_for_graph_change(seen, PERIOD).unwrap_or_default() {
                seen = participant.graph_generation().unwrap_or(seen);
                if !on_change() {
                    return;
                }
            }
        }
    };
    gantry::with_signals_blocked(|| thread::Builder::new().name("bridge-graph".to_owned()).spawn(watch))?;
    Ok(())
}
