//! A library and its symbols.

use std::{
    ffi::{CStr, CString, c_void},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// A library that stays open (R1).
pub struct Symbols(*mut c_void);

// SAFETY: a handle of `dlopen` is used by `dlsym` only, which any thread may call.
unsafe impl Send for Symbols {}
// SAFETY: as above.
unsafe impl Sync for Symbols {}

impl Symbols {
    /// Opens a library; its symbols are in no other library's scope.
    pub fn open(path: &Path) -> Result<Symbols, String> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| format!("the path {} has a zero byte in it", path.display()))?;
        // SAFETY: a string that ends with 0. The initialisers are the vendor's, which may run on any thread.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(Symbols(handle));
        }
        // SAFETY: it returns null or the error of this thread's last call.
        let error = unsafe { libc::dlerror() };
        let why = if error.is_null() {
            "for an unknown reason".into()
        } else {
            // SAFETY: not null, and a string that stays until the next call of this thread.
            unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
        };
        Err(format!("{} cannot be loaded: {why}; source the setup.bash of your ROS 2 before the start", path.display()))
    }

    /// The address of a symbol of the library or of a library that it is linked to.
    pub fn find(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: a handle that stays open (R1), and a string that ends with 0.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }
}
