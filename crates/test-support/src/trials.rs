//! Lists of tests, for test programs with a `main` of their own (`harness = false`).

use libtest_mimic::{Arguments, Trial};

/// A test: its name and its function.
pub type Test = (&'static str, fn());

/// Defines `TESTS`, the list of a module's tests by their names.
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

/// A test that fails by panicking.
pub fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Whether there is a reason to ignore a group of tests; prints the reason.
pub fn is_ignored(group: &str, why: Option<String>) -> bool {
    if let Some(why) = &why {
        eprintln!("ignored: {group}: {why}");
    }
    why.is_some()
}

/// The command line of a test program whose tests sleep most of the time: `threads` of them run at once, unless
/// `--test-threads` or `RUST_TEST_THREADS` gives another number.
pub fn side_by_side(threads: usize) -> Arguments {
    let mut arguments = Arguments::from_args();
    let asked_for = std::env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    arguments.test_threads = arguments.test_threads.or(asked_for).or(Some(threads));
    arguments
}
