//! The orders of the coordinator: a thread of the instrument reads them from standard input and forwards them to the
//! endpoints.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, SyncSender};
use std::time::Duration;

use super::{
    context::{Flags, account::InstrumentAccount, outgoing::Outgoing},
    protocol::{Order, Report, UNKNOWN},
};
use crate::{endpoint::Endpoint, measure::usage::Usage};

/// The name of the thread that reads orders.
pub const ORDERS_THREAD: &str = "orders";
/// The time that endpoints have for an orderly end after the coordinator has gone.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// The channel of orders to an endpoint.
pub struct OrderChannel {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The channel for the orders that come before and after the measurement.
    pub sender: Sender<Arc<Order>>,
    /// [`Context::expected`](super::Context::expected).
    pub expected: Arc<AtomicU64>,
}

/// The channels of orders to the endpoints of this process.
pub struct Orders {
    /// The channel to each endpoint.
    pub ways: Vec<OrderChannel>,
    /// The orders to the endpoints while they measure.
    pub flags: Arc<Flags>,
    /// Whether the endpoints are in executors. If they are, the keeper (the instrument's thread that serves the
    /// executors) reports the start.
    pub in_executors: bool,
}

impl Orders {
    /// Reads orders until standard input ends, then gives the endpoints [`EXIT_GRACE`] to end.
    pub fn read(&self, outgoing: &SyncSender<Outgoing>, account: &InstrumentAccount) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let order = serde_json::from_str(&line);
            // The account is updated before the order is carried out: when the order is `Go`, the worker reads its
            // resources next.
            account.update(&Usage::default());
            match order {
                Ok(order) => self.carry_out(order, outgoing),
                Err(error) => {
                    let sentence = format!("a worker does not understand an order ({error}): {line}");
                    let _ = outgoing.send(Outgoing::Control(Box::new(Report::Failed(None, sentence))));
                    break;
                }
            }
            account.update(&Usage::default());
        }
        self.abandon();
        std::thread::sleep(EXIT_GRACE);
        std::process::exit(1);
    }

    /// Lets all endpoints end at once.
    pub fn abandon(&self) {
        self.flags.abandon.store(true, Ordering::Relaxed);
        self.forward(Order::Stop);
    }

    fn carry_out(&self, order: Order, outgoing: &SyncSender<Outgoing>) {
        match order {
            Order::Stop => self.flags.stop.store(true, Ordering::Relaxed),
            Order::Drain { expected } => {
                let expected: BTreeMap<Endpoint, u64> = expected.into_iter().collect();
                for way in &self.ways {
                    // Publishers do not read this number.
                    way.expected.store(expected.get(&way.endpoint).copied().unwrap_or(UNKNOWN), Ordering::Relaxed);
                }
            }
            Order::Explain => self.forward(order),
            Order::Go { .. } => {
                if !self.in_executors {
                    let _ = outgoing.send(Outgoing::Started);
                }
                self.forward(order);
            }
        }
    }

    /// Forwards an order to the endpoints that wait for an order. An endpoint that has ended does not wait.
    fn forward(&self, order: Order) {
        // The order is shared, not copied: the order `Go` lists all publishers, and endpoints may be thousands.
        let order = Arc::new(order);
        for way in &self.ways {
            let _ = way.sender.send(order.clone());
        }
    }
}
