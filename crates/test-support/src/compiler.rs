//! Compiles C and C++ programs for tests, and finds the static library of a crate for them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the reason why this machine cannot use the compiler; `None` if the compiler translates an empty program in
/// the language of `extension`.
#[must_use]
pub fn missing_compiler(compiler: &str, extension: &str) -> Option<String> {
    let works = || {
        let folder = std::env::temp_dir().join(format!("test-support-{compiler}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).ok()?;
        let (source, program) = (folder.join(format!("empty.{extension}")), folder.join("empty"));
        std::fs::write(&source, "#include <stdlib.h>\nint main(void) { return 0; }\n").ok()?;
        let works = compile(compiler, &source, &program, &[]).is_ok();
        std::fs::remove_dir_all(&folder).ok()?;
        Some(works)
    };
    (works() != Some(true)).then(|| format!("there is no {compiler} here that makes a program"))
}

/// Compiles `source` with warnings as errors.
///
/// # Errors
/// The compiler's messages, if the compilation fails.
pub fn compile(compiler: &str, source: &Path, program: &Path, options: &[&str]) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"]).arg(program).arg(source).args(options);
    let output = command.output().map_err(|error| format!("{compiler}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Returns the static library of a crate, which cargo has built in the directory of this test program. If there are
/// several, because of builds with other features, returns the newest one.
///
/// # Panics
/// There is no static library, because the crate is not a dependency of this test.
#[must_use]
pub fn built_archive(library: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let files = program.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let prefix = format!("lib{library}-");
    let is_it = |name: &str| name.starts_with(&prefix) && name.ends_with(".a");
    let archives = files.filter(|file| file.file_name().to_str().is_some_and(is_it));
    let newest = archives.max_by_key(|file| file.metadata().and_then(|found| found.modified()).ok());
    newest.map(|file| file.path()).unwrap_or_else(|| panic!("{prefix}*.a is not beside {}", program.display()))
}
