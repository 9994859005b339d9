//! The orders of the coordinator: a thread of `perf_test` reads them from standard input and forwards them to the
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
/// The time that endpoints have to finish after the coordinator has exited.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// The channel of orders to an endpoint.
pub struct OrderChannel {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The channel for orders before and after the measurement.
    pub sender: Sender<Arc<Order>>,
    /// The expected number of samples, see [`Context::expected`](super::Context::expected).
    pub expected: Arc<AtomicU64>,
}

/// The channels of orders to the endpoints of this process.
pub struct Orders {
    /// The channels, one for each endpoint.
    pub ways: Vec<OrderChannel>,
    /// The flags through which endpoints receive orders while they measure.
    pub flags: Arc<Flags>,
    /// Whether the endpoints run in executors. The keeper (`perf_test`'s thread that serves the executors) then reports
    /// the start instead of this thread.
    pub in_executors: bool,
}

impl Orders {
    /// Reads and executes orders until standard input ends. Then gives the endpoints [`EXIT_GRACE`] to finish.
    pub fn read(&self, outgoing: &SyncSender<Outgoing>, account: &InstrumentAccount) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let order = serde_json::from_str(&line);
            // The account of this thread is updated before the order is executed, because the worker reads its
            // resources right after the order `Go`.
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

    /// Ends all endpoints at once.
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
                    // The map has no entry for publishers, which do not read this number.
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

    /// Sends an order to all endpoints. The send to an endpoint that has ended fails, which is ignored.
    fn forward(&self, order: Order) {
        // The order is shared instead of copied: `Go` lists all publishers, and there may be thousands of endpoints.
        let order = Arc::new(order);
        for way in &self.ways {
            let _ = way.sender.send(order.clone());
        }
    }
}
