//! Simulated time: the parameter `use_sim_time`, and the thread that sets a node's clock from the topic `/clock`.
//!
//! The clock has its own thread, as in rclcpp by default. So the clock continues while a callback runs, and while no
//! executor spins.

use crate::{
    context::{self, ShutdownWaker},
    error::Result,
    executor::WaitSet,
    log,
    node::Node,
    parameter::{Parameter, ParameterType, ParameterValue},
    time::Clock,
    topic::Subscription,
    wait::{GuardCondition, Waitable},
};
use gantry_msgs::{rcl_interfaces::msg::ParameterDescriptor, rosgraph_msgs};
use gantry_shm::{Qos, with_signals_blocked};
use std::{
    sync::Arc,
    task::{Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

pub(super) const USE_SIM_TIME: &str = "use_sim_time";
const TOPIC: &str = "/clock";

/// The thread that sets a node's clock from `/clock` until this value is dropped.
struct ClockFollower {
    stop: GuardCondition,
    thread: Option<thread::JoinHandle<()>>,
}

/// Declares `use_sim_time`, and starts or ends the clock's thread when the parameter changes.
pub(super) fn declare(node: &Node) -> Result<()> {
    let weak = node.downgrade();
    let apply = move |parameters: &[Parameter]| {
        let Some(node) = weak.upgrade() else { return };
        for parameter in parameters.iter().filter(|parameter| parameter.name == USE_SIM_TIME) {
            use_sim_time(&node, parameter.value == ParameterValue::Bool(true));
        }
    };
    let parameters = node.parameters();
    parameters.add_post_set_callback(Box::new(apply))?;
    let descriptor = ParameterDescriptor {
        description: "Whether the node's time is the time of the topic /clock.".to_owned(),
        ..ParameterDescriptor::default()
    };
    parameters.declare(USE_SIM_TIME, ParameterType::Bool, ParameterValue::Bool(false), descriptor, true).map(drop)
}

fn use_sim_time(node: &Node, on: bool) {
    if on == node.clock().ros_time_is_active() {
        return;
    }
    node.parameters().drop_kept::<ClockFollower>();
    node.clock().simulate(on);
    if on {
        match ClockFollower::start(node) {
            Ok(follower) => node.parameters().keep(follower),
            Err(error) => log::error(
                &node.fully_qualified_name(),
                format_args!("the topic {TOPIC} cannot be subscribed to, so the node's time stands still: {error}"),
            ),
        }
    }
}

impl ClockFollower {
    fn start(node: &Node) -> Result<ClockFollower> {
        let subscription = node.create_subscription::<rosgraph_msgs::msg::Clock>(TOPIC, Qos::clock())?;
        let (wait_set, stop) = (WaitSet::new(node)?, GuardCondition::new());
        let (clock, name, stopped) = (node.clock().clone(), node.fully_qualified_name(), stop.clone());
        let work = move || {
            if let Err(error) = follow(wait_set, subscription, stopped, &clock) {
                log::error(&name, format_args!("the topic {TOPIC} is no longer followed: {error}"));
            }
        };
        let thread = thread::Builder::new().name("gantry-clock".to_owned());
        let thread = with_signals_blocked(|| thread.spawn(work));
        let action = || "start the thread that follows /clock".to_owned();
        let thread = thread.map_err(|source| gantry_shm::Error::System { action: action(), source })?;
        Ok(ClockFollower { stop, thread: Some(thread) })
    }
}

impl Drop for ClockFollower {
    fn drop(&mut self) {
        self.stop.trigger();
        // The thread itself may run this drop, if it holds the last handle of the node; it must not join itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
    }
}

fn follow(
    mut wait_set: WaitSet,
    mut subscription: Subscription<rosgraph_msgs::msg::Clock>,
    mut stop: GuardCondition,
    clock: &Clock,
) -> Result<()> {
    loop {
        if !wait_set.wait(&mut [&mut subscription, &mut stop], Duration::MAX)? {
            wait_for_init(&mut stop)?; // a shutdown ended the wait
        }
        if stop.take() {
            return Ok(());
        }
        let mut newest = None;
        while let Some(message) = subscription.take_valid()? {
            let (sec, nanosec) = (message.clock.sec, message.clock.nanosec);
            newest = Some(Duration::new(u64::try_from(sec).unwrap_or(0), nanosec));
        }
        newest.into_iter().for_each(|now| clock.set_simulated(now));
    }
}

/// Waits after a shutdown until the program is initialised again, or until this follower must stop.
fn wait_for_init(stop: &mut GuardCondition) -> Result<()> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let _at_shutdown = ShutdownWaker::new(waker.clone());
    stop.set_waker(Some(waker));
    while context::is_shut_down() && !stop.is_ready()? {
        thread::park();
    }
    stop.set_waker(None);
    Ok(())
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
