//! The cost of executors while nothing happens.

use crate::{Result, kind::Kind, listener::Listener, usage::Usage};
use std::time::{Duration, Instant};

/// The time after which an executor without work certainly sleeps.
const SETTLE: Duration = Duration::from_millis(200);

/// The cost of an idle executor.
pub struct Idle {
    /// The executor.
    pub kind: Kind,
    /// The number of topics that the executor waits for.
    pub topics: usize,
    /// The CPU usage of the whole process per second.
    pub usage: Usage,
}

/// Measures each executor while it waits for all of the listener's topics, on which nothing is published.
pub fn measure(listener: &mut Listener, time: Duration) -> Result<Vec<Idle>> {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let Some(mut executor) = kind.executor() else { continue };
        executor.add_node(listener.node())?;
        let canceler = executor.handle();
        let usage: Result<Usage> = std::thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let usage = watch(time).map_err(|error| error.to_string());
                canceler.cancel();
                usage
            });
            executor.spin()?;
            Ok(watch.join().map_err(|_| "the thread that measures an idle executor panicked")??)
        });
        rows.push(Idle { kind, topics: listener.topics(), usage: usage? });
    }
    Ok(rows)
}

/// Measures the CPU usage of this process per second, after the executor has begun to sleep.
fn watch(time: Duration) -> Result<Usage> {
    std::thread::sleep(SETTLE);
    let (start, before) = (Instant::now(), Usage::of_process(std::process::id())?);
    std::thread::sleep(time);
    Ok(Usage::of_process(std::process::id())?.since(before).per_second(start.elapsed()))
}
