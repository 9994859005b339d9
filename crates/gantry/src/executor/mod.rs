//! Executors, which run the callbacks of nodes, and the wait set, which waits without callbacks.
//!
//! Each executor has a ready queue (`ready_queue`). `single`, `events::event_queue` and `multi::lanes` define the order
//! of the callbacks, which run one at a time (`steps`) or on the threads of a `worker_pool`. `isolated` has one
//! executor for each callback group. An idle executor sleeps in one futex, independent of the number of topics.

mod bindings;
mod events;
mod handle;
mod isolated;
mod members;
mod multi;
mod ready_queue;
mod single;
mod slow_run;
mod spin_node;
mod steps;
#[cfg(test)]
mod tests;
mod wait_set;
mod wake_signal;
mod worker_pool;

pub use bindings::{Collector, Listener, ListenerSource};
pub use events::{EventsExecutor, Overflow};
pub use handle::ExecutorHandle;
pub use isolated::CallbackIsolatedExecutor;
pub use multi::MultiThreadedExecutor;
pub use single::SingleThreadedExecutor;
pub use spin_node::{spin, spin_all, spin_some, spin_until_complete};
pub use wait_set::WaitSet;

use crate::{
    error::Result,
    node::{CallbackGroup, Node},
};
use members::Member;
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::*},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};
use steps::{ExecutorSteps, deadline_after, is_past, within_spin};

/// Runs the callbacks of nodes of one domain. A node is in at most one executor at a time, and so is a callback group.
/// The trait is sealed: only this crate implements it.
///
/// # Real-time
/// Executors lock each callback, allocate and make system calls between callbacks. A real-time loop should take and
/// publish without an executor.
pub trait Executor: ExecutorSteps {
    /// Adds a node: the executor runs the node's current and later callbacks. Callbacks of groups that were added to
    /// another executor are excepted.
    ///
    /// # Errors
    /// The node is already in an executor. The node is in another domain than the executor's nodes. The shared-memory
    /// state in which the executor sleeps could not be set up.
    fn add_node(&mut self, node: &Node) -> Result<()> {
        self.ready_queue().add(Member::Node(node.clone()), None)
    }

    /// Removes a node; does nothing if the node is not in this executor. Groups that were added without their node
    /// stay in the executor.
    fn remove_node(&mut self, node: &Node) {
        self.ready_queue().remove(&Member::Node(node.clone()));
    }

    /// Adds a callback group without its node: the executor runs the group's current and later callbacks. So the groups
    /// of one node can be in several executors, for example one per thread.
    ///
    /// # Errors
    /// The errors of [`Executor::add_node`]; another executor already has the group, with or without its node.
    fn add_callback_group(&mut self, group: &CallbackGroup) -> Result<()> {
        self.ready_queue().add(Member::Group(group.clone()), None)
    }

    /// Removes a callback group that was added without its node; does nothing if this executor has no such group.
    /// Afterwards, the executor of the group's node runs it.
    fn remove_callback_group(&mut self, group: &CallbackGroup) {
        self.ready_queue().remove(&Member::Group(group.clone()));
    }

    /// Runs callbacks until a cancel or a [`shutdown`](crate::shutdown). After a shutdown, this method returns at once.
    /// An error of a callback's source is logged, and the source is tried again later. A panic of a callback, on any
    /// thread, ends the spin and is resumed on the calling thread; the executor can spin again.
    ///
    /// # Errors
    /// The executor has no node and no group; the process forked.
    fn spin(&mut self) -> Result<()> {
        self.spin_while(None, None)
    }

    /// Waits until a callback may run, and runs one callback. Returns `false` after `timeout` or a cancel.
    ///
    /// # Errors
    /// The errors of [`Executor::spin`].
    fn spin_once(&mut self, timeout: Duration) -> Result<bool> {
        let deadline = deadline_after(timeout);
        within_spin(self, |executor| {
            loop {
                executor.gather_unlocked();
                let signal = executor.ready_queue().signal.clone();
                if signal.is_canceled() {
                    signal.reset_cancel();
                    return Ok(false);
                }
                if executor.step() {
                    signal.reset_cancel(); // clears a cancel that came from the callback or during its run
                    return Ok(true);
                }
                if is_past(deadline) {
                    return Ok(false);
                }
                executor.ready_queue().sleep(deadline)?;
            }
        })
    }

    /// Runs the callbacks that are ready now, without waiting, and returns the number of runs. Each callback runs once,
    /// even if more messages or requests wait for it; only an [`EventsExecutor`] that drops events runs a callback once
    /// for each event. Messages that arrive during the call wait for the next call. The limit `max_duration` (0: none)
    /// is checked between two callbacks.
    ///
    /// # Errors
    /// The errors of [`Executor::spin`].
    fn spin_some(&mut self, max_duration: Duration) -> Result<usize> {
        self.run_ready(max_duration, false)
    }

    /// Runs callbacks without waiting until no callback has anything to do, and returns the number of runs. The limit
    /// `max_duration` (0: none) is checked between two callbacks.
    ///
    /// # Errors
    /// The errors of [`Executor::spin`].
    fn spin_all(&mut self, max_duration: Duration) -> Result<usize> {
        self.run_ready(max_duration, true)
    }

    /// Runs callbacks until `condition` holds. Returns `false` after `timeout` or a cancel. The calling thread checks
    /// the condition before each wait and after each callback. Another thread that makes the condition true calls
    /// [`ExecutorHandle::wake`], so that the condition is checked at once. An executor with several threads runs
    /// callbacks on all of them.
    ///
    /// # Errors
    /// The errors of [`Executor::spin`].
    fn spin_until(&mut self, timeout: Duration, condition: &mut dyn FnMut() -> bool) -> Result<bool> {
        let mut holds = false;
        let mut goes_on = || {
            holds = condition();
            !holds
        };
        self.spin_while(deadline_after(timeout), Some(&mut goes_on))?;
        Ok(holds)
    }

    /// Runs callbacks until `future` is complete, and returns its value; `None` after `timeout` or a cancel. This is
    /// rclcpp's `spin_until_future_complete` for any future, such as a client's response or a sample.
    ///
    /// ```
    /// # use gantry::{Executor, Node, Qos, SingleThreadedExecutor};
    /// # use gantry_msgs::std_msgs::msg::UInt64;
    /// # use std::time::Duration;
    /// # fn main() -> gantry::Result<()> {
    /// let node = Node::new("complete_doc_example")?;
    /// let mut publisher = node.create_publisher::<UInt64>("complete_doc_example", Qos::default())?;
    /// let mut subscription = node.create_subscription::<UInt64>("complete_doc_example", Qos::default())?;
    /// node.create_timer_with_callback(Duration::from_millis(10), move |_| {
    ///     let _ = publisher.publish_copy(&UInt64 { data: 7 });
    /// })?;
    /// let mut executor = SingleThreadedExecutor::new();
    /// executor.add_node(&node)?;
    /// let sample = executor.spin_until_complete(subscription.take_async(), Duration::from_secs(10))?;
    /// assert_eq!(sample.unwrap()?.data, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Executor::spin`].
    fn spin_until_complete<F>(&mut self, future: F, timeout: Duration) -> Result<Option<F::Output>>
    where
        Self: Sized,
        F: Future,
    {
        let (mut future, mut output) = (pin!(future), None);
        let woken = Arc::new(FutureWaker { executor: self.handle().waker(), is_woken: AtomicBool::new(true) });
        let waker = Waker::from(woken.clone());
        self.spin_until(timeout, &mut || {
            if woken.is_woken.swap(false, AcqRel)
                && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                output = Some(value);
            }
            output.is_some()
        })?;
        Ok(output)
    }

    /// A handle for other threads and for callbacks: it cancels a spin, and adds and removes nodes during a spin.
    fn handle(&mut self) -> ExecutorHandle {
        let ready_queue = self.ready_queue();
        ExecutorHandle { signal: ready_queue.signal.clone(), members: ready_queue.members.clone() }
    }
}

impl<E: Executor + ?Sized> Executor for Box<E> {}

/// The waker of a future: it wakes the executor that waits for the future.
struct FutureWaker {
    executor: Waker,
    is_woken: AtomicBool,
}

impl Wake for FutureWaker {
    fn wake(self: Arc<FutureWaker>) {
        self.is_woken.store(true, Release);
        self.executor.wake_by_ref();
    }
}
