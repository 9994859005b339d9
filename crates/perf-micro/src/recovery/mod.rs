//! The recovery experiment (`perf_micro recovery`): the time for which faults of the line, of the agent and of the
//! board interrupt the data, the messages that are lost, and the side that is notified.

mod board;
mod host;
mod lost_frame;
mod note;
mod options;
mod outcome;
mod scenario;
mod text;

use std::sync::{Mutex, PoisonError, atomic::Ordering};

use gantry::Qos;
use gantry_msgs::std_msgs::msg::Int64;
use perf_test::{common::error::Failure, experiments::results_file::Results};
use perf_worker::clock::{SECOND_NS, now_ns};
use serde::Serialize;

use crate::{
    distribution::ms,
    experiment::{Experiment, Report},
    options::{Named, all_by_default},
    rig::{HISTORY, Rig, board_ended, host_failed, host_node, topic},
    transport::Transport,
};
use board::{Account, Orders};
use host::Host;
use lost_frame::LostFrame;
use note::Note;
pub use options::{AFTER_HELP, RecoveryOptions};
use outcome::{Fault, Outcome};
pub use scenario::Scenario;
use scenario::{DAMAGED_BYTES_PER_MILLION, LOST_FRAMES_PER_MILLION};

/// The time for which messages flow before a fault, ns.
const BEFORE_NS: i64 = SECOND_NS;
/// The time for which the cable is out, ns.
const CUT_NS: i64 = 2 * SECOND_NS;
/// The longest wait for the first number, and for the last numbers, ns.
const PATIENCE_NS: i64 = 10 * SECOND_NS;

/// The results.
#[derive(Debug, Serialize)]
struct Recovery {
    transport: Transport,
    lost_frame: Option<LostFrame>,
    outcomes: Vec<Outcome>,
}

/// Runs all scenarios.
///
/// # Errors
/// [`Failure::Usage`], if there is no agent, the transport cannot have faults, or the folder cannot be used;
pub fn measure(options: &RecoveryOptions) -> Result<Results, Failure> {
    let transport = options.transport;
    if !matches!(transport, Transport::Serial | Transport::Usb) {
        let name = transport.name();
        return Err(Failure::Usage(format!(
            "the line {name} has no faults: give --transport serial or --transport usb"
        )));
    }
    let scenarios = all_by_default(&options.scenario);
    let mut experiment = Experiment::begin("recovery", &options.place, &vec![options.time; scenarios.len() + 1])?;
    let lost_frame = experiment
        .timed_step("lost frames", |experiment| LostFrame::measure(&experiment.rig(transport)?, options.number));
    let (length_ns, mut outcomes) = (i64::from(options.time) * SECOND_NS, Vec::new());
    for scenario in scenarios {
        let outcome = experiment
            .timed_step(&scenario.name(), |experiment| run(scenario, &mut experiment.rig(transport)?, length_ns));
        outcome.as_ref().and_then(Outcome::failure).into_iter().for_each(|sentence| experiment.fail(sentence));
        outcomes.extend(outcome);
    }
    let recovery = Recovery { transport, lost_frame, outcomes };
    let (tables, figures) = (recovery.tables(), recovery.figures());
    experiment.finish(Report { tables, figures, details: recovery, picture: None })
}

fn run(scenario: Scenario, rig: &mut Rig, length_ns: i64) -> Result<Outcome, String> {
    let interrupt = rig.interrupt.clone();
    let topic = format!("{}_{}", topic(), scenario.name().replace('-', "_"));
    let (node, domain_id) = host_node()?;
    let qos = Qos::default().keep_last(1000);
    let mut host = Host::new(node.create_subscription::<Int64>(&topic, qos).map_err(host_failed)?);
    let (account, lives) = (Mutex::new(Account::default()), [Orders::default(), Orders::default()]);
    let [first_life, second_life] = &lives;
    let (line, second_line) = (rig.board_line()?, rig.board_line()?);
    std::thread::scope(|scope| {
        let live = |line, first, life| {
            let (topic, account) = (&topic, &account);
            scope.spawn(move || board::run(line, domain_id, topic, first, life, account))
        };
        let mut board = Some(live(line, 0, first_life));
        let mut second_line = Some(second_line);
        let mut experiment = || -> Result<Fault, String> {
            let is_over = |host: &Host| interrupt.is_requested() || !host.received_ns.is_empty();
            if !host.receive(now_ns() + PATIENCE_NS, is_over).map_err(host_failed)? {
                return Err("no number came within 10 s".to_owned());
            }
            host.receive(now_ns() + BEFORE_NS, |_| interrupt.is_requested()).map_err(host_failed)?;
            let mut fault = Fault { began_ns: now_ns(), ended_ns: None, flow_ended_ns: 0 };
            let faults = &rig.line.faults;
            match scenario {
                Scenario::Loss => faults.lose_frames(LOST_FRAMES_PER_MILLION),
                Scenario::Corruption => faults.damage_bytes(DAMAGED_BYTES_PER_MILLION),
                Scenario::Cut => {
                    faults.cut(true);
                    host.receive(fault.began_ns + CUT_NS, |_| interrupt.is_requested()).map_err(host_failed)?;
                    faults.cut(false);
                    fault.ended_ns = Some(now_ns());
                }
                Scenario::AgentRestart => {
                    rig.restart_agent()?;
                    fault.ended_ns = Some(now_ns());
                }
                Scenario::BoardReset => {
                    first_life.is_done.store(true, Ordering::Relaxed);
                    board.take().map_or(Ok(()), board_ended)?;
                    fault.ended_ns = Some(now_ns());
                    account.lock().unwrap_or_else(PoisonError::into_inner).forget(HISTORY);
                    let next = 1 + last_published(&account);
                    board = second_line.take().map(|line| live(line, next, second_life));
                }
            }
            host.receive(fault.began_ns + length_ns, |_| interrupt.is_requested()).map_err(host_failed)?;
            rig.line.faults.lose_frames(0);
            rig.line.faults.damage_bytes(0);
            lives.iter().for_each(|life| life.is_quiet.store(true, Ordering::Relaxed));
            fault.flow_ended_ns = now_ns();
            let last = last_published(&account);
            let is_complete = |host: &Host| interrupt.is_requested() || host.received_ns.contains_key(&last);
            host.receive(now_ns() + PATIENCE_NS, is_complete).map_err(host_failed)?;
            Ok(fault)
        };
        let fault = experiment();
        lives.iter().for_each(|life| life.is_done.store(true, Ordering::Relaxed));
        board.take().map_or(Ok(()), board_ended)?;
        let fault = fault?;
        if interrupt.is_requested() {
            return Err("ended early".to_owned());
        }
        let account = account.lock().unwrap_or_else(PoisonError::into_inner);
        let said = rig.agent.said_since(fault.began_ns).into_iter();
        host.events.extend(said.map(|(time_ns, what)| Note { after_ms: ms(time_ns), side: "agent", what }));
        Ok(Outcome::new(scenario, &account, &host, fault, rig.line.faults.counts()))
    })
}

fn last_published(account: &Mutex<Account>) -> i64 {
    let account = account.lock().unwrap_or_else(PoisonError::into_inner);
    account.published_ns.last().map_or(-1, |(number, _)| *number)
}
