//! The interface between `perf_test` and a middleware: the traits that a middleware implements so that it can be
//! measured.
//!
//! The program of a middleware hands its back end to [`worker::main`](crate::worker::main). The program is called
//! `perf_test_<name>`, so that `perf_test -c <name>` finds it. A back end in C or C++ uses the crate `perf-worker-c`. A
//! program in another language implements the worker protocol instead (`docs/internals/worker-protocol.md`).
//!
//! `perf_test` itself does the scheduling, reads the clock, writes the stamps, and computes losses, histograms and
//! reports. A back end only sends a message and reports its arrival. Any other work in a back end's methods
//! (allocations, locks, copies) counts as cost of the middleware.

mod executor;
mod matched;
mod publisher;
mod subscription;

use crate::{endpoint::EndpointPlan, run_spec::RunSpec};
pub use crate::{
    spec::{
        capabilities::{Capabilities, DeliveryKind},
        daemon::{DaemonCommand, Readiness},
        description::{Description, Setting, Settings},
        matching::{Matching, MatchingKind, OtherClock},
    },
    stamp::Stamp,
};
pub use executor::{Executor, NodeClient, Received, Respond, Responder, no_services};
pub use matched::Matched;
pub use publisher::{Draft, Publisher, Sent};
pub use subscription::{Delivery, Listener, Sink, Subscription, Taken};

/// A middleware.
pub trait Backend: Sync {
    /// The name of the middleware for `-c`, headings and logs. `-c` ignores the case of letters, and treats `-` and `_`
    /// as equal.
    fn name(&self) -> &str;

    /// The version, the capabilities and the settings of the middleware. Options of older versions of performance_test
    /// are settings: `--shared-memory` is `transport` = `shared-memory`, `--disable-async` is `publishing` = `sync`,
    /// `--use-single-participant` is `participants` = `one`.
    fn describe(&self) -> Description;

    /// Checks whether the middleware supports the combination of options of this run, beyond what its capabilities
    /// declare. The default implementation accepts every run. Returns the daemons that must run during the measurement.
    /// Called before any other process is started.
    ///
    /// # Errors
    /// The option that is not supported and the alternative, in a sentence.
    fn check(&self, _spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        Ok(Vec::new())
    }

    /// Opens the middleware in this worker process: its participant, session or runtime. Called on the main thread
    /// before any endpoint is created. The cost of the call counts as the middleware's.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String>;

    /// Removes the files that dead processes left. The coordinator (the process `perf_test`) calls this before a run,
    /// and after a run in which a worker or a daemon failed or was killed.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot work here, or files could not be removed.
    fn clean_up(&self, spec: &RunSpec) -> Result<(), String>;
}

/// The middleware in one process. It is dropped after all endpoints, at the end of the process.
pub trait Session: Send + Sync {
    /// The values in effect: the value of each setting in [`RunSpec::settings`], and of each option in
    /// [`RunSpec::options`] that the middleware implements. The run is refused if a value differs from the requested
    /// value.
    fn effective(&self) -> Settings;

    /// Creates a publisher of `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String>;

    /// Creates a subscription to `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String>;

    /// Creates a client of the service `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// The reason, as a sentence. The default implementation always fails: the middleware has no services.
    fn client(&self, _spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        Err(format!("this middleware does not support services, and {} is a service", plan.topic))
    }

    /// Creates the server of the service `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// The reason, as a sentence. The default implementation always fails: the middleware has no services.
    fn server(&self, _spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        Err(format!("this middleware does not support services, and {} is a service", plan.topic))
    }

    /// Creates executor `number` of this process, of the kind [`RunSpec::executor`]. May block.
    ///
    /// # Errors
    /// The reason, as a sentence. The default implementation always fails: the middleware has no executors.
    fn executor(&self, spec: &RunSpec, _number: u32) -> Result<Box<dyn Executor>, String> {
        Err(format!("{} has no executors, in which the nodes of a topology run", spec.communicator))
    }

    /// The memory of the device if the run measures a device (a microcontroller) instead of this process. Called at the
    /// end, when all endpoints have finished.
    fn device_memory(&self) -> Option<DeviceMemory> {
        None
    }
}

/// A client of a service. Each response has the stamp of its request.
pub struct Client {
    /// Sends requests.
    pub requests: Box<dyn Publisher>,
    /// Takes responses.
    pub responses: Box<dyn Subscription>,
}

/// A server of a service. The server sends one response for each request, before the request is released.
pub struct Server {
    /// Takes requests.
    pub requests: Box<dyn Subscription>,
    /// Sends the response to the request that is being handled.
    pub responses: Box<dyn Publisher>,
}

/// The memory of a device, bytes; 0 if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeviceMemory {
    /// Code and constants.
    pub text_bytes: u64,
    /// Initialised variables.
    pub data_bytes: u64,
    /// Variables whose initial value is 0.
    pub bss_bytes: u64,
    /// The peak of the memory that the stacks used.
    pub stack_peak_bytes: u64,
    /// The peak of the memory that was allocated.
    pub heap_peak_bytes: u64,
}
