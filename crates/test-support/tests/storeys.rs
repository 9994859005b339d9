//! The storeys (layers of modules) of crates that cannot link this crate in their own tests: crates of other
//! workspaces, programs without tests, and this crate.

use std::{fs, path::Path};
use test_support::storeys;

/// The sources of a crate or program, and its storeys, lowest first.
const HOUSES: &[(&str, &[&str])] = &[
    ("bindings/python/src", &["error", "qos", "fork", "log", "wait", "message", "entities", "waiter"]),
    ("bridges/zenoh/src", &["confinement", "config", "network", "payload", "wire", "bridge", "main"]),
    ("contestants/baselines/src", &["wait", "message", "announcement", "ring", "stream", "udp", "baseline", "bin"]),
    ("contestants/iceoryx2/src", &["service", "loan", "subscription", "publisher", "main"]),
    (
        "contestants/zenoh/src",
        &["names", "memory", "presence", "publisher", "arrival", "channel", "callback", "session", "bin"],
    ),
    (
        "crates/soak/src/engine",
        &["outcome", "options", "accounts", "samples", "endpoint", "worker", "coordinator", "main"],
    ),
    ("crates/soak/src/service", &["counts", "arguments", "server", "client", "coordinator", "main"]),
    (
        "crates/test-support/src",
        &["wait", "peer", "compiler", "script", "small_tmpfs", "trap", "trials", "storeys", "messages", "xrce"],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("/"))
}

#[test]
fn imports_go_down_and_in_no_circle() {
    for (source, storeys) in HOUSES {
        storeys::check_folder(&root().join(source), storeys, &[]);
    }
}

#[test]
fn the_readmes_draw_these_storeys() {
    let mut drawn = 0;
    for (source, storeys) in HOUSES {
        let (folder, _) = source.split_once("/src").unwrap_or((source, ""));
        let readme = fs::read_to_string(root().join(folder).join("README.md")).unwrap_or_default();
        if readme.contains("src, from the top") {
            let (mut found, mut wanted) = (storeys::drawn(&readme), storeys.to_vec());
            // Storeys of one line have no order.
            if folder.ends_with("test-support") {
                found.sort();
                wanted.sort_unstable();
            }
            assert_eq!(found, wanted, "{folder}");
            drawn += 1;
        }
    }
    assert_eq!(drawn, 3);
}
