//! The session: the context of the RMW.

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

/// A context of the RMW, with the lock under which its objects are made and ended (R3).
pub struct Session {
    pub library: Arc<Library>,
    context: *mut rmw_context_t,
    /// The first bytes of the GIDs of this session's publishers over Fast DDS (the `guidPrefix` of its participant).
    pub own_prefix: OnceLock<[u8; PREFIX_BYTES]>,
    /// The memory of the context, which stays at its address.
    _memory: Box<dyn Any>,
}

// SAFETY: the context is used under the lock (R3), and its memory has no owner but this.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

/// A context that was initialised, and its memory.
type Context = (*mut rmw_context_t, Box<dyn Any>);

impl Session {
    /// Initialises the RMW.
    ///
    /// # Errors
    /// The error of the RMW, as a sentence.
    pub fn open(library: Arc<Library>, options: &Options) -> Result<Arc<Session>, String> {
        let opened = match library.distribution {
            Distribution::Jazzy => open::<Jazzy>(&library, options),
            Distribution::Kilted => open::<Kilted>(&library, options),
        };
        let (context, _memory) = opened.map_err(|error| format!("{} does not start: {error}", library.identifier))?;
        Ok(Arc::new(Session { library, context, own_prefix: OnceLock::new(), _memory }))
    }

    /// Whether `Subscription` has to leave out messages of this session itself, because the RMW does this wrongly.
    ///
    /// rmw_fastrtps reuses a buffer in `_take_serialized_message` that Fast CDR lets fill once. If it is to leave out a
    /// message of this session (`ignore_local_publications`), it loses the message behind it.
    pub fn leaves_out_own(&self) -> bool {
        self.library.identifier.starts_with("rmw_fastrtps")
    }

    /// The context, for functions that make objects.
    pub fn context(&self) -> *mut rmw_context_t {
        self.context
    }

    /// Takes the lock of R3.
    pub fn control(&self) -> MutexGuard<'_, ()> {
        self.library.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open<L: Layout + 'static>(library: &Library, options: &Options) -> Result<Context, RmwError> {
    let functions = &library.functions;
    // SAFETY: a struct of integers, nullable pointers and nullable functions.
    let mut init: Box<rmw_init_options_of<L>> = Box::new(unsafe { zeroed() });
    let init_options: *mut rmw_init_options_t = (&raw mut *init).cast();
    // SAFETY: it returns a constant (R5).
    let allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    // SAFETY: zeroed options, in the layout of the distribution.
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
    // SAFETY: initialised options, and a zeroed context that stays at its address.
    let started = check(functions, "rmw_init", unsafe { (functions.rmw_init)(init_options, pointer) });
    // SAFETY: initialised options, which the context copied.
    let code = unsafe { (functions.rmw_init_options_fini)(init_options) };
    check_end(functions, "rmw_init_options_fini", code);
    started?;
    let memory: Box<dyn Any> = context;
    Ok((pointer, memory))
}

/// A copy with memory of the allocator; null if there is no memory.
fn duplicate(library: &Library, text: &str, allocator: rcutils_allocator_t) -> *mut c_char {
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    // SAFETY: a string that ends with 0, and a valid allocator.
    unsafe { (library.functions.rcutils_strdup)(text.as_ptr(), allocator) }
}

fn set_peers(options: &mut rmw_discovery_options_t, peers: &[String], allocator: rcutils_allocator_t) {
    let Some(allocate) = allocator.allocate.filter(|_| !peers.is_empty()) else { return };
    // SAFETY: the default allocator, whose state is its own.
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
        // SAFETY: one of the elements that were allocated.
        unsafe { memory.wrapping_add(index).write(address) };
    }
    (options.static_peers, options.static_peers_count, options.allocator) = (memory, peers.len(), allocator);
}

impl Drop for Session {
    fn drop(&mut self) {
        let functions = &self.library.functions;
        // SAFETY: an initialised context; all objects that were made with it have ended (R2).
        let code = unsafe { (functions.rmw_shutdown)(self.context) };
        check_end(functions, "rmw_shutdown", code);
        // SAFETY: a context that was shut down.
        let code = unsafe { (functions.rmw_context_fini)(self.context) };
        check_end(functions, "rmw_context_fini", code);
        self.context = null_mut();
    }
}
