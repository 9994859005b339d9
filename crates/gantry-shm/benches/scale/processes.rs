//! Many processes in one domain, and many readers on one topic.

use super::{PATIENCE, Result, player::Player, print_ratio, publish_ns, publisher, root, subscription};
use bench_support::statistics::median;
use gantry_shm::Participant;
use std::{path::Path, time::Instant};

/// The number of processes whose join to the full domain is measured.
const NEWCOMERS: usize = 20;

pub fn measure_processes(counts: &[usize]) -> Result<()> {
    println!(
        "Processes in one domain, which all start at once; each publishes five topics and subscribes to its neighbour's."
    );
    println!(
        "processes  all joined ms  ms each  newcomer joins ms  is matched ms  leaves ms  publish ns  beside churn"
    );
    let mut rows = Vec::new();
    for &count in counts {
        let root = root()?;
        let (mut players, all_ms) = start("neighbour", root.path(), count)?;
        let (mut join_ms, mut match_ms, mut leave_ms) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..NEWCOMERS {
            let start = Instant::now();
            let participant = Participant::join_under(root.path(), 0)?;
            join_ms.push(ms_since(start));
            let start = Instant::now();
            let mut publisher = publisher(&participant, &format!("/topic_{}", 5 + number % count))?;
            if !publisher.wait_for_subscriptions(1, PATIENCE)? {
                return Err(format!("a newcomer among {count} processes was not matched").into());
            }
            match_ms.push(ms_since(start));
            let start = Instant::now();
            drop((publisher, participant));
            leave_ms.push(ms_since(start));
        }
        let participant = Participant::join_under(root.path(), 0)?;
        let mut publisher = publisher(&participant, "/popular")?;
        let quiet_ns = publish_ns(&mut publisher)?;
        let (mut restless, _) = start("restless", root.path(), 1)?;
        let busy_ns = publish_ns(&mut publisher)?;
        restless.iter_mut().try_for_each(Player::leave)?;
        let [join_ms, match_ms, leave_ms] = [join_ms, match_ms, leave_ms].map(median);
        println!(
            "{count:9} {all_ms:14.1} {:8.2} {join_ms:18.2} {match_ms:14.2} {leave_ms:10.2} {quiet_ns:11.1} {busy_ns:13.1}",
            all_ms / count as f64,
        );
        rows.push((count, [all_ms / count as f64, join_ms, match_ms, leave_ms, quiet_ns, busy_ns]));
        players.iter_mut().try_for_each(Player::leave)?;
        drop((publisher, participant));
        check_empty(root.path())?;
    }
    print_ratios(&rows, ["join-at-once", "join", "match", "leave", "publish-among-processes", "publish-beside-churn"]);
    Ok(())
}

pub fn measure_readers(counts: &[usize]) -> Result<()> {
    println!("Readers of one topic, each in a process of its own, which all start at once.");
    println!("readers  all matched ms  ms each  one more matched ms  publish ns");
    let mut rows = Vec::new();
    for &count in counts {
        let root = root()?;
        let participant = Participant::join_under(root.path(), 0)?;
        let mut publisher = publisher(&participant, "/popular")?;
        let start_of_all = Instant::now();
        let (mut players, _) = start("reader", root.path(), count)?;
        if !publisher.wait_for_subscriptions(count, PATIENCE)? {
            return Err(format!("not all of {count} readers were matched").into());
        }
        let all_ms = ms_since(start_of_all);
        let mut one_more_ms = Vec::new();
        for _ in 0..NEWCOMERS {
            let start = Instant::now();
            let mut subscription = subscription(&participant, "/popular")?;
            if subscription.publisher_count()? != 1 || publisher.subscription_count()? != count + 1 {
                return Err("one more reader was not matched".into());
            }
            one_more_ms.push(ms_since(start));
            drop(subscription);
            publisher.subscription_count()?;
        }
        let (one_more_ms, publish_ns) = (median(one_more_ms), publish_ns(&mut publisher)?);
        println!("{count:7} {all_ms:15.1} {:8.2} {one_more_ms:20.2} {publish_ns:11.1}", all_ms / count as f64);
        rows.push((count, [all_ms / count as f64, one_more_ms, publish_ns]));
        players.iter_mut().try_for_each(Player::leave)?;
        drop((publisher, participant));
        check_empty(root.path())?;
    }
    print_ratios(&rows, ["readers-at-once", "one-more-reader", "publish-to-readers"]);
    Ok(())
}

/// Starts `count` processes in a role. Returns them when all are ready, with the time in ms since their common start.
fn start(role: &str, root: &Path, count: usize) -> Result<(Vec<Player>, f64)> {
    let mut players = (0..count).map(|number| Player::start(role, root, &[number])).collect::<Result<Vec<_>>>()?;
    let start = Instant::now();
    players.iter_mut().try_for_each(Player::go)?;
    for player in &mut players {
        player.ready_ms()?;
    }
    Ok((players, ms_since(start)))
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

pub fn check_empty(root: &Path) -> Result<()> {
    match std::fs::read_dir(root)?.next() {
        None => Ok(()),
        Some(left) => Err(format!("{} stayed", left?.path().display()).into()),
    }
}

fn print_ratios<const N: usize>(rows: &[(usize, [f64; N])], names: [&str; N]) {
    if let [first, .., last] = rows {
        for (index, name) in names.iter().enumerate() {
            print_ratio(name, (first.0, first.1[index]), (last.0, last.1[index]));
        }
    }
    println!();
}
