//! Crowds of processes that start at the same time: the cost for each process to join the domain, to keep its endpoints
//! without traffic, and to leave.

use super::{Result, endpoints::used_bytes, player::Player, processes::check_empty, root};
use bench_support::usage::Usage;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::{Duration, Instant};

/// The time until the joins and the first checks for dead processes are over.
const SETTLE: Duration = Duration::from_secs(2);
/// The time for which idle processes are measured; it contains several checks for dead processes.
const KEEP: Duration = Duration::from_secs(4);

/// A crowd: processes with the same number of endpoints. The endpoints are assigned to the topics in turn.
pub struct Crowd {
    pub name: &'static str,
    pub processes: usize,
    /// The number of processes with publishers.
    pub publishing: usize,
    /// The number of publishers of each publishing process, and the number of subscriptions of each process.
    pub endpoints: usize,
    pub topics: usize,
}

pub fn measure(crowds: &[Crowd]) -> Result<()> {
    println!("Crowds that join at once, until all endpoints are matched, then without traffic, then leave at once.");
    println!(
        "{:24} {:>9} {:>8} {:>11} {:>10} {:>16} {:>15} {:>9}",
        "", "endpoints", "join ms", "join CPU ms", "CPU ms/s", "private KiB each", "shared KiB each", "leave ms"
    );
    crowds.iter().try_for_each(measure_crowd)
}

fn measure_crowd(crowd: &Crowd) -> Result<()> {
    let Crowd { name, processes, publishing, endpoints, topics } = *crowd;
    let before = getrlimit(Resource::Nofile);
    // This process needs two pipes for each process of the crowd.
    setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before })?;
    let root = root()?;
    // The numbers of publishers and subscriptions of each topic, which must all be matched.
    let (publishers, subscriptions) = (publishing * endpoints / topics, processes * endpoints / topics);
    let start = |number| {
        let own = if number < publishing { endpoints } else { 0 };
        Player::start("crowd", root.path(), &[number * endpoints, own, endpoints, topics, publishers, subscriptions])
    };
    let mut players = (0..processes).map(start).collect::<Result<Vec<Player>>>()?;
    let (fresh, fresh_kib) = (usage(&players)?, private_kib(&players)?);
    let join_ms = all_go_on(&mut players)?;
    let joined = usage(&players)?;
    std::thread::sleep(SETTLE);
    let (settled, private_kib, shared_bytes) = (usage(&players)?, private_kib(&players)?, used_bytes(root.path())?);
    std::thread::sleep(KEEP);
    let kept = usage(&players)?;
    let leave_ms = all_go_on(&mut players)?;
    players.iter_mut().try_for_each(Player::leave)?;
    let all = (publishing + processes) * endpoints;
    println!(
        "{name:24} {all:9} {join_ms:8.0} {:11.0} {:10.2} {:16.2} {:15.2} {leave_ms:9.0}",
        joined.since(fresh).cpu_ms,
        kept.since(settled).per_second(KEEP).cpu_ms,
        (private_kib - fresh_kib) / all as f64,
        shared_bytes as f64 / 1024.0 / all as f64,
    );
    check_empty(root.path())?;
    Ok(setrlimit(Resource::Nofile, before)?)
}

/// Makes all processes take their next step. Returns the time until the last process has taken it.
fn all_go_on(players: &mut [Player]) -> Result<f64> {
    let start = Instant::now();
    players.iter_mut().try_for_each(Player::go)?;
    players.iter_mut().try_for_each(|player| player.ready_ms().map(drop))?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn usage(players: &[Player]) -> Result<Usage> {
    players.iter().map(|player| Usage::of_process(player.id())).sum()
}

/// The sum of the private memory and the page tables of all processes.
fn private_kib(players: &[Player]) -> Result<f64> {
    let mut sum_kib = 0.0;
    for player in players {
        let status = std::fs::read_to_string(format!("/proc/{}/status", player.id()))?;
        let lines = status.lines().filter(|line| line.starts_with("RssAnon:") || line.starts_with("VmPTE:"));
        for number in lines.filter_map(|line| line.split_whitespace().nth(1)) {
            sum_kib += number.parse::<f64>()?;
        }
    }
    Ok(sum_kib)
}
