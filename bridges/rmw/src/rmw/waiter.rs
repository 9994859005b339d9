//! The waiter: the thread that calls `rmw_wait`, and takes samples, requests and responses from the network.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::Node,
    serialized::Serialized,
    session::Session,
};
use gantry_command::say;
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    io,
    ptr::null_mut,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

/// The largest number of different error texts that the thread logs.
const MAX_SAID: usize = 10;

/// The pointer of an object for the arrays of `rmw_wait`.
#[derive(Clone, Copy)]
pub enum Handle {
    Subscription(*mut c_void),
    Client(*mut c_void),
    Server(*mut c_void),
}

/// An object that the waiter waits for. It keeps alive the RMW object to which its handle belongs (R4).
pub trait Ready: Send + Sync {
    fn handle(&self) -> Handle;

    /// Takes the samples, requests or responses that have arrived. `memory` is a buffer for serialized messages.
    /// Returns `false` if more may have arrived.
    fn take(&self, memory: &mut Serialized) -> bool;
}

/// The thread that waits for the network, and the objects that it waits for.
pub struct Waiter {
    shared: Arc<WaiterState>,
    thread: Option<JoinHandle<()>>,
}

struct WaiterState {
    node: Arc<Node>,
    /// The guard condition that wakes the thread.
    wake: GuardCondition,
    objects: Mutex<Vec<(u64, Arc<dyn Ready>)>>,
    is_ending: AtomicBool,
}

/// A guard condition of the session.
struct GuardCondition {
    session: Arc<Session>,
    condition: *mut rmw_guard_condition_t,
}

// SAFETY: the condition is created and destroyed under the session's lock (R3); any thread may trigger it.
unsafe impl Send for GuardCondition {}
// SAFETY: as above.
unsafe impl Sync for GuardCondition {}

impl Waiter {
    /// Starts the thread. The thread calls `on_graph` after each change of the network's graph, and `on_end` when it
    /// ends, even by a panic.
    ///
    /// # Errors
    /// A sentence with the reason: the RMW or the operating system refuses.
    pub fn start(
        node: &Arc<Node>,
        on_graph: impl Fn() + Send + 'static,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Waiter, String> {
        let wake = GuardCondition::new(&node.session).map_err(|error| error.to_string())?;
        let wait_set = WaitSet::new(&node.session).map_err(|error| error.to_string())?;
        let (objects, is_ending) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(WaiterState { node: node.clone(), wake, objects, is_ending });
        let of_thread = shared.clone();
        let run = move || {
            let _end = OnEnd(Some(on_end));
            of_thread.run(&wait_set, &on_graph);
        };
        let spawn = || thread::Builder::new().name("bridge-network".to_owned()).spawn(run);
        let thread = gantry::with_signals_blocked(spawn).map_err(|error: io::Error| error.to_string())?;
        Ok(Waiter { shared, thread: Some(thread) })
    }

    /// Sets the objects that the thread waits for, each with a number that the caller chooses. The thread drops its
    /// other objects soon after.
    pub fn set(&self, objects: Vec<(u64, Arc<dyn Ready>)>) {
        let mut current = self.shared.lock();
        let numbers = |objects: &[(u64, Arc<dyn Ready>)]| objects.iter().map(|(number, _)| *number).collect::<Vec<_>>();
        if numbers(&current) == numbers(&objects) {
            return;
        }
        *current = objects;
        drop(current);
        self.shared.wake.trigger();
    }

    /// Ends the thread.
    pub fn end(&mut self) {
        self.shared.is_ending.store(true, SeqCst);
        self.shared.wake.trigger();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the panic hook has reported a panic of the thread
        }
        self.shared.lock().clear();
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.end();
    }
}

/// Calls a function when it is dropped at the end of a thread.
struct OnEnd<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnEnd<F> {
    fn drop(&mut self) {
        if let Some(on_end) = self.0.take() {
            on_end();
        }
    }
}

impl WaiterState {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Arc<dyn Ready>)>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, wait_set: &WaitSet, on_graph: &impl Fn()) {
        let library = &self.node.session.library;
        let mut memory = Serialized::new(library);
        // SAFETY: the node lives, and its guard condition lives as long as the node.
        let graph = unsafe { (library.functions.rmw_node_get_graph_guard_condition)(self.node.as_ptr()) };
        // SAFETY: as above, if the pointer is not null.
        let graph = unsafe { graph.as_ref() }.map_or(null_mut(), |graph| graph.data);
        // Objects from which more may have to be taken. They are tried again after the other objects had their turn.
        let mut unfinished: Vec<Arc<dyn Ready>> = Vec::new();
        let mut said: Vec<String> = Vec::new();
        while !self.is_ending.load(SeqCst) {
            let objects: Vec<Arc<dyn Ready>> = self.lock().iter().map(|(_, object)| object.clone()).collect();
            let (is_graph_new, ready) = match wait_set.wait(self, &objects, graph, !unfinished.is_empty()) {
                Ok(news) => news,
                Err(error) => {
                    let sentence = error.to_string();
                    if !said.contains(&sentence) && said.len() < MAX_SAID {
                        say(format_args!(
                            "the bridge cannot wait for the network, and gets nothing from the network until it can: \
                             {sentence}"
                        ));
                        said.push(sentence);
                    }
                    // The only remedy is a further attempt. The pause prevents a busy loop.
                    thread::sleep(std::time::Duration::from_millis(100));
                    continue;
                }
            };
            if is_graph_new {
                on_graph();
            }
            let mut next: Vec<Arc<dyn Ready>> = Vec::new();
            for object in unfinished.drain(..).chain(ready) {
                if !next.iter().any(|other| Arc::ptr_eq(other, &object)) && !object.take(&mut memory) {
                    next.push(object);
                }
            }
            unfinished = next;
        }
    }
}

impl GuardCondition {
    fn new(session: &Arc<Session>) -> Result<GuardCondition, RmwError> {
        let functions = &session.library.functions;
        let control = session.control();
        // SAFETY: the context is the session's, and the call is under the lock (R3).
        let made = unsafe { (functions.rmw_create_guard_condition)(session.context()) };
        drop(control);
        let condition = check_pointer(functions, "rmw_create_guard_condition", made)?;
        Ok(GuardCondition { session: session.clone(), condition })
    }

    fn trigger(&self) {
        let functions = &self.session.library.functions;
        // SAFETY: the guard condition lives.
        let code = unsafe { (functions.rmw_trigger_guard_condition)(self.condition) };
        // After a failure, the thread sees the new objects at its next wake-up from the network.
        let _ = check(functions, "rmw_trigger_guard_condition", code);
    }
}

impl Drop for GuardCondition {
    fn drop(&mut self) {
        let functions = &self.session.library.functions;
        let _control = self.session.control();
        // SAFETY: the guard condition lives. It is in no wait set, because the thread has ended (R4). The call is under
        // the lock (R3).
        let code = unsafe { (functions.rmw_destroy_guard_condition)(self.condition) };
        check_end(functions, "rmw_destroy_guard_condition", code);
    }
}

/// The wait set of the thread.
struct WaitSet {
    session: Arc<Session>,
    wait_set: *mut rmw_wait_set_t,
}

// SAFETY: the wait set moves to the thread, and only this thread uses it (R4).
unsafe impl Send for WaitSet {}

impl WaitSet {
    fn new(session: &Arc<Session>) -> Result<WaitSet, RmwError> {
        let functions = &session.library.functions;
        let control = session.control();
        // SAFETY: the context is the session's, and the call is under the lock (R3). The argument 0 means any number of
        // conditions.
        let made = unsafe { (functions.rmw_create_wait_set)(session.context(), 0) };
        drop(control);
        let wait_set = check_pointer(functions, "rmw_create_wait_set", made)?;
        Ok(WaitSet { session: session.clone(), wait_set })
    }

    /// Waits until an object or the graph has news; with `only_looks`, returns at once. The result is true if the graph
    /// has changed, and has the objects with news.
    fn wait(
        &self,
        shared: &WaiterState,
        objects: &[Arc<dyn Ready>],
        graph: *mut c_void,
        only_looks: bool,
    ) -> Result<(bool, Vec<Arc<dyn Ready>>), RmwError> {
        let functions = &self.session.library.functions;
        let (mut subscriptions, mut clients, mut servers) = (Vec::new(), Vec::new(), Vec::new());
        for object in objects {
            match object.handle() {
                Handle::Subscription(data) => subscriptions.push(data),
                Handle::Client(data) => clients.push(data),
                Handle::Server(data) => servers.push(data),
            }
        }
        // SAFETY: the guard condition lives, and its fields do not change.
        let wake = unsafe { (*shared.wake.condition).data };
        let mut conditions = vec![wake];
        if !graph.is_null() {
            conditions.push(graph);
        }
        let mut subscriptions_c =
            rmw_subscriptions_t { subscriber_count: subscriptions.len(), subscribers: subscriptions.as_mut_ptr() };
        let mut clients_c = rmw_clients_t { client_count: clients.len(), clients: clients.as_mut_ptr() };
        let mut servers_c = rmw_services_t { service_count: servers.len(), services: servers.as_mut_ptr() };
        let mut conditions_c = rmw_guard_conditions_t {
            guard_condition_count: conditions.len(),
            guard_conditions: conditions.as_mut_ptr(),
        };
        let mut events = rmw_events_t { event_count: 0, events: null_mut() };
        let no_time = rmw_time_t { sec: 0, nsec: 0 };
        let limit = if only_looks { &raw const no_time } else { std::ptr::null() };
        // SAFETY: the objects live (R4), and their arrays have these lengths. The RMW sets the elements without news to
        // null.
        let code = unsafe {
            (functions.rmw_wait)(
                &mut subscriptions_c,
                &mut conditions_c,
                &mut servers_c,
                &mut clients_c,
                &mut events,
                self.wait_set,
                limit,
            )
        };
        if code != RMW_RET_TIMEOUT {
            check(functions, "rmw_wait", code)?;
        }
        let (mut subscriptions, mut clients, mut servers) =
            (subscriptions.into_iter(), clients.into_iter(), servers.into_iter());
        let mut has_news = |object: &&Arc<dyn Ready>| {
            let left = match object.handle() {
                Handle::Subscription(_) => subscriptions.next(),
                Handle::Client(_) => clients.next(),
                Handle::Server(_) => servers.next(),
            };
            left.is_some_and(|data| !data.is_null())
        };
        let ready = objects.iter().filter(|object| has_news(object)).cloned().collect();
        let is_graph_new = conditions.get(1).is_some_and(|data| !data.is_null());
        Ok((is_graph_new, ready))
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        let functions = &self.session.library.functions;
        let _control = self.session.control();
        // SAFETY: no thread waits on the wait set, and the call is under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_wait_set)(self.wait_set) };
        check_end(functions, "rmw_destroy_wait_set", code);
    }
}
