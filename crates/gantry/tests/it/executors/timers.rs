//! Tests of timers: they keep their schedule while the executor is busy.

use super::*;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::*},
};

behaviours! {
    with_a_far_end: [timers_tick_on_under_a_flood],
    alone: [
        ticks_are_on_a_schedule_without_drift,
        a_timer_can_be_canceled_and_reset_from_anywhere,
        a_timer_that_was_canceled_does_not_tick,
        a_one_shot_goes_off_once_after_each_reset,
        a_manual_clock_drives_timers,
        a_clock_of_another_time_does_not_make_ticks_wait,
    ],
}

/// Checks that each period between the first and the last tick is a tick or an overrun.
fn check_schedule(ticks: &[Tick], period: Duration) {
    for pair in ticks.windows(2) {
        let periods = |tick: &Tick| u32::try_from(tick.overruns).unwrap() + 1;
        assert_eq!(pair[1].scheduled - pair[0].scheduled, period * periods(&pair[0]), "{pair:?}");
        let delay = pair[1].noticed - pair[1].scheduled;
        assert!(delay < period * periods(&pair[1]) && delay >= period * (periods(&pair[1]) - 1), "{pair:?}");
    }
}

fn timers_tick_on_under_a_flood(case: &Case) {
    // The queue has room for callbacks that take a tenth of a second in total.
    let (mut far, mut executor, node) = (case.far(), case.kind.executor_with_queue(50), node());
    executor.add_node(&node).unwrap();
    let slow = |_: Sample<Point>| std::thread::sleep(ms(2));
    for topic in ["flood_a", "flood_b"].map(|name| case.topic(name)) {
        node.create_subscription_with_callback(&topic, Qos::default(), slow).unwrap();
        far.advertise(&topic, "keep_last=10");
        far.tell(&format!("flood {topic} 100"));
    }
    // The timer is added last, so that no executor prefers it.
    let (sender, ticks) = value_channel();
    let timer = node
        .create_timer_with_callback(ms(5), move |tick| {
            let _ = sender.send(tick);
        })
        .unwrap();
    let taken = spinning(&mut *executor, || ticks.take(15));
    check_schedule(&taken, ms(5));
    let counted: u64 = taken.iter().chain(&ticks.rest()).map(|tick| tick.overruns).sum();
    assert!(timer.overruns() >= counted);
}

fn ticks_are_on_a_schedule_without_drift(case: &Case) {
    let (mut executor, node, (sender, ticks)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let periods = [ms(1), ms(3)];
    for (number, period) in periods.into_iter().enumerate() {
        let sender = sender.clone();
        let tell = move |tick| {
            let _ = sender.send((number, tick));
        };
        node.create_timer_with_callback(period, tell).unwrap();
    }
    let taken = spinning(&mut *executor, || ticks.take(80));
    for (number, period) in periods.into_iter().enumerate() {
        let own: Vec<_> = taken.iter().filter(|tick| tick.0 == number).map(|tick| tick.1).collect();
        assert!(own.len() > 5, "{number} ticked {} times", own.len());
        check_schedule(&own, period);
    }
}

fn a_timer_can_be_canceled_and_reset_from_anywhere(case: &Case) {
    let (mut executor, node, (sender, ticks)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let timer = node.create_timer(ms(1)).unwrap();
    let mut count = 0;
    node.add_callback(timer.clone(), move |timer, _| {
        count += 1;
        if count % 5 == 0 {
            timer.cancel();
        }
        let _ = sender.send(count);
    });
    spinning(&mut *executor, || {
        assert_eq!(ticks.take(5), [1, 2, 3, 4, 5]);
        for round in 1..20 {
            assert!(timer.is_canceled());
            timer.reset();
            assert_eq!(ticks.take(5), (1..=5).map(|tick| 5 * round + tick).collect::<Vec<_>>());
        }
    });
    assert!(!executor.spin_once(ms(5)).unwrap());
    timer.reset();
    assert!(executor.spin_once(PATIENCE).unwrap());
    timer.cancel();
    drain(&mut *executor); // drops queued ticks from before the cancel
    assert!(!executor.spin_once(ms(5)).unwrap());
}

/// A timer that was canceled and a timer that was reset do not tick, although the executor had already found both
/// ready.
fn a_timer_that_was_canceled_does_not_tick(case: &Case) {
    let (mut executor, node, clock) = (case.executor(), node(), Clock::manual(ms(0)));
    executor.add_node(&node).unwrap();
    let timers: Vec<_> = (0..3).map(|_| Timer::new(&clock, ms(10)).unwrap()).collect();
    let (canceled, reset) = (timers[1].clone(), timers[2].clone());
    let (sender, ticks) = value_channel();
    for (number, timer) in timers.into_iter().enumerate() {
        let (sender, canceled, reset) = (sender.clone(), canceled.clone(), reset.clone());
        node.add_callback(timer, move |_, tick| {
            sender.send((number, tick.scheduled)).unwrap();
            if number == 0 {
                canceled.cancel();
                reset.reset();
            }
        });
    }
    clock.set(ms(10));
    assert_eq!(executor.spin_some(PATIENCE).unwrap(), 1);
    assert_eq!(ticks.rest(), [(0, ms(10))]);
    clock.set(ms(19));
    assert_eq!(executor.spin_some(PATIENCE).unwrap(), 0, "the timer that was reset is due in a period");
}

fn a_one_shot_goes_off_once_after_each_reset(case: &Case) {
    let (mut executor, node, (sender, ticks)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let timer = Timer::one_shot(&Clock::steady(), ms(2)).unwrap();
    node.add_callback(timer.clone(), move |_, tick| sender.send(tick.overruns).unwrap());
    for _ in 0..3 {
        assert!(executor.spin_once(PATIENCE).unwrap());
        assert!(!executor.spin_once(ms(5)).unwrap());
        assert_eq!(ticks.rest(), [0]);
        timer.reset();
    }
}

fn a_manual_clock_drives_timers(case: &Case) {
    let (mut executor, node, clock) = (case.executor(), node(), Clock::manual(Duration::ZERO));
    let ((sender, ticks), hour) = (value_channel(), Duration::from_secs(3600));
    let timer = Timer::new(&clock, hour).unwrap();
    node.add_callback(timer.clone(), move |_, tick| sender.send(tick.scheduled).unwrap());
    executor.add_node(&node).unwrap();
    assert!(!executor.spin_once(ms(1)).unwrap());
    spinning(&mut *executor, || {
        for count in 1..=20 {
            clock.set(hour * count);
            assert_eq!(ticks.next(), hour * count);
        }
    });
    assert_eq!((timer.overruns(), ticks.rest()), (0, vec![]));
}

/// The time of a tick on one clock must not be compared with times of another clock.
fn a_clock_of_another_time_does_not_make_ticks_wait(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    let since_1970 = Duration::from_secs(1_700_000_000);
    let clock = Clock::manual(since_1970);
    let (ticks, count) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (ticked, counted) = (ticks.clone(), count.clone());
    let feed = feed_itself(&node, &case.topic("own"), move || {
        counted.fetch_add(1, Relaxed);
    });
    let timer = Timer::new(&clock, ms(1)).unwrap();
    node.add_callback(timer, move |_, _| {
        ticked.fetch_add(1, Relaxed);
    });
    feed();
    clock.set(since_1970 + ms(1));
    let is_there = &mut || ticks.load(Relaxed) == 1 || count.load(Relaxed) > 100;
    assert!(executor.spin_until(PATIENCE, is_there).unwrap());
    assert_eq!(ticks.load(Relaxed), 1, "after {} others", count.load(Relaxed));
}
