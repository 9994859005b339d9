//! The maps of the repository are true: each crate is in `ARCHITECTURE.md`, and each path of a table "To change X, open
//! Y" exists.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The title of a crate's table of paths, in its README.
const MAP: &str = "## To change X, open Y";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The folders of the workspace's crates, with the texts of their READMEs.
fn readmes() -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let with_readme = |folder: PathBuf| {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        (folder, readme)
    };
    folders.map(with_readme).collect()
}

/// The paths in the second column of a table: code with a slash.
fn paths(map: &str) -> impl Iterator<Item = &str> {
    let cells = map.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(1));
    let code = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code.filter(|code| code.contains('/') && !code.contains(' '))
}

#[test]
fn each_path_to_open_exists() {
    let mut found = 0;
    for (folder, readme) in readmes() {
        let Some((_, map)) = readme.split_once(MAP) else { continue };
        for path in paths(map) {
            assert!(folder.join(path).exists(), "{path}, in the README of {}", folder.display());
            found += 1;
        }
    }
    assert!(found > 100, "{found} paths");
}

#[test]
fn the_architecture_names_each_crate() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (folder, _) in readmes() {
        let link = format!("](crates/{}/README.md)", folder.file_name().unwrap().to_str().unwrap());
        assert!(architecture.contains(&link), "{link}");
    }
}

/// The widest line of a comment, as `.editorconfig` has it.
const MAX_COLUMNS: usize = 120;

/// The comments of a file's lines, with the numbers of the lines: all behind `//`, `///` or `//!`.
fn comments(source: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let lines = source.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, line, line.trim_start().strip_prefix("//")?)))
}

/// Every Rust file of the crates, of the contestants and of the firmware.
fn sources() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["crates", "contestants", "examples", "firmware", "fuzz"].map(|folder| root().join(folder)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if !path.ends_with("target") => folders.push(path),
                true => {}
                false => {
                    found.extend(Some(path).filter(|path| path.extension().is_some_and(|extension| extension == "rs")))
                }
            }
        }
    }
    found
}

#[test]
fn comments_are_no_wider_than_a_line() {
    let mut wide = Vec::new();
    for path in sources() {
        let source = fs::read_to_string(&path).unwrap();
        let mut is_code = false;
        for (number, line, comment) in comments(&source) {
            let text = comment.trim_start_matches(['/', '!']).trim_start();
            is_code ^= text.starts_with("```");
            // Rows of tables, code and words without a space cannot be wrapped.
            let can_wrap = !is_code && !text.starts_with('|') && text.contains(' ');
            if can_wrap && line.chars().count() > MAX_COLUMNS {
                wide.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "wider than {MAX_COLUMNS} columns: {wide:#?}");
}
