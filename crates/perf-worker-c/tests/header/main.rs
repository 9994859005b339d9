//! Tests of the header: it compiles as C11 and as C++17, and its structs have the layout that the library expects. The
//! tests are ignored if there is no C compiler.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod layout;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tempfile::TempDir;
use test_support::{built_archive, compile, is_ignored, missing_compiler, side_by_side, trial};

fn main() -> ExitCode {
    let c = is_ignored("header", missing_compiler("cc", "c"));
    let cpp = is_ignored("header_is_cpp", missing_compiler("c++", "cpp"));
    let trials = vec![
        trial("structs_have_the_layouts_of_the_library", structs_have_the_layouts_of_the_library).with_ignored_flag(c),
        trial("header_is_c11", header_is_c11).with_ignored_flag(c),
        trial("header_is_cpp17", header_is_cpp17).with_ignored_flag(cpp),
        trial("the_archive_refuses_a_back_end_that_is_not_valid", the_archive_refuses_a_back_end_that_is_not_valid)
            .with_ignored_flag(c),
    ];
    libtest_mimic::run(&side_by_side(2), trials).exit_code()
}

/// Writes `text` into a file and compiles it to a program.
#[track_caller]
fn compiled(compiler: &str, extension: &str, text: &str, options: &[&str]) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join(format!("program.{extension}")), folder.path().join("program"));
    fs::write(&source, text).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let options = [&["-I", include.to_str().unwrap()], options].concat();
    compile(compiler, &source, &path, &options).unwrap_or_else(|messages| panic!("{messages}"));
    Program { path, _folder: folder }
}

struct Program {
    path: PathBuf,
    _folder: TempDir,
}

fn structs_have_the_layouts_of_the_library() {
    let expected = layout::expected();
    let program = compiled("cc", "c", &layout::program(&expected), &["-std=c11"]);
    let output = Command::new(&program.path).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = printed.lines().collect();
    let expected: Vec<String> = expected.iter().map(|(text, number)| format!("{text} {number}")).collect();
    assert_eq!(found, expected);
}

const PROGRAM: &str = r#"
    #include "perf_test_backend.h"
    int main(int argc, char **argv) {
        static perf_test_backend backend;
        perf_test_error error;
        backend.version = PERF_TEST_BACKEND_VERSION;
        return argc > 1 ? perf_test_fail(&error, "%d %s", argc, argv[0]) : backend.version != 3;
    }"#;

fn header_is_c11() {
    compiled("cc", "c", PROGRAM, &["-std=c11"]);
}

fn header_is_cpp17() {
    compiled("c++", "cpp", PROGRAM, &["-std=c++17"]);
}

fn the_archive_refuses_a_back_end_that_is_not_valid() {
    let program = r#"
        #include "perf_test_backend.h"
        static void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
            (void)session, (void)run, (void)plan, (void)error;
            return NULL;
        }
        static int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
            return (void)publisher, (void)draft, (void)sent, (void)error, 0;
        }
        static int take(void *subscription, perf_test_taken *taken, perf_test_error *error) {
            return (void)subscription, (void)taken, (void)error, 0;
        }
        static int wait_for(void *subscription, int64_t timeout_ns, perf_test_error *error) {
            return (void)subscription, (void)timeout_ns, (void)error, 0;
        }
        static int64_t matched(void *endpoint, perf_test_error *error) { return (void)endpoint, (void)error, 0; }
        static void end(void *any) { (void)any; }
        static void *open_it(const perf_test_run *run, perf_test_error *error) { return (void)error, (void *)run; }
        static void effective(void *session, perf_test_effective *values) { (void)session, (void)values; }
        int main(int argc, char **argv) {
            perf_test_backend backend = {.version = PERF_TEST_BACKEND_VERSION, .name = "bad", .middleware_version = "1"};
            backend.capabilities = (perf_test_capabilities){
                .reliability = PERF_TEST_RELIABLE, .durability = PERF_TEST_VOLATILE, .history = PERF_TEST_KEEP_ALL,
                .wait = PERF_TEST_BLOCK, .delivery = PERF_TEST_PULL, .matching = PERF_TEST_MATCHING_COUNT, .copies = true};
            backend.open = open_it;
            backend.effective = effective;
            backend.publisher.create = create;
            switch (argc > 2 ? argv[2][0] : ' ') {
                case 'N': return perf_test_worker_main(argc, argv, NULL);
                case 'v': backend.version = 7; break;
                case 'n': backend.name = NULL; break;
                case 'w': backend.capabilities.wait = 8; break;
                case 'd': backend.capabilities.delivery = 3; break;
                case 's': backend.setting_count = 2; break;
                case 'x': {
                    static const char *const executors[] = {"single", NULL};
                    backend.executors = executors;
                    backend.publisher.publish = publish;
                    backend.publisher.matched = (perf_test_matched_functions){.matched = matched, .destroy = end};
                    backend.subscription = (perf_test_subscription_functions){
                        .matched = backend.publisher.matched, .create = create, .take = take, .wait = wait_for};
                    backend.executor.stop = end;
                }
            }
            return perf_test_worker_main(argc, argv, &backend);
        }"#;
    let archive = built_archive("perf_worker_c");
    let options = ["-std=c11", archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"];
    let program = compiled("cc", "c", program, &options);
    for (mistake, words) in [
        ("NULL", "perf_test_worker_main got NULL"),
        ("version", "its version is 7 and the version of libperf_worker_c.a 3: set PERF_TEST_BACKEND_VERSION"),
        ("name", "name is NULL or empty"),
        ("wait", "capabilities.wait is 0x8"),
        ("delivery", "capabilities.delivery is 0x3: it must be one value"),
        ("settings", "settings is NULL and setting_count 2"),
        ("function", "the function publisher.publish is NULL"),
        ("x", "the function executor.create is NULL"),
    ] {
        let output = Command::new(&program.path).args(["describe", mistake]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("the back end is not valid: ") && said.contains(words), "{mistake}: {said}");
        assert_eq!(output.status.code(), Some(1));
    }
}
