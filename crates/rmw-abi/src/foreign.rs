//! The functions of ROS 2's own C libraries and of libstdc++ that this library calls.
//!
//! Each function is looked up at its first use, because Gantry is built where ROS 2 is not installed. A process
//! that loads an RMW has these libraries. They may be in a local scope (as in Python), so each is opened by its
//! name, and the global scope is not searched.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    sync::atomic::{AtomicPtr, Ordering::*},
};

/// A function of a library; `F` is its type.
pub struct Foreign<F> {
    library: &'static CStr,
    name: &'static CStr,
    /// Flags of `dlopen`.
    open: c_int,
    /// The address of the function. Null: not looked up yet. [`ABSENT`]: not found.
    address: AtomicPtr<c_void>,
    function: PhantomData<F>,
}

/// The address that stands for an absent function; no function has it.
const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

impl<F: Copy> Foreign<F> {
    /// # Safety
    /// `F` is the type of the C function `name` of `library`: an `unsafe extern "C" fn`.
    pub const unsafe fn new(library: &'static CStr, name: &'static CStr) -> Foreign<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "F is a pointer to a function") };
        let open = libc::RTLD_LAZY | libc::RTLD_LOCAL;
        Foreign { library, name, open, address: AtomicPtr::new(std::ptr::null_mut()), function: PhantomData }
    }

    /// As [`Foreign::new`], for a library that is never opened: the process must have loaded it before the first call.
    ///
    /// # Safety
    /// As [`Foreign::new`].
    pub const unsafe fn if_loaded(library: &'static CStr, name: &'static CStr) -> Foreign<F> {
        // SAFETY: the promise of the caller.
        let function = unsafe { Foreign::new(library, name) };
        Foreign { open: libc::RTLD_LAZY | libc::RTLD_NOLOAD, ..function }
    }

    /// The function; `None` if the process has no such library. The first call may open the library. Later calls
    /// cost one load, and one branch if there is no such library.
    #[inline]
    pub fn get(&self) -> Option<F> {
        let mut address = self.address.load(Acquire); // partner: the store below, after the library was relocated
        if address == ABSENT {
            return None;
        }
        if address.is_null() {
            address = self.look_up();
            self.address.store(address, Release);
        }
        // SAFETY: the address of a function of type `F` (`new`), which stays valid: the library is never closed.
        (address != ABSENT).then(|| unsafe { std::mem::transmute_copy(&address) })
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: a name that ends with 0. The library's initialisers are ROS 2's own, which may run on any thread.
        let library = unsafe { libc::dlopen(self.library.as_ptr(), self.open) };
        if library.is_null() {
            return ABSENT;
        }
        // SAFETY: a handle of `dlopen`, which stays open, and a name that ends with 0.
        let address = unsafe { libc::dlsym(library, self.name.as_ptr()) };
        if address.is_null() { ABSENT } else { address }
    }
}

/// Whether a loaded library has a function; `None` if the library is not loaded.
pub fn loaded_symbol(library: &CStr, name: &CStr) -> Option<bool> {
    // SAFETY: a name that ends with 0. RTLD_NOLOAD loads nothing, so no initialiser runs.
    let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: a handle of `dlopen`, and a name that ends with 0.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the handle is not used again. The library stays: the process had loaded it before.
    unsafe { libc::dlclose(library) };
    Some(!address.is_null())
}

/// Sets the error state of this thread, which `rmw_get_error_string` returns. `false` in a process without ROS 2's
/// libraries, which has no error state.
#[must_use]
pub fn set_error_state(sentence: &CStr, function: &CStr) -> bool {
    type SetErrorState = unsafe extern "C" fn(*const c_char, *const c_char, usize);
    // SAFETY: `rcutils/error_handling.h`: void rcutils_set_error_state(const char *, const char *, size_t).
    static SET: Foreign<SetErrorState> = unsafe { Foreign::new(c"librcutils.so", c"rcutils_set_error_state") };
    let Some(set) = SET.get() else { return false };
    // SAFETY: two strings that end with 0, which the function copies.
    unsafe { set(sentence.as_ptr(), function.as_ptr(), 0) };
    true
}

/// Clears the error state of this thread, because a function of ROS 2 has set an error that the program must not see.
pub fn reset_error_state() {
    // SAFETY: `rcutils/error_handling.h`: void rcutils_reset_error(void).
    static RESET: Foreign<unsafe extern "C" fn()> = unsafe { Foreign::new(c"librcutils.so", c"rcutils_reset_error") };
    if let Some(reset) = RESET.get() {
        // SAFETY: the function changes a variable of the thread.
        unsafe { reset() };
    }
}
