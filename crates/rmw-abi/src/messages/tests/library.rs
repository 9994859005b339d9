//! Access to the libraries of an installed ROS 2.

use std::{
    collections::BTreeSet,
    ffi::{CString, OsStr, c_void},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Loads all message libraries in the directory `GANTRY_ROS_LIBRARIES`, and returns this directory.
pub fn ros_libraries() -> PathBuf {
    let directory = std::env::var_os("GANTRY_ROS_LIBRARIES").map(PathBuf::from);
    let directory = directory.expect("GANTRY_ROS_LIBRARIES names the directory with the libraries of a ROS 2");
    // The libraries of some builds have undefined symbols, which libpython defines.
    for python in ["libpython3.11.so.1.0", "libpython3.12.so.1.0"] {
        open(Path::new(python), libc::RTLD_LAZY | libc::RTLD_GLOBAL);
    }
    let files = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let mut waiting: Vec<PathBuf> = files.filter(|path| is_of_messages(path)).collect();
    // The libraries depend on each other, and may not find each other. So a library that cannot be loaded is tried
    // again after the others.
    loop {
        let before = waiting.len();
        waiting.retain(|path| open(path, libc::RTLD_LAZY).is_null());
        if waiting.len() == before {
            return directory;
        }
    }
}

fn is_of_messages(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_base = ["librcutils.", "librcpputils.", "librosidl_"].iter().any(|base| name.starts_with(base));
    let is_generated = name.contains("__rosidl_") && !name.contains("fastrtps") && !name.contains("generator_py");
    name.ends_with(".so") && (is_base || is_generated)
}

pub fn open(path: &Path, flags: i32) -> *mut c_void {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    unsafe { libc::dlopen(path.as_ptr(), flags) }
}

/// The packages that have a library whose name ends with `ending`.
pub fn packages(directory: &Path, ending: &str) -> BTreeSet<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| Some(name.to_str()?.strip_prefix("lib")?.strip_suffix(ending)?.to_owned()));
    names.collect()
}

/// The symbols of a library that begin with `prefix`, found in the strings of the file.
pub fn symbols(library: &Path, prefix: &str) -> BTreeSet<String> {
    let bytes = fs::read(library).unwrap();
    let starts = bytes.windows(prefix.len()).enumerate().filter(|(_, window)| *window == prefix.as_bytes());
    let names = starts.map(|(start, _)| {
        let end = bytes[start..].iter().position(|byte| *byte == 0).unwrap_or(0);
        OsStr::from_bytes(&bytes[start..start + end]).to_string_lossy().into_owned()
    });
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')).collect()
}

/// Calls a function without arguments, and returns the pointer that it returns.
pub fn call<T>(library: &Path, symbol: &str) -> *const T {
    let handle = open(library, libc::RTLD_LAZY);
    let name = CString::new(symbol).unwrap();
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!address.is_null(), "{symbol} of {}", library.display());
    let function: unsafe extern "C" fn() -> *const T = unsafe { std::mem::transmute(address) };
    unsafe { function() }
}
