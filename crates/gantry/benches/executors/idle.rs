//! What executors do while nothing happens.

use crate::{Result, kind::Kind, listener::Listener, meter::ns};
use rustix::time::ClockId;
use std::time::{Duration, Instant};

/// Until an executor sleeps.
const SETTLE: Duration = Duration::from_millis(200);

/// The cost of an idle executor.
pub struct Idle {
    /// Which.
    pub kind: Kind,
    /// How many topics it waits for.
    pub topics: usize,
    /// CPU time of the whole process for each second, µs.
    pub cpu_us: f64,
}

/// Lets each executor wait for all the listener's topics, on which nobody publishes.
pub fn measure(listener: &mut Listener, time: Duration) -> Result<Vec<Idle>> {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let Some(mut executor) = kind.executor() else { continue };
        executor.add_node(listener.node())?;
        let canceler = executor.canceler();
        let used = std::thread::scope(|scope| {
            let watch = scope.spawn(move || {
                std::thread::sleep(SETTLE);
                let (start, before_ns) = (Instant::now(), ns(ClockId::ProcessCPUTime));
                std::thread::sleep(time);
                let (used_ns, elapsed) = (ns(ClockId::ProcessCPUTime) - before_ns, start.elapsed());
                canceler.cancel();
                used_ns as f64 / 1e3 / elapsed.as_secs_f64()
            });
            executor.spin()?;
            watch.join().map_err(|_| "the thread that measures an idle executor panicked".into())
        });
        let used: Result<f64> = used;
        rows.push(Idle { kind, topics: listener.topics(), cpu_us: used? });
    }
    Ok(rows)
}
