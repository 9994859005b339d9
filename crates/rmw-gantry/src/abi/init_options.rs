//! `rmw/init_options.h`: the options of a context. The memory of their strings and arrays comes from an allocator in
//! the options.

use crate::{
    allocator::Allocator,
    failure::run,
    handle::{IDENTIFIER, argument, check_identifier, in_out},
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    in_layout,
};
use std::{
    ffi::{CStr, c_char},
    ptr::null_mut,
};

/// `RMW_DEFAULT_DOMAIN_ID` means that the caller chooses no domain; the domain is then 0. This library does not read
/// `ROS_DOMAIN_ID`: rcl does.
pub const DEFAULT_DOMAIN_ID: usize = usize::MAX;

const ZERO_ALLOCATOR: rcutils_allocator_t =
    rcutils_allocator_t { allocate: None, deallocate: None, reallocate: None, zero_allocate: None, state: null_mut() };

/// Returns the same value as `rmw_get_zero_initialized_init_options`.
fn zero_initialized<L: Layout>() -> rmw_init_options_of<L> {
    rmw_init_options_of {
        instance_id: 0,
        implementation_identifier: std::ptr::null(),
        domain_id: DEFAULT_DOMAIN_ID,
        security_options: rmw_security_options_t {
            enforce_security: RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
            security_root_path: null_mut(),
        },
        localhost_only: L::LocalhostOnly::default(),
        discovery_options: rmw_discovery_options_t {
            automatic_discovery_range: RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET,
            static_peers: null_mut(),
            static_peers_count: 0,
            allocator: ZERO_ALLOCATOR,
        },
        enclave: null_mut(),
        allocator: ZERO_ALLOCATOR,
        implementation: null_mut(),
    }
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init_options_init(
    init_options: *mut rmw_init_options_t,
    allocator: rcutils_allocator_t,
) -> rmw_ret_t {
    run(c"rmw_init_options_init", || {
        // SAFETY: the contract of rmw, which is also the obligation of `init`.
        in_layout!(init(init_options.cast(), &allocator))
    })
}

/// # Safety
/// The same as for `rmw_init_options_init`.
unsafe fn init<L: Layout>(options: *mut rmw_init_options_of<L>, allocator: &rcutils_allocator_t) -> Result<()> {
    // SAFETY: the contract of rmw.
    let options = unsafe { in_out("init_options", options) }?;
    // SAFETY: by the contract of rmw, the allocator stays valid.
    let allocator = unsafe { Allocator::new(allocator) }?;
    if !options.implementation_identifier.is_null() {
        return Err(Failure::invalid("the init options are initialized already; rmw_init_options_fini ends that"));
    }
    let mut made = zero_initialized();
    made.implementation_identifier = IDENTIFIER.as_ptr();
    made.discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
    made.allocator = allocator.as_c();
    *options = made;
    Ok(())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init_options_copy(
    src: *const rmw_init_options_t,
    dst: *mut rmw_init_options_t,
) -> rmw_ret_t {
    run(c"rmw_init_options_copy", || {
        // SAFETY: the contract of rmw.
        in_layout!(copy(src.cast(), dst.cast()))
    })
}

/// # Safety
/// The same as for `rmw_init_options_copy`.
unsafe fn copy<L: Layout>(src: *const rmw_init_options_of<L>, dst: *mut rmw_init_options_of<L>) -> Result<()> {
    // SAFETY: the contract of rmw.
    let source = unsafe { argument("src", src) }?;
    // SAFETY: as above.
    let target = unsafe { in_out("dst", dst) }?;
    // SAFETY: the contract of rmw.
    unsafe { check_identifier("init options", source.implementation_identifier) }?;
    if !target.implementation_identifier.is_null() {
        return Err(Failure::invalid("the argument dst is initialized already; rmw_init_options_fini ends that"));
    }
    // SAFETY: `source` has initialized options of this implementation, and `target` owns no memory.
    unsafe { copy_options(source, target) }
}

/// Makes `target` a deep copy of `source`. If the copy fails, `target` stays unchanged.
///
/// # Safety
/// `source` has initialized options of this implementation; `target` owns no memory.
pub unsafe fn copy_options<L: Layout>(
    source: &rmw_init_options_of<L>,
    target: &mut rmw_init_options_of<L>,
) -> Result<()> {
    // SAFETY: the options are initialized, so their allocator is valid.
    let allocator = unsafe { Allocator::new(&source.allocator) }?;
    let mut made = zero_initialized();
    made.instance_id = source.instance_id;
    made.implementation_identifier = source.implementation_identifier;
    made.domain_id = source.domain_id;
    made.security_options.enforce_security = source.security_options.enforce_security;
    made.localhost_only = source.localhost_only;
    made.discovery_options.automatic_discovery_range = source.discovery_options.automatic_discovery_range;
    made.allocator = source.allocator;
    // SAFETY: the promise of the caller; all memory of `made` comes from the allocator.
    if let Err(failure) = unsafe { copy_memory(allocator, source, &mut made) } {
        // SAFETY: as above.
        unsafe { free_memory(allocator, &made) };
        return Err(failure);
    }
    *target = made;
    Ok(())
}

/// Frees the memory of the options, and sets them to their zero-initialized state.
///
/// # Safety
/// `options` are initialized options of this implementation.
pub unsafe fn free_options<L: Layout>(options: &mut rmw_init_options_of<L>) {
    // SAFETY: the allocator of initialized options is valid; options without an allocator own no memory.
    if let Ok(allocator) = unsafe { Allocator::new(&options.allocator) } {
        // SAFETY: the promise of the caller.
        unsafe { free_memory(allocator, options) };
    }
    *options = zero_initialized();
}

/// # Safety
/// The same as for [`copy_options`].
unsafe fn copy_memory<L: Layout>(
    allocator: Allocator,
    source: &rmw_init_options_of<L>,
    made: &mut rmw_init_options_of<L>,
) -> Result<()> {
    // SAFETY: the pointer is null, or points to a string of the options.
    made.enclave = unsafe { copy_string(allocator, source.enclave) }?;
    // SAFETY: as above.
    let root_path = unsafe { copy_string(allocator, source.security_options.security_root_path) }?;
    made.security_options.security_root_path = root_path;
    let (peers, count) = (source.discovery_options.static_peers, source.discovery_options.static_peers_count);
    if !peers.is_null() && count > 0 {
        let copies: *mut rmw_peer_address_t = allocator.zeroed(count)?;
        // SAFETY: `peers` is an array of `count` addresses, and `copies` is new memory of the same size.
        unsafe { copies.copy_from_nonoverlapping(peers, count) };
        let options = &mut made.discovery_options;
        (options.static_peers, options.static_peers_count) = (copies, count);
        options.allocator = allocator.as_c();
    }
    Ok(())
}

/// # Safety
/// `string` is null, or a string that ends with 0.
unsafe fn copy_string(allocator: Allocator, string: *const c_char) -> Result<*mut c_char> {
    if string.is_null() {
        return Ok(null_mut());
    }
    // SAFETY: the promise of the caller.
    allocator.string(unsafe { CStr::from_ptr(string) }.to_bytes())
}

/// Frees the memory to which the options point. The static peers have a second allocator,
/// `discovery_options.allocator`.
///
/// # Safety
/// `options` are initialized options, whose memory the program does not use after this.
unsafe fn free_memory<L: Layout>(allocator: Allocator, options: &rmw_init_options_of<L>) {
    // SAFETY: the pointer is null, or a string that this allocator made.
    unsafe { allocator.free(options.enclave) };
    // SAFETY: as above.
    unsafe { allocator.free(options.security_options.security_root_path) };
    let discovery = &options.discovery_options;
    // SAFETY: the options own the allocator of the peers, which is zero-initialized if there are no peers.
    if let Ok(of_peers) = unsafe { Allocator::new(&discovery.allocator) } {
        // SAFETY: the pointer is null or memory of that allocator.
        unsafe { of_peers.free(discovery.static_peers) };
    }
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init_options_fini(init_options: *mut rmw_init_options_t) -> rmw_ret_t {
    run(c"rmw_init_options_fini", || {
        // SAFETY: the contract of rmw.
        in_layout!(fini(init_options.cast()))
    })
}

/// # Safety
/// The same as for `rmw_init_options_fini`.
unsafe fn fini<L: Layout>(options: *mut rmw_init_options_of<L>) -> Result<()> {
    // SAFETY: the contract of rmw.
    let options = unsafe { in_out("init_options", options) }?;
    // SAFETY: the contract of rmw.
    unsafe { check_identifier("init options", options.implementation_identifier) }?;
    // SAFETY: the options are initialized options of this implementation.
    unsafe { free_options(options) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_void;

    unsafe extern "C" fn allocate(size: usize, _state: *mut c_void) -> *mut c_void {
        // SAFETY: a plain allocation.
        unsafe { libc::malloc(size) }
    }
    unsafe extern "C" fn deallocate(pointer: *mut c_void, _state: *mut c_void) {
        // SAFETY: `malloc`, `calloc` or `realloc` in this test allocated the memory.
        unsafe { libc::free(pointer) };
    }
    unsafe extern "C" fn reallocate(pointer: *mut c_void, size: usize, _state: *mut c_void) -> *mut c_void {
        // SAFETY: `malloc`, `calloc` or `realloc` in this test allocated the memory.
        unsafe { libc::realloc(pointer, size) }
    }
    unsafe extern "C" fn zero_allocate(count: usize, size: usize, _state: *mut c_void) -> *mut c_void {
        // SAFETY: a plain allocation.
        unsafe { libc::calloc(count, size) }
    }

    const ALLOCATOR: rcutils_allocator_t = rcutils_allocator_t {
        allocate: Some(allocate),
        deallocate: Some(deallocate),
        reallocate: Some(reallocate),
        zero_allocate: Some(zero_allocate),
        state: null_mut(),
    };

    #[test]
    fn copies_have_memory_of_their_own() {
        let (mut source, mut target) = (zero_initialized::<Jazzy>(), zero_initialized::<Jazzy>());
        // SAFETY: in all of these calls, the options are zero-initialized or initialized.
        assert_eq!(unsafe { rmw_init_options_init((&raw mut source).cast(), ALLOCATOR) }, RMW_RET_OK);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_init_options_init((&raw mut source).cast(), ALLOCATOR) }, RMW_RET_INVALID_ARGUMENT);
        // SAFETY: as above.
        let allocator = unsafe { Allocator::new(&ALLOCATOR) }.unwrap();
        source.enclave = allocator.string(b"/front").unwrap();
        source.security_options.security_root_path = allocator.string(b"/keys").unwrap();
        source.discovery_options.static_peers = allocator.zeroed(2).unwrap();
        source.discovery_options.static_peers_count = 2;
        source.discovery_options.allocator = ALLOCATOR;
        source.domain_id = 7;
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_init_options_copy((&raw const source).cast(), (&raw mut target).cast()) }, RMW_RET_OK);
        // SAFETY: as above.
        let copied = unsafe { rmw_init_options_copy((&raw const source).cast(), (&raw mut target).cast()) };
        assert_eq!(copied, RMW_RET_INVALID_ARGUMENT);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_init_options_fini((&raw mut source).cast()) }, RMW_RET_OK);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_init_options_fini((&raw mut source).cast()) }, RMW_RET_INVALID_ARGUMENT);
        // SAFETY: the copy made this string, which ends with 0.
        assert_eq!(unsafe { CStr::from_ptr(target.enclave) }, c"/front");
        assert_eq!((target.domain_id, target.discovery_options.static_peers_count), (7, 2));
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_init_options_fini((&raw mut target).cast()) }, RMW_RET_OK);
        assert!(target.enclave.is_null() && target.implementation_identifier.is_null());
    }

    #[test]
    fn options_of_another_implementation_are_refused() {
        let (mut foreign, mut target) = (zero_initialized::<Jazzy>(), zero_initialized::<Jazzy>());
        foreign.implementation_identifier = c"rmw_other".as_ptr();
        // SAFETY: the source is zero-initialized except for the identifier of another implementation.
        let copied = unsafe { rmw_init_options_copy((&raw const foreign).cast(), (&raw mut target).cast()) };
        // SAFETY: as above.
        let ended = unsafe { rmw_init_options_fini((&raw mut foreign).cast()) };
        assert_eq!((copied, ended), (RMW_RET_INCORRECT_RMW_IMPLEMENTATION, RMW_RET_INCORRECT_RMW_IMPLEMENTATION));
    }
}
