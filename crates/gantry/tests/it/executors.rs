//! What all executors do alike: every test here runs with each of them.

use crate::support::*;
use gantry::*;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    time::{Duration, Instant},
};

/// One of each kind.
pub fn executors() -> Vec<(&'static str, Box<dyn Executor + Send>)> {
    vec![
        ("single-threaded", Box::new(SingleThreadedExecutor::new())),
        ("multi-threaded", Box::new(MultiThreadedExecutor::with_threads(3))),
        ("events", Box::new(EventsExecutor::new())),
        ("events, drop oldest", Box::new(EventsExecutor::with_queue(2000, Overflow::DropOldest))),
    ]
}

tests![
    samples_come_in_order_and_none_is_missed,
    timers_run_beside_topics_and_stop_when_canceled,
    callbacks_that_come_and_go_while_it_spins,
    a_node_that_goes_between_two_steps_leaves_the_others,
    a_cancel_ends_the_spin_or_the_next_one,
    an_idle_executor_uses_no_cpu,
    a_manual_clock_drives_timers,
];

fn samples_come_in_order_and_none_is_missed() {
    for (name, mut executor) in executors() {
        let node = node();
        let topic = format!("executors_order_{}", name.len());
        let mut publisher = node.create_publisher::<Point>(&topic, Qos::default().keep_all()).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (list, canceler) = (seen.clone(), executor.canceler());
        node.create_subscription_with_callback::<Point>(&topic, Qos::default().keep_all(), move |point| {
            let mut list = list.lock().unwrap();
            list.push(point.x as usize);
            if list.len() == 1000 {
                canceler.cancel();
            }
        })
        .unwrap();
        executor.add_node(&node).unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        let talker = std::thread::spawn(move || {
            for number in 0..1000 {
                let mut loan = publisher.loan().unwrap();
                loan.x = f64::from(number);
                publisher.publish(loan).unwrap();
            }
            publisher
        });
        executor.spin().unwrap();
        assert_eq!(*seen.lock().unwrap(), (0..1000).collect::<Vec<_>>(), "{name}");
        talker.join().unwrap();
    }
}

fn timers_run_beside_topics_and_stop_when_canceled() {
    for (name, mut executor) in executors() {
        let node = node();
        let ticks = Arc::new(AtomicUsize::new(0));
        let count = ticks.clone();
        let timer = node.create_timer_with_callback(Duration::from_millis(1), move |tick| {
            assert!(tick.noticed >= tick.scheduled);
            count.fetch_add(1, Relaxed);
        });
        let timer = timer.unwrap();
        executor.add_node(&node).unwrap();
        assert!(executor.spin_until(PATIENCE, &mut || ticks.load(Relaxed) >= 20).unwrap(), "{name}");
        timer.cancel();
        let before = ticks.load(Relaxed);
        assert!(!executor.spin_once(Duration::from_millis(20)).unwrap(), "{name}");
        assert_eq!(ticks.load(Relaxed), before, "{name}");
        timer.reset();
        assert!(executor.spin_until(PATIENCE, &mut || ticks.load(Relaxed) > before).unwrap(), "{name}");
    }
}

fn callbacks_that_come_and_go_while_it_spins() {
    for (name, mut executor) in executors() {
        let node = node();
        executor.add_node(&node).unwrap();
        let canceler = executor.canceler();
        std::thread::scope(|scope| {
            let spinner = scope.spawn(|| executor.spin().unwrap());
            for number in 0..20 {
                let topic = format!("executors_come_{}_{number}", name.len());
                let mut publisher = node.create_publisher::<Point>(&topic, Qos::default()).unwrap();
                let heard = Arc::new(AtomicBool::new(false));
                let hears = heard.clone();
                let handle = node
                    .create_subscription_with_callback::<Point>(&topic, Qos::default(), move |_| {
                        hears.store(true, Relaxed)
                    })
                    .unwrap();
                let loan = publisher.loan().unwrap();
                publisher.publish(loan).unwrap();
                let give_up = Instant::now() + PATIENCE;
                while !heard.load(Relaxed) {
                    assert!(Instant::now() < give_up, "{name}: {number}");
                    std::thread::yield_now();
                }
                handle.remove();
            }
            canceler.cancel();
            spinner.join().unwrap();
        });
    }
}

fn a_node_that_goes_between_two_steps_leaves_the_others() {
    for (name, mut executor) in executors() {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let nodes = [0, 1, 2].map(|number| {
            let (node, list) = (node(), ran.clone());
            let timer = Timer::new(&Clock::steady(), Duration::from_nanos(1)).unwrap();
            node.add_callback(timer, move |_, _| list.lock().unwrap().push(number));
            executor.add_node(&node).unwrap();
            node
        });
        assert!(executor.spin_once(PATIENCE).unwrap(), "{name}");
        executor.remove_node(&nodes[0]);
        executor.remove_node(&nodes[1]);
        ran.lock().unwrap().clear();
        assert!(executor.spin_once(PATIENCE).unwrap() && executor.spin_once(PATIENCE).unwrap(), "{name}");
        assert_eq!(*ran.lock().unwrap(), [2, 2], "{name}");
    }
}

fn a_cancel_ends_the_spin_or_the_next_one() {
    for (name, mut executor) in executors() {
        assert!(executor.spin().unwrap_err().to_string().contains("no node"), "{name}");
        let node = node();
        executor.add_node(&node).unwrap();
        executor.canceler().cancel();
        executor.spin().unwrap();
        let canceler = executor.canceler();
        let spinner = std::thread::spawn(move || {
            executor.spin().unwrap();
            executor
        });
        canceler.cancel();
        let mut other = SingleThreadedExecutor::new();
        let executor = spinner.join().unwrap();
        let why = other.add_node(&node).unwrap_err().to_string();
        assert!(why.contains("/tester is in an executor already"), "{why}");
        drop(executor);
        other.add_node(&node).unwrap();
    }
}

fn an_idle_executor_uses_no_cpu() {
    for (name, mut executor) in executors() {
        let node = node();
        let subscriptions: Vec<_> = (0..50)
            .map(|number| {
                let topic = format!("executors_idle_{}_{number}", name.len());
                node.create_subscription_with_callback::<Point>(&topic, Qos::default(), |_| ()).unwrap()
            })
            .collect();
        executor.add_node(&node).unwrap();
        assert!(!executor.spin_once(Duration::from_millis(1)).unwrap());
        let thread_ns = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        let (cpu_ns, wall) = (thread_ns(), Instant::now());
        assert!(!executor.spin_once(Duration::from_millis(300)).unwrap());
        let (cpu_ns, wall_ns) = (thread_ns() - cpu_ns, wall.elapsed().as_nanos() as u64);
        assert!(cpu_ns * 20 < wall_ns, "{name}: {cpu_ns} of {wall_ns} ns with {} topics", subscriptions.len());
    }
}

fn a_manual_clock_drives_timers() {
    for (name, mut executor) in executors() {
        let (node, clock) = (node(), Clock::manual(Duration::ZERO));
        let ticks = Arc::new(AtomicUsize::new(0));
        let count = ticks.clone();
        let timer = Timer::new(&clock, Duration::from_secs(3600)).unwrap();
        node.add_callback(timer.clone(), move |_, _| {
            count.fetch_add(1, Relaxed);
        });
        executor.add_node(&node).unwrap();
        assert!(!executor.spin_once(Duration::from_millis(1)).unwrap());
        let (sets, ticked) = (clock.clone(), ticks.clone());
        let setter = std::thread::spawn(move || {
            for hour in 1..=5 {
                sets.set(Duration::from_secs(3600 * hour));
                while ticks.load(Relaxed) < hour as usize {
                    std::thread::yield_now();
                }
            }
        });
        assert!(executor.spin_until(PATIENCE, &mut || ticked.load(Relaxed) == 5).unwrap(), "{name}");
        setter.join().unwrap();
        assert_eq!(timer.overruns(), 0);
    }
}
