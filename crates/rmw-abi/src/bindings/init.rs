//! The types of initialization, from `rmw/init.h`, `rmw/init_options.h` and the headers that these two include.

use super::rcutils::rcutils_allocator_t;
use std::ffi::{c_char, c_uint, c_void};

pub const RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET: rmw_automatic_discovery_range_t = 0;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_OFF: rmw_automatic_discovery_range_t = 1;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST: rmw_automatic_discovery_range_t = 2;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET: rmw_automatic_discovery_range_t = 3;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT: rmw_automatic_discovery_range_t = 4;

pub type rmw_automatic_discovery_range_t = c_uint;

#[repr(C)]
pub struct rmw_peer_address_t {
    pub peer_address: [c_char; 256],
}

#[repr(C)]
pub struct rmw_discovery_options_t {
    pub automatic_discovery_range: rmw_automatic_discovery_range_t,
    pub static_peers: *mut rmw_peer_address_t,
    pub static_peers_count: usize,
    pub allocator: rcutils_allocator_t,
}
pub const RMW_LOCALHOST_ONLY_DEFAULT: rmw_localhost_only_t = 0;
pub const RMW_LOCALHOST_ONLY_ENABLED: rmw_localhost_only_t = 1;
pub const RMW_LOCALHOST_ONLY_DISABLED: rmw_localhost_only_t = 2;

pub type rmw_localhost_only_t = c_uint;
pub const RMW_SECURITY_ENFORCEMENT_PERMISSIVE: rmw_security_enforcement_policy_t = 0;
pub const RMW_SECURITY_ENFORCEMENT_ENFORCE: rmw_security_enforcement_policy_t = 1;

pub type rmw_security_enforcement_policy_t = c_uint;

#[repr(C)]
pub struct rmw_security_options_t {
    pub enforce_security: rmw_security_enforcement_policy_t,
    pub security_root_path: *mut c_char,
}

/// The parts of the struct layouts that differ between distributions.
pub trait Layout {
    /// The type of `rmw_init_options_t::localhost_only`; of size zero if the distribution does not have this field.
    type LocalhostOnly: Copy + Default;
}

/// The layouts of Jazzy (rmw 7.3).
pub struct Jazzy;

impl Layout for Jazzy {
    type LocalhostOnly = rmw_localhost_only_t;
}

/// The layouts of Kilted (rmw 7.8).
pub struct Kilted;

impl Layout for Kilted {
    type LocalhostOnly = [rmw_localhost_only_t; 0];
}

/// An opaque struct. Its layout is [`rmw_init_options_of`] with the [`Layout`] of the distribution.
#[repr(C)]
pub struct rmw_init_options_t {
    opaque: [u8; 0],
}

/// `rmw_init_options_t`.
#[repr(C)]
pub struct rmw_init_options_of<L: Layout> {
    pub instance_id: u64,
    pub implementation_identifier: *const c_char,
    pub domain_id: usize,
    pub security_options: rmw_security_options_t,
    pub localhost_only: L::LocalhostOnly,
    pub discovery_options: rmw_discovery_options_t,
    pub enclave: *mut c_char,
    pub allocator: rcutils_allocator_t,
    pub implementation: *mut c_void,
}

/// An opaque struct. Its layout is [`rmw_context_of`] with the [`Layout`] of the distribution.
#[repr(C)]
pub struct rmw_context_t {
    opaque: [u8; 0],
}

/// `rmw_context_t`.
#[repr(C)]
pub struct rmw_context_of<L: Layout> {
    pub instance_id: u64,
    pub implementation_identifier: *const c_char,
    pub options: rmw_init_options_of<L>,
    pub actual_domain_id: usize,
    pub implementation: *mut c_void,
}
