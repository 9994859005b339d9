//! Writes the parameters of the program as constants. They come from environment variables of the build.

use std::{
    env,
    fmt::{Debug, Write},
    fs,
    path::Path,
    str::FromStr,
};

fn main() {
    println!("cargo::rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-check-cfg=cfg(text_messages)");
    let mut constants = format!("pub const HAS_SESSION: bool = {};\n", parameter("SESSION", true));
    for (name, default) in [("MTU_BYTES", 512), ("HISTORY", 4), ("SUBSCRIPTION_DEPTH", 4), ("SERVICE_DEPTH", 1)] {
        constant(&mut constants, name, "usize", parameter(name, default));
    }
    constant(&mut constants, "IS_RELIABLE", "bool", parameter("RELIABLE", true));
    let has_one_topic = parameter("ONE_TOPIC", false);
    for (name, default) in [("PUBLISHERS", 1), ("SUBSCRIPTIONS", 1), ("SERVICES", 0), ("CLIENTS", 0)] {
        let count: usize = parameter(name, default);
        let topic = name.to_lowercase();
        let topic = |index: usize| format!("{topic}_{}", if has_one_topic { 0 } else { index });
        let topics: Vec<String> = (0..count).map(topic).collect();
        constant(&mut constants, name, &format!("[&str; {count}]"), topics);
    }
    match parameter("TEXT_BYTES", 0) {
        0 => {}
        text_bytes => {
            println!("cargo::rustc-cfg=text_messages");
            constant(&mut constants, "TEXT", "&str", "x".repeat(text_bytes));
        }
    }
    let folder = env::var("OUT_DIR").unwrap_or_default();
    let written = fs::write(Path::new(&folder).join("parameters.rs"), constants);
    assert!(written.is_ok(), "the parameters cannot be written: {written:?}");
}

fn constant(constants: &mut String, name: &str, kind: &str, value: impl Debug) {
    let _ = writeln!(constants, "pub const {name}: {kind} = {value:?};");
}

/// The value of the environment variable `GANTRY_BENCHMARK_` + `name`, or `default` if it is not set.
fn parameter<T: FromStr>(name: &str, default: T) -> T {
    let name = format!("GANTRY_BENCHMARK_{name}");
    println!("cargo::rerun-if-env-changed={name}");
    let Ok(text) = env::var(&name) else { return default };
    match text.parse() {
        Ok(value) => value,
        Err(_) => panic!("{name} is {text}, which is not a value of its type"),
    }
}
