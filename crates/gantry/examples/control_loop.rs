//! A control loop at 2 kHz without allocation, lock or system call between a measurement and its command, except for
//! the sleep until the next cycle. Run it with `cargo run --release -p gantry --example control_loop`.
//!
//! A simulated joint (`/joint_state`, 256 bytes) and its controller (`/joint_command`) each have a thread. All work
//! that can fail or take time is done before the loop: endpoints, matching, and memory, which the publishers keep. Both
//! threads publish asynchronously, so that another thread wakes the sleeping reader. The joint runs on an absolute
//! schedule, so that delays do not add up.
//!
//! On a robot, add `chrt --fifo 80`, a CPU for each thread, and locked memory (`mlockall`).

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, PlainMessage, PublishMode, Publisher, PublisherOptions, Qos, Subscription};
use rustix::{
    thread::clock_nanosleep_absolute,
    time::{ClockId, Timespec, clock_gettime},
};
use std::{error::Error, process::ExitCode, thread, time::Duration};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A measurement of the joint's sensors.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct JointState {
    cycle: u64,
    /// The time of the measurement, CLOCK_MONOTONIC.
    measured_ns: u64,
    position_rad: f64,
    velocity_rad_s: f64,
    /// Forces, temperatures and other measurements.
    others: [f64; 28],
}

impl PlainMessage for JointState {
    const TYPE_NAME: &'static str = "control_loop/msg/JointState";
    const DEFINITION: &'static str =
        "uint64 cycle\nuint64 measured_ns\nfloat64 position_rad\nfloat64 velocity_rad_s\nfloat64[28] others\n";
}

/// A command to the joint.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct JointCommand {
    /// The cycle of the measurement that this command answers.
    cycle: u64,
    measured_ns: u64,
    torque_nm: f64,
}

impl PlainMessage for JointCommand {
    const TYPE_NAME: &'static str = "control_loop/msg/JointCommand";
    const DEFINITION: &'static str = "uint64 cycle\nuint64 measured_ns\nfloat64 torque_nm\n";
}

/// Runs a simulated joint and its controller.
#[derive(Parser)]
struct Arguments {
    /// Rate in cycles per second
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    rate: u32,
    /// Duration of the run in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// Period of the thread that wakes readers, in microseconds; 0: the publishing threads wake readers
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    period: u64,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse()))
}

type Failure = Box<dyn Error + Send + Sync>;

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (node, qos) = (Node::new("control_loop")?, Qos::default().keep_last(4));
    let publish_mode = match arguments.period {
        0 => PublishMode::Sync,
        period => PublishMode::Async { period: Duration::from_micros(period) },
    };
    let options = PublisherOptions { publish_mode, ..PublisherOptions::default() };
    let mut states = node.create_publisher_with_options::<JointState>("joint_state", qos, options)?;
    let mut commands = node.create_publisher_with_options::<JointCommand>("joint_command", qos, options)?;
    let measured = node.create_subscription::<JointState>("joint_state", qos)?;
    let commanded = node.create_subscription::<JointCommand>("joint_command", qos)?;
    states.wait_for_subscriptions(1, Duration::from_secs(1))?;
    commands.wait_for_subscriptions(1, Duration::from_secs(1))?;
    let cycles = u64::from(arguments.rate) * u64::from(arguments.seconds);
    let controller = thread::spawn(move || control(measured, &mut commands, cycles));
    let mut joint = Joint::new(states, commanded, cycles);
    joint.run(Duration::from_secs(1) / arguments.rate, cycles)?;
    controller.join().map_err(|_| "the controller panicked")??;
    joint.report(arguments.rate);
    Ok(())
}

/// Answers each state with a command: a spring and a damper.
fn control(
    mut states: Subscription<JointState>,
    commands: &mut Publisher<JointCommand>,
    cycles: u64,
) -> Result<(), Failure> {
    while states.wait(Duration::from_secs(1))? {
        while let Some(state) = states.take()? {
            let mut command = commands.loan()?;
            let torque_nm = -40.0 * state.position_rad - 4.0 * state.velocity_rad_s;
            *command = JointCommand { cycle: state.cycle, measured_ns: state.measured_ns, torque_nm };
            commands.publish(command)?;
            if state.cycle == cycles {
                return Ok(());
            }
        }
    }
    Err("no state came for a second".into())
}

/// The simulated joint.
struct Joint {
    states: Publisher<JointState>,
    commands: Subscription<JointCommand>,
    position_rad: f64,
    velocity_rad_s: f64,
    torque_nm: f64,
    /// The time from each measurement to its command. The capacity is large enough for the whole run, so that a push
    /// does not allocate.
    latencies_ns: Vec<u64>,
    /// The number of cycles that began after the due time of the next cycle.
    overruns: u64,
}

impl Joint {
    fn new(states: Publisher<JointState>, commands: Subscription<JointCommand>, cycles: u64) -> Joint {
        let latencies_ns = Vec::with_capacity(cycles as usize);
        Joint { states, commands, position_rad: 1.0, velocity_rad_s: 0.0, torque_nm: 0.0, latencies_ns, overruns: 0 }
    }

    fn run(&mut self, period: Duration, cycles: u64) -> Result<(), Failure> {
        let (period_ns, start_ns) = (period.as_nanos() as u64, now_ns());
        for cycle in 1..=cycles {
            let due_ns = start_ns + cycle * period_ns;
            sleep_until(due_ns);
            self.overruns += u64::from(now_ns() > due_ns + period_ns);
            self.measure(cycle, period.as_secs_f64())?;
            // The joint waits half a period for the controller's command. Without a new command, the last command stays
            // in effect.
            while now_ns() < due_ns + period_ns / 2 && !self.obey(cycle)? {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Simulates one period, and publishes the state.
    fn measure(&mut self, cycle: u64, period_s: f64) -> Result<(), Failure> {
        const INERTIA_KG_M2: f64 = 0.1;
        self.velocity_rad_s += self.torque_nm / INERTIA_KG_M2 * period_s;
        self.position_rad += self.velocity_rad_s * period_s;
        let (position_rad, velocity_rad_s) = (self.position_rad, self.velocity_rad_s);
        let mut state = self.states.loan()?;
        *state = JointState { cycle, measured_ns: now_ns(), position_rad, velocity_rad_s, others: [0.0; 28] };
        self.states.publish(state)?;
        Ok(())
    }

    /// Takes commands. Returns whether one of these commands was for this cycle.
    fn obey(&mut self, cycle: u64) -> Result<bool, Failure> {
        let mut answered = false;
        while let Some(command) = self.commands.take()? {
            self.torque_nm = command.torque_nm;
            if self.latencies_ns.len() < self.latencies_ns.capacity() {
                self.latencies_ns.push(now_ns() - command.measured_ns);
            }
            answered |= command.cycle == cycle;
        }
        Ok(answered)
    }

    fn report(&mut self, rate: u32) {
        self.latencies_ns.sort_unstable();
        let count = self.latencies_ns.len();
        let us = |fraction: f64| {
            let index = ((count as f64 * fraction) as usize).min(count.saturating_sub(1));
            self.latencies_ns.get(index).map_or(f64::NAN, |ns| *ns as f64 / 1e3)
        };
        println!(
            "{rate} Hz: {count} commands, {} cycles overrun, position {:.6} rad",
            self.overruns, self.position_rad
        );
        println!(
            "from measurement to command: p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs, max {:.1} µs",
            us(0.5),
            us(0.99),
            us(0.999),
            us(1.0)
        );
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn sleep_until(due_ns: u64) {
    let due = Timespec { tv_sec: (due_ns / 1_000_000_000) as i64, tv_nsec: (due_ns % 1_000_000_000) as i64 };
    // A signal ends the sleep early.
    while clock_nanosleep_absolute(ClockId::Monotonic, &due).is_err() {}
}
