//! The library of an RMW: finds the file, loads it, and looks up its functions.

use super::{functions::Functions, symbols::Symbols};
use rmw_abi::distribution::{self, Distribution};
use std::{
    env,
    ffi::{CStr, OsStr},
    path::PathBuf,
    sync::{Arc, Mutex},
};

/// A loaded RMW.
pub struct Library {
    /// The name of the RMW implementation, such as `rmw_fastrtps_cpp`.
    pub identifier: String,
    pub path: PathBuf,
    pub distribution: Distribution,
    pub functions: Functions,
    /// The session's lock of invariant R3 (see `mod.rs`). A library has only one session.
    pub control: Mutex<()>,
}

/// The folders in which libraries are searched, from the environment variables, in the order of the search.
pub fn library_folders() -> Vec<PathBuf> {
    let list = |variable: &str| env::var_os(variable).unwrap_or_default();
    let prefixes = list("AMENT_PREFIX_PATH");
    let prefixes = env::split_paths(&prefixes).map(|prefix| prefix.join("lib"));
    let folders = list("LD_LIBRARY_PATH");
    let mut folders: Vec<PathBuf> =
        prefixes.chain(env::split_paths(&folders)).filter(|folder| folder.is_absolute()).collect();
    let mut seen = Vec::new();
    folders.retain(|folder| {
        !seen.contains(folder) && {
            seen.push(folder.clone());
            true
        }
    });
    folders
}

impl Library {
    /// Loads the RMW with this name, or from this path.
    ///
    /// # Errors
    /// The error is a sentence with the reason: the RMW is Gantry's own, is not found, cannot be loaded, or belongs to
    /// an unsupported distribution.
    pub fn load(name: &str) -> Result<Arc<Library>, String> {
        let path = find(name)?;
        let symbols = Symbols::open(&path)?;
        let in_file = |what: String| format!("{} {what}", path.display());
        let distribution =
            distribution::current().map_err(|failure| in_file(format!("cannot be used: {}", failure.sentence)))?;
        let functions = Functions::find(&symbols).map_err(|function| {
            in_file(format!("is not an RMW library of ROS 2: the library has no function {function}"))
        })?;
        // SAFETY: the function has no arguments (R5).
        let identifier = unsafe { (functions.rmw_get_implementation_identifier)() };
        // SAFETY: the string is a constant of the library, which stays loaded (R1).
        let identifier = unsafe { CStr::from_ptr(identifier) }.to_string_lossy().into_owned();
        refuse_own(&identifier)?;
        Ok(Arc::new(Library { identifier, path, distribution, functions, control: Mutex::new(()) }))
    }
}

fn refuse_own(name: &str) -> Result<(), String> {
    if name != "rmw_gantry" {
        return Ok(());
    }
    Err("rmw_gantry is the domain itself, so there is nothing to bridge to; name the RMW of the other nodes, such as \
         --rmw rmw_fastrtps_cpp"
        .to_owned())
}

/// Finds the library file of an RMW.
fn find(name: &str) -> Result<PathBuf, String> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        let file = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        refuse_own(file.trim_start_matches("lib").trim_end_matches(".so"))?;
        return if path.is_file() { Ok(path) } else { Err(format!("there is no file {name}")) };
    }
    refuse_own(name)?;
    let (file, folders) = (format!("lib{name}.so"), library_folders());
    if let Some(path) = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) {
        return Ok(path);
    }
    let searched: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(match searched.is_empty() {
        true => format!(
            "{file} is not found, because neither AMENT_PREFIX_PATH nor LD_LIBRARY_PATH is set; source the setup.bash of your \
             ROS 2, or give the path: --rmw /opt/ros/jazzy/lib/{file}"
        ),
        false => format!(
            "{file} is in none of these folders: {}; install it (apt install ros-$ROS_DISTRO-{}), source the setup.bash of \
             your ROS 2, or give the path of the library to --rmw",
            searched.join(", "),
            name.replace('_', "-")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rmw_of_the_domain_and_absent_files_are_refused() {
        for (name, part) in [
            ("rmw_gantry", "nothing to bridge to"),
            ("/opt/lib/librmw_gantry.so", "nothing to bridge to"),
            ("/opt/none/librmw_none.so", "there is no file"),
            ("rmw_none", "librmw_none.so is"),
        ] {
            let why = find(name).unwrap_err();
            assert!(why.contains(part), "{name}: {why}");
        }
    }
}
