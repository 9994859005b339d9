//! A shared library and its symbols.

use std::{
    ffi::{CStr, CString, c_void},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// A shared library that is never closed (R1).
pub struct Symbols(*mut c_void);

// SAFETY: only `dlsym` uses the handle, and any thread may call `dlsym`.
unsafe impl Send for Symbols {}
// SAFETY: as above.
unsafe impl Sync for Symbols {}

impl Symbols {
    /// Opens a library with RTLD_LOCAL, so that other libraries do not see its symbols.
    pub fn open(path: &Path) -> Result<Symbols, String> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| format!("the path {} has a zero byte in it", path.display()))?;
        // SAFETY: the string ends with 0. The library's initialisers belong to the vendor, and may run on any thread.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(Symbols(handle));
        }
        // SAFETY: the function returns null or the error text of this thread's last call.
        let error = unsafe { libc::dlerror() };
        let why = if error.is_null() {
            "for an unknown reason".into()
        } else {
            // SAFETY: the pointer is not null, and its string stays until the next `dl…` call of this thread.
            unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
        };
        Err(format!("{} cannot be loaded: {why}; source the setup.bash of your ROS 2 before the start", path.display()))
    }

    /// Returns the address of a symbol in the library, or in a library that it links.
    pub fn find(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle stays open (R1), and the string ends with 0.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }
}
