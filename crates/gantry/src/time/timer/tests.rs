//! Tests of timer schedules on manual clocks.

use super::*;

#[derive(Default)]
struct Flag(std::sync::atomic::AtomicBool);

impl Flag {
    fn is_set(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl std::task::Wake for Flag {
    fn wake(self: Arc<Flag>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_schedule_does_not_drift_and_counts_skipped_periods() {
    let clock = Clock::manual(ms(1000));
    let mut timer = Timer::new(&clock, ms(10)).unwrap();
    assert_eq!((timer.take(), timer.time_until_trigger()), (None, Some(ms(10))));
    for (now, scheduled, overruns) in [(1013, 1010, 0), (1029, 1020, 0), (1030, 1030, 0), (1075, 1040, 3)] {
        clock.set(ms(now));
        assert_eq!(timer.take(), Some(Tick { scheduled: ms(scheduled), noticed: ms(now), overruns }));
        assert_eq!(timer.take(), None);
    }
    assert_eq!((timer.overruns(), timer.time_until_trigger()), (3, Some(ms(5))));
}

#[test]
fn cancel_and_reset_work_from_any_handle() {
    let clock = Clock::manual(ms(0));
    let mut timer = Timer::new(&clock, ms(10)).unwrap();
    let handle = timer.clone();
    clock.set(ms(10));
    handle.cancel();
    assert!(timer.is_canceled() && timer.take().is_none());
    clock.set(ms(17));
    handle.reset();
    assert_eq!(timer.time_until_trigger(), Some(ms(10)));
    clock.set(ms(27));
    assert_eq!(timer.take().unwrap().scheduled, ms(27));
    handle.reset_after(ms(4));
    clock.set(ms(50));
    let (scheduled, noticed, overruns) = (ms(31), ms(50), 1);
    assert_eq!(timer.take(), Some(Tick { scheduled, noticed, overruns }));
    assert_eq!(timer.time_until_trigger(), Some(ms(1)));
}

#[test]
fn the_waker_of_a_handle_is_called_independently_of_other_handles() {
    let (woken, woken_too) = (Arc::new(Flag::default()), Arc::new(Flag::default()));
    let mut timer = Timer::new(&Clock::manual(ms(0)), ms(10)).unwrap();
    let mut handle = timer.clone();
    timer.set_waker(Some(woken.clone().into()));
    handle.set_waker(Some(woken_too.clone().into()));
    handle.set_waker(None);
    handle.reset();
    assert_eq!((woken.is_set(), woken_too.is_set()), (true, false));
}

#[test]
fn a_one_shot_goes_off_once_after_each_reset() {
    let clock = Clock::manual(ms(0));
    let mut timer = Timer::one_shot(&clock, ms(10)).unwrap();
    for _ in 0..2 {
        clock.set(clock.now() + ms(35));
        let tick = timer.take().unwrap();
        assert_eq!((tick.noticed - tick.scheduled, tick.overruns), (ms(25), 0));
        assert!(timer.is_canceled() && timer.take().is_none());
        timer.reset();
    }
}

#[test]
fn a_period_of_zero_is_refused_and_a_long_one_never_ends() {
    assert!(Timer::new(&Clock::steady(), ms(0)).unwrap_err().to_string().contains("period"));
    let mut timer = Timer::new(&Clock::steady(), Duration::MAX).unwrap();
    assert_eq!(timer.take(), None);
    timer.reset();
    assert!(!timer.is_canceled());
}

/// A waker that makes a timer on its clock, as a runtime may do when it polls a task in the waker.
struct MakesTimer(Clock, std::sync::mpsc::Sender<()>);

impl std::task::Wake for MakesTimer {
    fn wake(self: Arc<MakesTimer>) {
        Timer::new(&self.0, ms(10)).unwrap();
        self.1.send(()).unwrap();
    }
}

#[test]
fn a_waker_may_make_a_timer() {
    let clock = Clock::new_ros();
    let (made, timers) = std::sync::mpsc::channel();
    let mut timer = Timer::new(&clock, ms(10)).unwrap();
    timer.set_waker(Some(Waker::from(Arc::new(MakesTimer(clock.clone(), made)))));
    std::thread::spawn(move || {
        clock.simulate(true);
        clock.set_simulated(ms(1000)); // the first simulated time is also a jump
    });
    for _ in 0..2 {
        timers.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}

#[test]
fn a_caller_that_waits_by_itself_learns_the_due_time() {
    let mut steady = Timer::new(&Clock::steady(), Duration::from_secs(3600)).unwrap();
    let due = steady.due().unwrap();
    assert!(due > Instant::now() && due <= Instant::now() + Duration::from_secs(3600));
    steady.cancel();
    assert_eq!(steady.due(), None);

    let clock = Clock::manual(ms(0));
    let mut timer = Timer::new(&clock, ms(10)).unwrap();
    let flag = Arc::<Flag>::default();
    timer.set_waker(Some(flag.clone().into()));
    assert_eq!(timer.due(), None);
    clock.set(ms(10));
    assert!(flag.is_set() && timer.is_ready().unwrap());
}
