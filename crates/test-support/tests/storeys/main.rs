//! Checks the storeys (layers of modules) of all crates: a file imports only from its own storey and from lower
//! storeys, and no files import each other in a circle. The README of a crate draws its storeys.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod imports;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
};

/// The line above the drawing of the storeys in a README.
const HEADING: &str = "src, from the top";

/// The number of modules from which on a crate needs a drawing of its storeys.
const MIN_MODULES: usize = 3;

/// The sources of programs that have no README of their own, and their storeys, lowest first.
const PROGRAMS: &[(&str, &[&str])] = &[
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
];

/// The files that may import each other in a circle, by the sources of their crate.
const GROUPS: &[(&str, &[&str])] = &[
    // A message consists of fields and can itself be a field.
    (
        "crates/gantry-cdr/src",
        &[
            "element",
            "cursor",
            "input",
            "composer",
            "shape",
            "kind",
            "view",
            "message",
            "in_place",
            "plain",
            "plain_body",
        ],
    ),
    // A message has values, a value may be a message or a list of messages, and the cursor reads all of them.
    ("crates/gantry-dynamic/src", &["value", "list", "message", "cursor", "message_type"]),
    // Strings, sequences and structs contain each other.
    (
        "crates/rmw-abi/src",
        &[
            "messages::cpp_string",
            "messages::cpp_vector",
            "messages::probe",
            "messages::sequence",
            "messages::structure",
            "messages::text",
        ],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns the folders of all crates and programs, from the repository's root.
fn crates() -> Vec<PathBuf> {
    let shelves = ["crates", "bridges", "viewers", "bindings", "contestants"];
    let on_shelves = shelves.iter().flat_map(|shelf| {
        let entries = fs::read_dir(root().join(shelf)).unwrap();
        entries.map(move |entry| Path::new(shelf).join(entry.unwrap().file_name()))
    });
    let all = on_shelves.chain([PathBuf::from("recorder")]);
    all.filter(|folder| root().join(folder).join("Cargo.toml").exists()).collect()
}

/// Returns the storeys in the drawing of a README, lowest first: the first words of the lines below [`HEADING`].
fn drawn(readme: &str) -> Vec<String> {
    let mut lines = readme.lines().skip_while(|line| !line.contains(HEADING));
    let Some(column) = lines.next().and_then(|line| line.find(HEADING)) else { return Vec::new() };
    let rows = lines.take_while(|line| !line.starts_with("```")).filter_map(|line| line.get(column..));
    let words = rows.map(|row| row.trim_start().split("  ").next().unwrap_or_default().trim());
    let mut storeys: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
    storeys.reverse();
    storeys.iter().flat_map(|words| words.split(", ").map(str::to_owned)).collect()
}

/// Returns the storeys of all crates and programs, by their sources.
fn houses() -> BTreeMap<PathBuf, Vec<String>> {
    let readme = |folder: &Path| fs::read_to_string(root().join(folder).join("README.md")).unwrap_or_default();
    let crates = crates().into_iter().map(|folder| (folder.join("src"), drawn(&readme(&folder))));
    let programs =
        PROGRAMS.iter().map(|(source, storeys)| (source.into(), storeys.iter().map(|&s| s.into()).collect()));
    crates.filter(|(_, storeys)| !storeys.is_empty()).chain(programs).collect()
}

#[test]
fn imports_go_down_and_in_no_circle() {
    let houses = houses();
    // The sources of several crates are parsed at the same time, because parsing is most of the work.
    let faults: Vec<String> = thread::scope(|scope| {
        let faults_in = |(source, storeys): (&PathBuf, &Vec<String>)| {
            let groups: Vec<&[&str]> =
                GROUPS.iter().filter(|(folder, _)| Path::new(folder) == source).map(|(_, group)| *group).collect();
            let found = imports::faults(&root().join(source), storeys, &groups);
            found.into_iter().map(|fault| format!("{}: {fault}", source.display())).collect::<Vec<_>>()
        };
        let threads: Vec<_> = houses.iter().map(|house| scope.spawn(move || faults_in(house))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_storey_is_a_module() {
    for (source, storeys) in houses() {
        let folder = root().join(&source);
        let is_module = |storey: &String| folder.join(storey).is_dir() || folder.join(format!("{storey}.rs")).is_file();
        let ghosts: Vec<&String> = storeys.iter().filter(|storey| !is_module(storey)).collect();
        assert!(ghosts.is_empty(), "{} has no modules {ghosts:?}, which its storeys name", source.display());
    }
}

#[test]
fn every_crate_with_several_modules_draws_its_storeys() {
    let houses = houses();
    let modules = |source: &Path| {
        let names = fs::read_dir(root().join(source)).unwrap().map(|entry| entry.unwrap().path());
        names
            .filter(|name| !["lib", "main"].map(Some).contains(&name.file_stem().and_then(|stem| stem.to_str())))
            .count()
    };
    let without: Vec<PathBuf> = crates()
        .into_iter()
        .map(|folder| folder.join("src"))
        .filter(|source| !houses.keys().any(|house| house.starts_with(source)) && modules(source) >= MIN_MODULES)
        .collect();
    assert!(without.is_empty(), "the READMEs of these crates have no drawing below \"{HEADING}\": {without:?}");
}
