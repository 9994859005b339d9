//! Lists of tests, for test programs with their own `main` (`harness = false`).

use libtest_mimic::{Arguments, Completion, Trial};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::{Command, ExitCode},
};

/// The environment variable that marks the inner process of [`in_own_memory`].
const INNER_VARIABLE: &str = "GANTRY_TEST_INNER";

/// A test: its name and its function.
pub type Test = (&'static str, fn());

/// Defines `TESTS`, the list of a module's tests with their names.
#[macro_export]
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        pub const TESTS: &[$crate::Test] = &[$((concat!(module_path!(), "::", stringify!($test)), $test)),*];
    };
}

/// The tests of several modules.
pub fn trials(tests: impl IntoIterator<Item = &'static [Test]>) -> Vec<Trial> {
    tests.into_iter().flatten().map(|&(name, test)| trial(name, test)).collect()
}

/// Makes a test. It fails if `test` panics, and is ignored if `test` calls [`ignore`].
pub fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match catch_unwind(AssertUnwindSafe(test)) {
        Ok(()) => Ok(Completion::Completed),
        Err(payload) => match payload.downcast::<Ignored>() {
            Ok(ignored) => Ok(Completion::ignored_with(ignored.0)),
            Err(payload) => resume_unwind(payload),
        },
    })
}

/// Runs tests that need their own directory of shared memory, without the environment variables of the user's domain.
/// The outer process creates the directory, runs this program again as the inner process, and removes the directory.
/// `log_level` is `GANTRY_LOG` of the inner process; `None` means the default level.
pub fn in_own_memory(log_level: Option<&str>, trials: impl FnOnce() -> Vec<Trial>) -> ExitCode {
    if std::env::var_os(INNER_VARIABLE).is_some() {
        return run(trials());
    }
    let directory = tempfile::Builder::new().prefix("gantry-test-").tempdir_in("/dev/shm").unwrap();
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner.args(std::env::args_os().skip(1)).env("GANTRY_SHM_DIR", directory.path()).env(INNER_VARIABLE, "1");
    inner.env_remove("ROS_DOMAIN_ID").env_remove("GANTRY_LOG").envs(log_level.map(|level| ("GANTRY_LOG", level)));
    if inner.status().unwrap().success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The payload of the panic that [`ignore`] raises.
struct Ignored(String);

/// Ends the running [`trial`] with the result `ignored` and this reason. It is for a test that notices only while it
/// runs that this machine lacks something. Only the test's own thread may call it.
pub fn ignore(why: impl Into<String>) -> ! {
    resume_unwind(Box::new(Ignored(why.into())))
}

/// Returns true and prints the reason, if there is a reason to ignore a group of tests.
pub fn is_ignored(group: &str, why: Option<String>) -> bool {
    if let Some(why) = &why {
        eprintln!("ignored: {group}: {why}");
    }
    why.is_some()
}

/// The number of tests that [`run`] starts at the same time. It is larger than most numbers of CPUs, because most tests
/// sleep while they wait for another process.
const THREADS: usize = 8;

/// Runs the tests as the command line of this test program says, [`THREADS`] at the same time.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&side_by_side(THREADS), trials).exit_code()
}

/// Parses the command line of a test program. `threads` tests run at the same time, unless `--test-threads` sets
/// another number. `RUST_TEST_THREADS` has no effect, because `.cargo/config.toml` sets it for all other programs.
pub fn side_by_side(threads: usize) -> Arguments {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(threads));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_test_has_not_passed_and_a_panic_has_failed() {
        let trials = vec![
            trial("ignored", || ignore("this machine has no such thing")),
            trial("failed", || panic!("as it should")),
            trial("passed", || ()),
        ];
        let conclusion = libtest_mimic::run(&Arguments::default(), trials);
        assert_eq!((conclusion.num_ignored, conclusion.num_failed, conclusion.num_passed), (1, 1, 1));
    }
}
