//! Linker options for the libraries that cargo has built for the tests, the same as for an installed library.

use std::path::PathBuf;
use tempfile::TempDir;

/// The folder with the libraries that cargo has built for this test.
pub fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Returns the options that link the shared library under its installed name, and the folder with this name.
pub fn shared_library() -> (TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let library = libraries().join("libgantry_c.so");
    assert!(library.exists(), "{library:?}");
    for name in ["libgantry.so", "libgantry.so.0"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    let path = folder.path().display();
    let options = [format!("-L{path}"), format!("-Wl,-rpath,{path}"), "-lgantry".into()];
    (folder, options.into())
}

/// Returns the options that link the static library, and the folder with its installed name.
#[allow(dead_code, reason = "some tests link the shared library only")]
pub fn archive() -> (TempDir, Vec<String>) {
    let archive = libraries().join("libgantry_c.a").to_str().unwrap().to_owned();
    (tempfile::tempdir().unwrap(), [archive, "-lpthread".into(), "-ldl".into(), "-lm".into()].into())
}
