//! Functions of ROS 2's C libraries and of libstdc++ that this crate calls.
//!
//! Each function is looked up with `dlsym` at its first use, because Gantry is built without ROS 2. A process that
//! loads an RMW has these libraries, but perhaps in a local scope (as in Python). So each library is opened by its
//! name.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    sync::atomic::{AtomicPtr, Ordering::*},
};

/// A function of a shared library. `F` is the type of the function.
pub struct Foreign<F> {
    library: &'static CStr,
    name: &'static CStr,
    /// The flags for `dlopen`.
    open: c_int,
    /// The address of the function. Null means that it was not looked up yet, [`ABSENT`] that it does not exist.
    address: AtomicPtr<c_void>,
    function: PhantomData<F>,
}

/// The value for "function not found". No function has this address.
const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

impl<F: Copy> Foreign<F> {
    /// # Safety
    /// The C function `name` of `library` has the type `F`, which is an `unsafe extern "C" fn`.
    pub const unsafe fn new(library: &'static CStr, name: &'static CStr) -> Foreign<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "F is a pointer to a function") };
        let open = libc::RTLD_LAZY | libc::RTLD_LOCAL;
        Foreign { library, name, open, address: AtomicPtr::new(std::ptr::null_mut()), function: PhantomData }
    }

    /// Does the same as [`Foreign::new`], but never loads the library: the process must have loaded it before the first
    /// call.
    ///
    /// # Safety
    /// The same as for [`Foreign::new`].
    pub const unsafe fn if_loaded(library: &'static CStr, name: &'static CStr) -> Foreign<F> {
        // SAFETY: the promise of the caller.
        let function = unsafe { Foreign::new(library, name) };
        Foreign { open: libc::RTLD_LAZY | libc::RTLD_NOLOAD, ..function }
    }

    /// Returns the function, or `None` if the library or the function is missing. The first call may load the library.
    /// A later call costs one load, and one branch if the function is missing.
    #[inline]
    pub fn get(&self) -> Option<F> {
        let mut address = self.address.load(Acquire); // partner: the store below, after the loading of the library
        if address == ABSENT {
            return None;
        }
        if address.is_null() {
            address = self.look_up();
            self.address.store(address, Release);
        }
        // SAFETY: the address is of a function of type `F` (`new`). The address stays valid, because the library is
        // never closed.
        (address != ABSENT).then(|| unsafe { std::mem::transmute_copy(&address) })
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: the name ends with 0. The library's initialisers belong to ROS 2, and may run on any thread.
        let library = unsafe { libc::dlopen(self.library.as_ptr(), self.open) };
        if library.is_null() {
            return ABSENT;
        }
        // SAFETY: the handle comes from `dlopen` and stays open; the name ends with 0.
        let address = unsafe { libc::dlsym(library, self.name.as_ptr()) };
        if address.is_null() { ABSENT } else { address }
    }
}

/// True if a loaded library has the function; `None` if the library is not loaded.
pub fn loaded_symbol(library: &CStr, name: &CStr) -> Option<bool> {
    // SAFETY: the name ends with 0. RTLD_NOLOAD loads nothing, so no initialiser runs.
    let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: the handle comes from `dlopen`; the name ends with 0.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the handle is not used again. The library stays loaded, because the process had loaded it before.
    unsafe { libc::dlclose(library) };
    Some(!address.is_null())
}

/// Sets the error state of this thread, which `rmw_get_error_string` returns. Returns `false` in a process without ROS
/// 2's libraries, which has no error state.
#[must_use]
pub fn set_error_state(sentence: &CStr, function: &CStr) -> bool {
    type SetErrorState = unsafe extern "C" fn(*const c_char, *const c_char, usize);
    // SAFETY: the type is from `rcutils/error_handling.h`: void rcutils_set_error_state(const char *, const char *,
    // size_t).
    static SET: Foreign<SetErrorState> = unsafe { Foreign::new(c"librcutils.so", c"rcutils_set_error_state") };
    let Some(set) = SET.get() else { return false };
    // SAFETY: both strings end with 0, and the function copies them.
    unsafe { set(sentence.as_ptr(), function.as_ptr(), 0) };
    true
}

/// Clears the error state of this thread, for an error of a ROS 2 function that the program must not see.
pub fn reset_error_state() {
    // SAFETY: the type is from `rcutils/error_handling.h`: void rcutils_reset_error(void).
    static RESET: Foreign<unsafe extern "C" fn()> = unsafe { Foreign::new(c"librcutils.so", c"rcutils_reset_error") };
    if let Some(reset) = RESET.get() {
        // SAFETY: the function has no arguments, and changes only a variable of this thread.
        unsafe { reset() };
    }
}
