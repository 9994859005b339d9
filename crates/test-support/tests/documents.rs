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
