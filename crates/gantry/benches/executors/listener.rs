//! The measured side: callbacks for a number of topics, and a wait set for the same topics.

use crate::{
    Result,
    kind::Kind,
    meter::{Meter, Turn},
    peer::Peer,
    play::{self, Note, name, qos},
    row::Load,
};
use gantry::{CallbackGroupType, Node, Subscription, WaitSet, Waitable};
use std::{sync::Arc, time::Duration};

/// The time limit for the delivery of all messages after the last message was published.
const PATIENCE: Duration = Duration::from_secs(1);

/// The period of the idle timers, which do not become due during the run.
const IDLE_PERIOD: Duration = Duration::from_secs(3600);

/// The subscriptions to a number of topics, and idle timers.
pub struct Listener {
    name: String,
    timers: usize,
    /// The node that has the callbacks.
    node: Node,
    meter: Arc<Meter>,
    /// The subscriptions of the wait set.
    subscriptions: Vec<Subscription<Note>>,
    wait_set: WaitSet,
}

impl Listener {
    /// Subscribes to this number of topics, and makes the other process publish on them. Returns when both sides are
    /// matched.
    pub fn new(peer: &mut Peer, meter: &Arc<Meter>, topics: usize, timers: usize) -> Result<Listener> {
        let listener = format!("listener_{topics}_{timers}");
        let node = play::node(std::process::id(), &listener)?;
        for _ in 0..timers {
            node.create_timer_with_callback(IDLE_PERIOD, |_| ())?;
        }
        // In a reentrant group, the threads of a multi-threaded executor may run any of the callbacks.
        let group = node.create_callback_group(CallbackGroupType::Reentrant);
        let mut subscriptions = Vec::new();
        for topic in 0..topics {
            let name = name(&listener, topics, topic);
            subscriptions.push(node.create_subscription(&name, qos(topics))?);
            let meter = meter.clone();
            let subscription = node.create_subscription::<Note>(&name, qos(topics))?;
            group.add_callback(subscription, move |_, note| meter.note(note.message_info()));
        }
        peer.say(&format!("publish {listener} {topics}"))?;
        peer.expect_ok()?;
        for subscription in &mut subscriptions {
            if subscription.publisher_count()? != 1 {
                return Err(format!("{} has not one publisher", subscription.topic()).into());
            }
        }
        let wait_set = WaitSet::new(&node)?;
        Ok(Listener { name: listener, timers, node, meter: meter.clone(), subscriptions, wait_set })
    }

    /// The number of topics.
    pub fn topics(&self) -> usize {
        self.subscriptions.len()
    }

    /// Whether the listener has the topics and timers of this load.
    pub fn is_for(&self, load: Load) -> bool {
        (self.topics(), self.timers) == (load.topics, load.timers)
    }

    /// The node of the callbacks.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Measures one kind of executor in one turn (a short measurement).
    pub fn turn(&mut self, peer: &mut Peer, kind: Kind, load: Load) -> Result<Turn> {
        let Some(mut executor) = kind.executor() else { return self.wait_set_turn(peer, load) };
        executor.add_node(&self.node)?;
        // The callbacks' subscriptions also received the messages that were published for the wait set.
        while executor.spin_some(Duration::MAX)? > 0 {}
        self.meter.begin(load.count, vec![executor.handle()]);
        while_publishing(peer, &self.name, load, &self.meter, || Ok(executor.spin()?))?;
        Ok(self.meter.result())
    }

    fn wait_set_turn(&mut self, peer: &mut Peer, load: Load) -> Result<Turn> {
        let Listener { name, meter, subscriptions, wait_set, .. } = self;
        take_all(subscriptions, meter)?;
        meter.begin(load.count, Vec::new());
        while_publishing(peer, name, load, meter, || {
            while !meter.is_over() {
                let mut waitables: Vec<&mut dyn Waitable> =
                    subscriptions.iter_mut().map(|subscription| subscription as &mut dyn Waitable).collect();
                // No bell rings at the end of the turn if messages were lost, and the wait times out.
                if wait_set.wait(&mut waitables, PATIENCE)? {
                    take_all(subscriptions, meter)?;
                }
            }
            Ok(())
        })?;
        Ok(meter.result())
    }
}

fn take_all(subscriptions: &mut [Subscription<Note>], meter: &Meter) -> Result<()> {
    for subscription in subscriptions {
        while let Some(note) = subscription.take()? {
            meter.note(note.message_info());
        }
    }
    Ok(())
}

/// Spins while the other process publishes. Cancels the spin if messages were lost.
pub fn while_publishing(
    peer: &mut Peer,
    listener: &str,
    load: Load,
    meter: &Meter,
    spin: impl FnOnce() -> Result<()>,
) -> Result<()> {
    peer.say(&format!("turn {listener} {} {}", load.period().as_nanos(), load.count))?;
    peer.expect_ready()?;
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let done = peer.expect_ok().map_err(|error| error.to_string());
            meter.stop_after(PATIENCE);
            done
        });
        spin()?;
        watch.join().map_err(|_| "the thread that waits for the other process panicked")??;
        Ok(())
    })
}
