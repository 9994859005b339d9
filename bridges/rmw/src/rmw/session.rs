//! The session: the bridge's context of the RMW (`rmw_init`).

use super::{
    error::{RmwError, check, check_end},
    library::Library,
    options::Options,
};
use rmw_abi::{bindings::*, distribution::Distribution};
use std::{
    any::Any,
    ffi::{CString, c_char, c_void},
    mem::zeroed,
    ptr::null_mut,
    sync::{Arc, MutexGuard, OnceLock, PoisonError},
};

/// The length of a DDS `guidPrefix`.
pub const PREFIX_BYTES: usize = 12;

/// A context of the RMW. Its objects are created and destroyed under one lock (R3).
pub struct Session {
    pub library: Arc<Library>,
    context: *mut rmw_context_t,
    /// With Fast DDS, the first bytes of the GIDs of this session's publishers (the `guidPrefix` of the participant).
    pub own_prefix: OnceLock<[u8; PREFIX_BYTES]>,
    /// The memory of the context, which must not move.
    _memory: Box<dyn Any>,
}

// SAFETY: the context is used under the lock (R3), and only this session owns its memory.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

/// A pointer to an initialised context, and the context's memory.
type Context = (*mut rmw_context_t, Box<dyn Any>);

impl Session {
    /// Initialises the RMW.
    ///
    /// # Errors
    /// A sentence with the error of the RMW.
    pub fn open(library: Arc<Library>, options: &Options) -> Result<Arc<Session>, String> {
        let opened = match library.distribution {
            Distribution::Jazzy => open::<Jazzy>(&library, options),
            Distribution::Kilted => open::<Kilted>(&library, options),
        };
        let (context, _memory) = opened.map_err(|error| format!("{} does not start: {error}", library.identifier))?;
        Ok(Arc::new(Session { library, context, own_prefix: OnceLock::new(), _memory }))
    }

    /// True if `Subscription` itself has to drop messages of this session, because the RMW has a bug in
    /// `ignore_local_publications`.
    ///
    /// Source: `_take_serialized_message` of rmw_fastrtps. It reuses a buffer that Fast CDR fills only once. So after
    /// it drops a message of this session, it loses the next message.
    pub fn leaves_out_own(&self) -> bool {
        self.library.identifier.starts_with("rmw_fastrtps")
    }

    /// The pointer to the context, for functions that create objects.
    pub fn context(&self) -> *mut rmw_context_t {
        self.context
    }

    /// Takes the session's lock (R3).
    pub fn control(&self) -> MutexGuard<'_, ()> {
        self.library.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open<L: Layout + 'static>(library: &Library, options: &Options) -> Result<Context, RmwError> {
    let functions = &library.functions;
    // SAFETY: the struct has only integers, nullable pointers and nullable functions, which may be zero.
    let mut init: Box<rmw_init_options_of<L>> = Box::new(unsafe { zeroed() });
    let init_options: *mut rmw_init_options_t = (&raw mut *init).cast();
    // SAFETY: the function has no arguments and returns a constant (R5).
    let allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    // SAFETY: the options are zeroed, and have the layout of the distribution.
    check(functions, "rmw_init_options_init", unsafe { (functions.rmw_init_options_init)(init_options, allocator) })?;
    init.instance_id = 1;
    init.domain_id = options.domain_id as usize;
    init.enclave = duplicate(library, &options.enclave, allocator);
    if let Some(root) = &options.security_root {
        init.security_options.security_root_path = duplicate(library, &root.to_string_lossy(), allocator);
    }
    init.security_options.enforce_security = match options.is_security_enforced {
        true => RMW_SECURITY_ENFORCEMENT_ENFORCE,
        false => RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
    };
    init.discovery_options.automatic_discovery_range = options.range;
    set_peers(&mut init.discovery_options, &options.static_peers, allocator);
    // SAFETY: as above.
    let mut context: Box<rmw_context_of<L>> = Box::new(unsafe { zeroed() });
    let pointer: *mut rmw_context_t = (&raw mut *context).cast();
    // SAFETY: the options are initialised; the context is zeroed and stays at its address.
    let started = check(functions, "rmw_init", unsafe { (functions.rmw_init)(init_options, pointer) });
    // SAFETY: the options are initialised, and the context has its own copy of them.
    let code = unsafe { (functions.rmw_init_options_fini)(init_options) };
    check_end(functions, "rmw_init_options_fini", code);
    started?;
    let memory: Box<dyn Any> = context;
    Ok((pointer, memory))
}

/// Copies a text into memory of the allocator; returns null if there is no memory.
fn duplicate(library: &Library, text: &str, allocator: rcutils_allocator_t) -> *mut c_char {
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    // SAFETY: the string ends with 0, and the allocator is valid.
    unsafe { (library.functions.rcutils_strdup)(text.as_ptr(), allocator) }
}

fn set_peers(options: &mut rmw_discovery_options_t, peers: &[String], allocator: rcutils_allocator_t) {
    let Some(allocate) = allocator.allocate.filter(|_| !peers.is_empty()) else { return };
    // SAFETY: `allocator` is the default allocator, and `state` belongs to it.
    let memory: *mut c_void = unsafe { allocate(size_of::<rmw_peer_address_t>() * peers.len(), allocator.state) };
    let memory: *mut rmw_peer_address_t = memory.cast();
    if memory.is_null() {
        return;
    }
    for (index, peer) in peers.iter().enumerate() {
        let mut address = rmw_peer_address_t { peer_address: [0; 256] };
        // The last byte stays 0.
        for (target, byte) in address.peer_address.iter_mut().take(255).zip(peer.bytes()) {
            *target = byte.cast_signed() as c_char;
        }
        // SAFETY: `index` is less than the number of allocated elements.
        unsafe { memory.wrapping_add(index).write(address) };
    }
    (options.static_peers, options.static_peers_count, options.allocator) = (memory, peers.len(), allocator);
}

impl Drop for Session {
    fn drop(&mut self) {
        let functions = &self.library.functions;
        // SAFETY: the context is initialised, and all objects made with it have ended (R2).
        let code = unsafe { (functions.rmw_shutdown)(self.context) };
        check_end(functions, "rmw_shutdown", code);
        // SAFETY: the context was shut down.
        let code = unsafe { (functions.rmw_context_fini)(self.context) };
        check_end(functions, "rmw_context_fini", code);
        self.context = null_mut();
    }
}
