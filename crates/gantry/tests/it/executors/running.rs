//! Tests of nodes and groups that leave an executor while one of their callbacks runs.

use super::*;

behaviours! {
    with_a_far_end: [],
    alone: [
        a_node_comes_back_while_its_callback_runs,
        a_group_goes_to_another_executor_while_its_callback_runs,
        a_destructor_of_a_node_holds_up_no_callback,
    ],
}

/// The number of ticks after which an executor has certainly handled all added and removed nodes and groups.
const A_LOOK: usize = 20;

/// A callback that runs once, and does not end until the test allows it.
struct LongRun {
    handle: CallbackHandle,
    begins: SentValues<()>,
    go: std::sync::mpsc::Sender<()>,
}

impl LongRun {
    fn new(group: &CallbackGroup) -> LongRun {
        let ((begun, begins), (go, goes)) = (value_channel(), value_channel());
        let once = Timer::one_shot(&Clock::steady(), ms(1)).unwrap();
        let handle = group.add_callback(once, move |_, _| {
            begun.send(()).unwrap();
            goes.next();
        });
        LongRun { handle, begins, go }
    }
}

fn exclusive(node: &Node) -> CallbackGroup {
    node.create_callback_group(CallbackGroupType::MutuallyExclusive)
}

/// Creates a timer whose callback reports each tick. Returns the receiver of these reports.
fn ticking(group: &CallbackGroup) -> SentValues<()> {
    let (sender, ticks) = value_channel();
    group.create_timer_with_callback(ms(1), move |_| sender.send(()).unwrap_or_default()).unwrap();
    ticks
}

/// Waits for a number of ticks that come from now on.
fn go_on(ticks: &SentValues<()>) {
    ticks.rest();
    ticks.take(A_LOOK);
}

fn a_node_comes_back_while_its_callback_runs(case: &Case) {
    let (mut executor, leaves, stays) = (case.executor(), node(), node());
    let (others, own) = (ticking(&exclusive(&stays)), ticking(&exclusive(&leaves)));
    let long = LongRun::new(&exclusive(&leaves));
    [&leaves, &stays].into_iter().for_each(|node| executor.add_node(node).unwrap());
    let handle = executor.handle();
    spinning(&mut *executor, || {
        long.begins.next();
        handle.remove_node(&leaves);
        if case.runs_several() {
            go_on(&others);
        }
        handle.add_node(&leaves).unwrap();
        if case.runs_several() {
            go_on(&others); // the executor has the node again: the long run still holds up no callback
            go_on(&own);
        }
        long.go.send(()).unwrap();
        go_on(&others);
        go_on(&own);
        assert!(long.begins.rest().is_empty());
    });
}

/// Callbacks of the group never run at the same time. They continue after the long run, even if the callback of the
/// long run was removed.
fn a_group_goes_to_another_executor_while_its_callback_runs(case: &Case) {
    for is_removed in [false, true] {
        let (mut executor, mut other, node) = (case.executor(), case.executor(), node());
        let (group, of_node) = (exclusive(&node), ticking(&exclusive(&node)));
        let (long, of_group) = (LongRun::new(&group), ticking(&group));
        other.add_callback_group(&group).unwrap();
        executor.add_node(&node).unwrap();
        let handle = other.handle();
        let LongRun { handle: callback, begins, go } = long;
        let work = || {
            begins.next();
            of_group.rest();
            handle.remove_callback_group(&group);
            if is_removed {
                callback.remove();
            }
            go_on(&of_node);
            assert!(of_group.rest().is_empty(), "a callback of the group runs");
            go.send(()).unwrap();
            go_on(&of_group);
        };
        spinning(&mut *other, || spinning(&mut *executor, work));
    }
}

struct AtDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The executor has the last handle of the node, so the executor drops the objects that the node's callbacks own.
fn a_destructor_of_a_node_holds_up_no_callback(case: &Case) {
    let (mut executor, leaves, stays) = (case.executor(), node(), node());
    let others = ticking(&exclusive(&stays));
    let ((begun, begins), (go, goes)) = (value_channel(), value_channel::<()>());
    let owned = AtDrop(move || {
        begun.send(()).unwrap();
        goes.next();
    });
    leaves
        .create_timer_with_callback(Duration::from_secs(3600), move |_| {
            let _ = &owned;
        })
        .unwrap();
    let (handle, last) = (executor.handle(), Arc::new(Mutex::new(None::<Node>)));
    let own = last.clone();
    leaves.add_callback(Timer::one_shot(&Clock::steady(), ms(1)).unwrap(), move |_, _| {
        handle.remove_node(&own.lock().unwrap().take().unwrap());
    });
    [&leaves, &stays].into_iter().for_each(|node| executor.add_node(node).unwrap());
    *last.lock().unwrap() = Some(leaves);
    spinning(&mut *executor, || {
        begins.next();
        if case.runs_several() {
            go_on(&others);
        }
        go.send(()).unwrap();
        go_on(&others);
    });
}
