//! Tests of `perf_micro memory`. Quick scripts replace cargo and the agent.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Finished, Memory};

test_support::tests![
    the_memory_of_each_entity_is_the_slope_of_its_programs,
    a_missing_target_or_emulator_is_named_with_the_way_to_install_it,
    errors_of_cargo_are_shown,
    wrong_options_start_nothing,
];

/// A program whose environment sets the size of its static variables. It prints its figures in the same form as the
/// real program on the host.
const PROGRAM: &str = r#"
#include <stdio.h>
static char statics[BYTES] __attribute__((used, aligned(64)));
int main(void) { return printf("stack-bytes 1000\nheap-bytes %d\n", HEAP) < 0; }
"#;

/// The replacement of cargo, which compiles the program. Each publisher takes 64 bytes of static variables; no
/// publisher publishes.
const CARGO: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
eval "$(env | sed -n 's/^GANTRY_BENCHMARK_//p')"
bytes=64 heap=0
if [ "$SESSION" = true ]; then
    bytes=$((bytes + 4096 + HISTORY * 1024 + PUBLISHERS * 64 + SUBSCRIPTIONS * (128 + SUBSCRIPTION_DEPTH * 64)))
    bytes=$((bytes + SERVICES * 192 + CLIENTS * 128)) heap=$((CLIENTS * 10))
fi
cc -DBYTES=$bytes -DHEAP=$heap -o program program.c || exit
printf '{"reason":"compiler-artifact","target":{"name":"benchmark"},"executable":"%s/program"}\n' "$PWD"
"#;

/// The replacement of the agent: its line is /dev/null, so nothing answers.
const AGENT: &str = "#!/bin/sh\necho /dev/null\nPATH=/usr/bin:/bin\nexec sleep 60\n";

/// A folder with firmware, and with scripts that replace the system's programs.
struct Tools {
    folder: TempDir,
    memory: Memory,
}

impl Tools {
    fn new() -> Tools {
        let tools = Tools { folder: tempfile::tempdir().unwrap(), memory: Memory::new() };
        fs::create_dir_all(tools.path("firmware/benchmark")).unwrap();
        fs::create_dir(tools.path("bin")).unwrap();
        fs::write(tools.path("firmware/benchmark/Cargo.toml"), "").unwrap();
        fs::write(tools.path("firmware/program.c"), PROGRAM).unwrap();
        tools.script("agent", AGENT);
        tools.script("bin/cargo", CARGO);
        // This rustc has no Cortex-M3 target: the folder that it prints does not exist.
        tools.script("bin/rustc", "#!/bin/sh\necho /nowhere\n");
        tools
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        test_support::write_script(&self.path(name), text);
    }

    fn run(&self, options: &str) -> Finished {
        let [firmware, agent, results] = ["firmware", "agent", "out"].map(|name| self.path(name).display().to_string());
        let line = format!("memory --firmware {firmware} --agent {agent} --results {results} {options}");
        Finished::new(self.memory.command(&line).env("PATH", self.path("bin")))
    }
}

fn the_memory_of_each_entity_is_the_slope_of_its_programs() {
    let tools = Tools::new();
    let done = tools.run("--entities 0,1,3 --histories 1,2,4");
    // The experiment fails, because the replaced program publishes nothing.
    assert_eq!(done.status.code(), Some(1), "{}", done.everything());
    assert!(done.stderr.contains("nothing came from the program on /publishers_0"), "{}", done.everything());
    for words in [
        "on this host",
        "not a Cortex-M3, because rustc has no target thumbv7m-none-eabi here: `rustup target add thumbv7m-none-eabi`",
        "figure subscription-bytes 384\n",
        "figure service-bytes 192\n",
        "figure client-bytes 138\n",
        "1 publisher failed: nothing came",
    ] {
        assert!(done.stdout.contains(words), "{words:?} is not in {}", done.everything());
    }
    assert!(!done.stdout.contains("figure publisher-bytes"), "{}", done.everything());
    let found: Value = serde_json::from_slice(&fs::read(tools.path("out/micro-memory.json")).unwrap()).unwrap();
    assert_eq!((&found["schema"], &found["command"]), (&"gantry.perf_test.results/1".into(), &"micro memory".into()));
    let details = &found["details"];
    assert_eq!(
        (&details["costs"]["client"]["heap_bytes"], &details["figures"]["client-bytes"]),
        (&10.0.into(), &138.0.into())
    );
    assert!(details["failures"][0].as_str().unwrap().contains("nothing came from the program on"), "{details}");
    let programs = details["programs"].as_array().unwrap();
    let of = |name: &str, count: u64| {
        let is_wanted = |program: &&Value| program[name] == count && program["history"] == 4;
        programs.iter().find(is_wanted).unwrap()["bss_bytes"].as_u64().unwrap()
    };
    assert_eq!(of("services", 3) - of("services", 1), 2 * 192);
    assert!(fs::read_to_string(tools.path("out/micro-memory.svg")).unwrap().contains("number of services"));
    for file in ["micro-memory.txt", "environment.json", "commands.txt"] {
        assert!(tools.path("out").join(file).is_file(), "{file}");
    }
    tools.memory.assert_empty();
}

fn a_missing_target_or_emulator_is_named_with_the_way_to_install_it() {
    let tools = Tools::new();
    let refused = |words: &str| {
        let done = tools.run("--target thumbv7m");
        assert!(done.status.code() == Some(2) && done.stderr.contains(words), "{}", done.everything());
        assert!(!tools.path("out").exists());
    };
    refused("`rustup target add thumbv7m-none-eabi` installs it. --target host measures on this host");
    tools.script("bin/rustc", "#!/bin/sh\necho /\n");
    refused("qemu-system-arm is not installed: `sudo apt-get install qemu-system-arm` installs it");
    symlink("/bin/false", tools.path("bin/qemu-system-arm")).unwrap();
    refused("qemu-system-arm is not installed");
}

fn errors_of_cargo_are_shown() {
    let tools = Tools::new();
    tools.script("bin/cargo", "#!/bin/sh\necho 'error: no matching package' >&2\nexit 101\n");
    let done = tools.run("--target host");
    let words = "cargo cannot build benchmark in ";
    assert!(done.status.code() == Some(1) && done.stderr.contains(words), "{}", done.everything());
    assert!(done.stderr.contains("(the board alone): error: no matching package"), "{}", done.everything());
    fs::remove_file(tools.path("bin/cargo")).unwrap();
    let done = tools.run("--target host");
    assert!(done.status.code() == Some(1) && done.stderr.contains("rustup.rs"), "{}", done.everything());
}

fn wrong_options_start_nothing() {
    let tools = Tools::new();
    for (options, words) in [
        ("--entities 0,5", "--entities needs two different numbers above 0"),
        ("--entities 1,51", "--entities"),
        ("--histories 4,4", "--histories needs two different numbers above 0"),
        ("--histories 1,17", "--histories"),
        ("--target arm", "thumbv7m"),
    ] {
        let done = tools.run(options);
        assert!(done.status.code() == Some(2) && done.stderr.contains(words), "{options}: {}", done.everything());
    }
    for (without, words) in [
        ("firmware/benchmark/Cargo.toml", "is not Gantry's folder of firmware: it has no benchmark/Cargo.toml"),
        ("agent", "build it with `cargo build --release -p gantry-agent --features simulated-can`"),
    ] {
        let hidden = tools.path("hidden");
        fs::rename(tools.path(without), &hidden).unwrap();
        let done = tools.run("--target host");
        assert!(done.status.code() == Some(2) && done.stderr.contains(words), "{without}: {}", done.everything());
        fs::rename(&hidden, tools.path(without)).unwrap();
    }
    assert!(!tools.path("out").exists());
}
