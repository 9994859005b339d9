//! The executor with one thread per callback group. Groups share no lock, and a publisher wakes only the thread of its
//! subscription.
//!
//! The executor passes each group on to a separate single-threaded executor. The thread that spins runs no callbacks;
//! it starts and ends the groups' threads. Invariant: this executor releases a group's callbacks before the group's
//! executor registers them, and gets them back after the group's executor is dropped.

mod group_thread;

use super::{
    Executor, ExecutorHandle, SingleThreadedExecutor,
    members::Member,
    ready_queue::ReadyQueue,
    steps::{ExecutorSteps, GoesOn, is_past, within_spin},
    wake_signal::WakeSignal,
};
use crate::{
    error::{Error, Result},
    node::CallbackGroup,
    wait::lock,
};
use group_thread::apply;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::{Builder, Scope, ScopedJoinHandle},
    time::Instant,
};

/// Runs each callback group on its own thread, with the group's [policy](CallbackGroup::with_scheduling_policy) and
/// [CPUs](CallbackGroup::with_cpus). Callbacks of one group, also of a reentrant group, run one after the other, in
/// rounds as in a [`SingleThreadedExecutor`]. Groups share no thread and no lock, so one group's callbacks do not delay
/// another group.
///
/// [`spin`](Executor::spin), [`spin_until`](Executor::spin_until) and
/// [`spin_until_complete`](Executor::spin_until_complete) start a thread for each group that has callbacks, also for a
/// group that gets its first callback during the spin. The other methods use the calling thread. If a thread cannot
/// have its policy or CPUs, the spin ends with an error.
///
/// ```no_run
/// # use gantry::{CallbackGroupType, CallbackIsolatedExecutor, Executor, Node, Qos, SchedulingPolicy};
/// # use gantry_msgs::sensor_msgs::msg::Image;
/// # use std::time::Duration;
/// # fn main() -> gantry::Result<()> {
/// let node = Node::new("robot")?;
/// node.create_subscription_with_callback::<Image>("image", Qos::default(), |image| println!("{}", image.width()))?;
/// let control = node
///     .create_callback_group(CallbackGroupType::MutuallyExclusive)
///     .with_scheduling_policy(SchedulingPolicy::Fifo(80))
///     .with_cpus(&[3]);
/// control.create_timer_with_callback(Duration::from_millis(1), |_| { /* control the motors */ })?;
/// let mut executor = CallbackIsolatedExecutor::new();
/// executor.add_node(&node)?;
/// executor.spin()
/// # }
/// ```
#[derive(Debug, Default)]
pub struct CallbackIsolatedExecutor {
    own: SingleThreadedExecutor,
}

/// The state that the threads of one spin share.
struct SharedSpin {
    /// The wake-up signal of the [`CallbackIsolatedExecutor`] that spins.
    signal: Arc<WakeSignal>,
    /// Whether the spin has a condition, which the spinning thread checks after each callback.
    has_condition: bool,
    /// Whether a thread failed, which ends the spin.
    is_over: AtomicBool,
    failure: Mutex<Failure>,
}

/// The first error and the first panic of the groups' threads.
#[derive(Default)]
struct Failure {
    error: Option<Error>,
    /// The payload of a callback's panic, which `spin` resumes on the calling thread.
    panic: Option<Box<dyn Any + Send>>,
}

/// The thread of a group.
struct GroupThread<'scope> {
    group: CallbackGroup,
    executor: ExecutorHandle,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl CallbackIsolatedExecutor {
    /// Makes an executor without nodes.
    #[must_use]
    pub fn new() -> CallbackIsolatedExecutor {
        CallbackIsolatedExecutor::default()
    }

    /// Starts a thread for each group that has none. Ends the threads of groups that left the executor or have no
    /// callbacks any more. Returns whether it started a thread.
    fn update_threads<'scope, 'env>(
        &mut self,
        threads: &mut Vec<GroupThread<'scope>>,
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env SharedSpin,
    ) -> Result<bool> {
        threads.retain(|thread| !thread.thread.is_finished());
        let ready_queue = self.own.ready_queue();
        for thread in threads.iter().filter(|thread| !ready_queue.members.has_callbacks_of(&thread.group)) {
            thread.executor.cancel();
        }
        let mut executors = Vec::new();
        for group in ready_queue.members.groups(&ready_queue.signal) {
            let mut executor = SingleThreadedExecutor::new();
            executor.ready_queue().add(Member::Group(group.clone()), Some(&ready_queue.signal.clone().into()))?;
            executors.push((group, executor));
        }
        let has_new = !executors.is_empty();
        if has_new {
            self.own.gather_unlocked(); // releases the callbacks of the groups
        }
        for (group, mut executor) in executors {
            let (handle, own) = (executor.handle(), group.clone());
            let thread = Builder::new().name("gantry-executor".to_owned());
            let thread = thread.spawn_scoped(scope, move || shared.run(&own, executor)).map_err(|source| {
                gantry_shm::Error::System { action: "start an executor's thread".to_owned(), source }
            })?;
            threads.push(GroupThread { group, executor: handle, thread });
        }
        Ok(has_new)
    }

    /// The loop of the thread that called the spin. It starts and ends the groups' threads.
    fn supervise(
        &mut self,
        deadline: Option<Instant>,
        mut goes_on: Option<GoesOn<'_>>,
        shared: &SharedSpin,
    ) -> Result<()> {
        std::thread::scope(|scope| {
            let (mut threads, mut result) = (Vec::new(), Ok(()));
            while result.is_ok() {
                self.own.gather_unlocked(); // clears the notifications before the checks
                let is_late = is_past(deadline); // before the check: a condition that holds at the deadline counts
                if !shared.goes_on() || goes_on.as_mut().is_some_and(|goes_on| !goes_on()) || is_late {
                    break;
                }
                result = match self.update_threads(&mut threads, scope, shared) {
                    Ok(false) => self.own.ready_queue().sleep(deadline),
                    has_new => has_new.map(drop),
                };
            }
            result
        })
    }
}

impl Drop for GroupThread<'_> {
    /// Ends the group's thread, also if the spin's condition panics.
    fn drop(&mut self) {
        self.executor.cancel();
    }
}

impl SharedSpin {
    /// Whether the spin goes on: no cancel came, and no thread failed.
    fn goes_on(&self) -> bool {
        !self.is_over.load(Acquire) && !self.signal.is_canceled()
    }

    /// Runs the thread of a group: the group's executor spins until the group or the whole spin ends.
    fn run(&self, group: &CallbackGroup, mut executor: SingleThreadedExecutor) {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            apply(group)?;
            executor.spin_while(
                None,
                Some(&mut || {
                    if self.has_condition {
                        self.signal.wake_executor();
                    }
                    self.goes_on()
                }),
            )
        }));
        if !matches!(ran, Ok(Ok(()))) {
            self.is_over.store(true, Release);
            let mut failure = lock(&self.failure);
            match ran {
                Ok(ran) => failure.error = failure.error.take().or(ran.err()),
                Err(panic) => failure.panic = failure.panic.take().or(Some(panic)),
            }
        }
        drop(executor); // returns the group; if it has callbacks and the spin goes on, it gets a new thread
        self.signal.wake_executor();
    }
}

impl Executor for CallbackIsolatedExecutor {}

impl ExecutorSteps for CallbackIsolatedExecutor {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        self.own.ready_queue()
    }

    fn gather(&mut self) {
        self.own.gather();
    }

    fn step(&mut self) -> bool {
        self.own.step()
    }

    fn spin_while(&mut self, deadline: Option<Instant>, goes_on: Option<GoesOn<'_>>) -> Result<()> {
        let (result, panic) = within_spin(self, |executor| {
            let shared = SharedSpin {
                signal: executor.ready_queue().signal.clone(),
                has_condition: goes_on.is_some(),
                is_over: AtomicBool::new(false),
                failure: Mutex::default(),
            };
            let supervised = executor.supervise(deadline, goes_on, &shared);
            shared.signal.reset_cancel();
            let failure = shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok((failure.error.map_or(supervised, Err), failure.panic))
        })?;
        panic.map_or(result, |panic| resume_unwind(panic))
    }
}
