//! Callbacks that block: one executor with four threads is compared with four executors, each with a
//! thread and a topic.

use crate::{
    Result,
    listener::while_publishing,
    meter::Meter,
    peer::Peer,
    play::{self, Note, name, qos},
    row::Load,
};
use bench_support::statistics::median;
use gantry::{CallbackGroupType, Executor, MultiThreadedExecutor, Node, SingleThreadedExecutor};
use std::{sync::Arc, time::Duration};

/// The number of topics, and of threads.
const THREADS: usize = 4;
/// The time for which a callback blocks.
const BLOCK: Duration = Duration::from_millis(1);
/// All messages of a load are published at once (a burst), so that each topic always has a message until the end.
const LOAD: Load = Load { topics: THREADS, timers: 0, rate: 1_000_000, count: 160 };
/// The part of the topic names that identifies the listener.
const LISTENER: &str = "blocking";

/// The two contestants, and their times.
pub struct Blocking {
    meter: Arc<Meter>,
    /// A node with all callbacks, each of which is in a group of its own.
    together: Node,
    /// A node for each callback.
    apart: Vec<Node>,
    together_ns: Vec<f64>,
    apart_ns: Vec<f64>,
}

impl Blocking {
    /// Subscribes to the topics, and makes the other process publish on them.
    pub fn new(peer: &mut Peer, meter: &Arc<Meter>) -> Result<Blocking> {
        let node = |name: &str| play::node(std::process::id(), name);
        let (together, mut apart) = (node("together")?, Vec::new());
        for topic in 0..THREADS {
            apart.push(node(&format!("apart_{topic}"))?);
            for node in [&together, &apart[topic]] {
                let subscription = node.create_subscription::<Note>(&name(LISTENER, THREADS, topic), qos(THREADS))?;
                let (group, meter) = (node.create_callback_group(CallbackGroupType::MutuallyExclusive), meter.clone());
                group.add_callback(subscription, move |_, note| {
                    std::thread::sleep(BLOCK);
                    meter.note(note.message_info());
                });
            }
        }
        peer.say(&format!("publish {LISTENER} {THREADS}"))?;
        peer.expect_ok()?;
        Ok(Blocking { meter: meter.clone(), together, apart, together_ns: Vec::new(), apart_ns: Vec::new() })
    }

    /// Measures each contestant once.
    pub fn cycle(&mut self, peer: &mut Peer) -> Result<()> {
        let Blocking { meter, together, apart, .. } = self;
        let mut executor = MultiThreadedExecutor::with_threads(THREADS);
        executor.add_node(together)?;
        drain(&mut executor, meter)?;
        meter.begin(LOAD.count, vec![executor.handle()]);
        while_publishing(peer, LISTENER, LOAD, meter, || Ok(executor.spin()?))?;
        self.together_ns.push(meter.result().wall_ns as f64);
        drop(executor);

        let mut executors = Vec::new();
        for node in apart {
            let mut executor = SingleThreadedExecutor::new();
            executor.add_node(node)?;
            drain(&mut executor, meter)?;
            executors.push(executor);
        }
        meter.begin(LOAD.count, executors.iter_mut().map(Executor::handle).collect());
        while_publishing(peer, LISTENER, LOAD, meter, || {
            std::thread::scope(|scope| {
                let spins: Vec<_> = executors.iter_mut().map(|executor| scope.spawn(|| executor.spin())).collect();
                for spin in spins {
                    spin.join().map_err(|_| "the thread of an executor panicked")??;
                }
                Ok(())
            })
        })?;
        self.apart_ns.push(meter.result().wall_ns as f64);
        Ok(())
    }

    /// The throughput of one executor with four threads, divided by the throughput of four executors with one thread
    /// each.
    pub fn ratio(&self) -> f64 {
        median(self.apart_ns.iter().copied()) / median(self.together_ns.iter().copied())
    }
}

/// Runs the callbacks of messages that were published for the other contestant, without counting the runs.
fn drain(executor: &mut dyn Executor, meter: &Meter) -> Result<()> {
    meter.begin(0, Vec::new());
    while executor.spin_some(Duration::MAX)? > 0 {}
    Ok(())
}
