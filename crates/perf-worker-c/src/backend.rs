//! A middleware in C: its functions, which are checked when it is created, and its description.

use std::mem::{MaybeUninit, offset_of};

use perf_worker::backend::{Backend, DaemonCommand, DeliveryKind, Description, MatchingKind, Session};
use perf_worker::run_spec::RunSpec;

use crate::{abi, description, failure::Failure, opaque::Daemons, run::CRun, session::CSession, text};

/// The size of the struct in version 1 of the header, which has no executors.
const VERSION_1_BYTES: usize = offset_of!(abi::Backend, executors);
/// The size of the struct in version 2 of the header, whose executors have no services.
const VERSION_2_BYTES: usize = offset_of!(abi::Backend, executor) + offset_of!(abi::ExecutorFunctions, add_client);

/// A middleware whose back end is written in C.
pub struct CBackend {
    name: String,
    description: Description,
    functions: abi::Backend,
}

// SAFETY: promise H3 of the header allows calls on any thread. The memory behind the pointers does not change (H2).
unsafe impl Sync for CBackend {}

impl CBackend {
    /// Reads and checks the struct that describes a back end.
    ///
    /// # Errors
    /// The reason, as a sentence: a function or a text is missing, or the header does not allow a value.
    ///
    /// # Safety
    /// `backend` must keep the promises H1, H2 and H3 of the header (listed in the documentation of this crate).
    pub unsafe fn new(backend: *const abi::Backend) -> Result<CBackend, String> {
        if backend.is_null() {
            return Err("perf_test_worker_main got NULL".to_owned());
        }
        // Only the version is read first, because the struct of an older version is shorter.
        // SAFETY: H2: the struct begins with its version.
        let version = unsafe { *backend.cast::<u32>() };
        let expected = abi::VERSION;
        let bytes = match version {
            1 => VERSION_1_BYTES,
            2 => VERSION_2_BYTES,
            abi::VERSION => size_of::<abi::Backend>(),
            _ => {
                return Err(format!(
                    "its version is {version} and the version of libperf_worker_c.a {expected}: set \
                     PERF_TEST_BACKEND_VERSION and compile it with the header of the library"
                ));
            }
        };
        let mut functions = MaybeUninit::<abi::Backend>::zeroed();
        // SAFETY: promise H2 of the header, and the struct of this version has this size.
        unsafe { backend.cast::<u8>().copy_to_nonoverlapping(functions.as_mut_ptr().cast(), bytes) };
        // SAFETY: promise H1 of the header. All other fields may be zero: numbers, and pointers and functions that are
        // NULL.
        let functions = unsafe { functions.assume_init() };
        // SAFETY: H2.
        let name = unsafe { text::required(functions.name, "name") }?;
        // SAFETY: H2.
        let description = unsafe { description::describe(&functions) }?;
        match missing_function(&functions, &description) {
            Some(function) => Err(format!("the function {function} is NULL")),
            None => Ok(CBackend { name, description, functions }),
        }
    }

    fn refuse_what_c_cannot(&self, spec: &RunSpec) -> Result<(), String> {
        if spec.check_memory {
            let name = &self.name;
            return Err(format!(
                "--check-memory counts the allocations of Rust alone, and {name} is not Rust: leave out --check-memory"
            ));
        }
        Ok(())
    }
}

/// The name of the first required function that is NULL.
fn missing_function(functions: &abi::Backend, description: &Description) -> Option<&'static str> {
    let abi::Backend { publisher, subscription, executor, .. } = functions;
    let capabilities = &description.capabilities;
    let matches = capabilities.matching != MatchingKind::Unknown;
    let (pushes, serves) = (capabilities.delivery == DeliveryKind::Push, functions.create_client.is_some());
    let (executes, serves_nodes) = (!capabilities.executors.is_empty(), executor.add_client.is_some());
    let pulls = !pushes || (serves && !serves_nodes);
    let required = [
        ("open", functions.open.is_some()),
        ("effective", functions.effective.is_some()),
        ("publisher.create", publisher.create.is_some()),
        ("publisher.publish", publisher.publish.is_some()),
        ("publisher.matched.destroy", publisher.matched.destroy.is_some()),
        ("publisher.matched.matched", publisher.matched.matched.is_some() || !matches),
        ("subscription.create", subscription.create.is_some()),
        ("subscription.take", subscription.take.is_some() || !pulls),
        ("subscription.wait", subscription.wait.is_some() || !pulls),
        ("subscription.start", subscription.start.is_some() || !pushes),
        ("subscription.stop", subscription.stop.is_some() || !pushes),
        ("subscription.matched.destroy", subscription.matched.destroy.is_some()),
        ("subscription.matched.matched", subscription.matched.matched.is_some() || !matches),
        ("create_client", serves || (functions.create_server.is_none() && !serves_nodes)),
        ("create_server", functions.create_server.is_some() || !serves),
        ("executor.create", executor.create.is_some() || !executes),
        ("executor.add_timer", executor.add_timer.is_some() || !executes),
        ("executor.add_subscription", executor.add_subscription.is_some() || !executes),
        ("executor.spin", executor.spin.is_some() || !executes),
        ("executor.stop", executor.stop.is_some() || !executes),
        ("executor.destroy", executor.destroy.is_some() || !executes),
        ("executor.add_client", serves_nodes || executor.add_server.is_none()),
        ("executor.add_server", executor.add_server.is_some() || !serves_nodes),
    ];
    required.into_iter().find(|(_, is_there)| !is_there).map(|(name, _)| name)
}

impl Backend for CBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        self.refuse_what_c_cannot(spec)?;
        let Some(check) = self.functions.check else { return Ok(Vec::new()) };
        let (run, mut failure, mut daemons) = (CRun::new(spec)?, Failure::new(), Daemons(Ok(Vec::new())));
        // SAFETY: H1, H4.
        let returned = unsafe { check(run.address(), &raw mut daemons, failure.address()) };
        failure.check("check", returned)?;
        daemons.0
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        self.refuse_what_c_cannot(spec)?;
        Ok(Box::new(CSession::open(&self.functions, &self.description, spec)?))
    }

    fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        let Some(clean_up) = self.functions.clean_up else { return Ok(()) };
        let (run, mut failure) = (CRun::new(spec)?, Failure::new());
        // SAFETY: H1, H4.
        let returned = unsafe { clean_up(run.address(), failure.address()) };
        failure.check("clean_up", returned)
    }
}
