//! The structs of `gantry.h` and `rmw_gantry.h`: loans and samples in the form that programs and other libraries use.

use super::*;
use std::ffi::{c_char, c_void};

pub type gantry_status = i32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gantry_gid {
    pub bytes: [u8; 16],
}

#[repr(C)]
pub struct gantry_loan {
    pub data: *mut c_void,
    pub size: usize,
    pub owner: *const gantry_loan_owner,
    pub reserved: [u64; 4],
}

#[repr(C)]
pub struct gantry_loan_owner {
    pub struct_size: usize,
    pub return_loan: Option<unsafe extern "C" fn(*mut gantry_loan) -> gantry_status>,
}

#[repr(C)]
pub struct gantry_sample {
    pub data: *const c_void,
    pub size: usize,
    pub owner: *const gantry_sample_owner,
    pub reserved: [u64; 6],
}

#[repr(C)]
pub struct gantry_sample_owner {
    pub struct_size: usize,
    pub release: Option<unsafe extern "C" fn(*mut gantry_sample) -> gantry_status>,
    pub get_info: Option<unsafe extern "C" fn(*const gantry_sample, *mut gantry_sample_info) -> gantry_status>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gantry_sample_info {
    pub struct_size: usize,
    pub sequence: u64,
    pub source_time_ns: u64,
    pub source_wall_time_ns: u64,
    pub publisher_gid: gantry_gid,
    pub origin_gid: gantry_gid,
    pub origin_sequence: u64,
}

#[repr(C)]
pub struct rmw_gantry_functions {
    pub struct_size: usize,
    pub take: Option<unsafe extern "C" fn(*const rmw_subscription_t, *mut gantry_sample) -> rmw_ret_t>,
    pub skip_malformed:
        Option<unsafe extern "C" fn(*const rmw_subscription_t, *const gantry_sample, *const c_char) -> rmw_ret_t>,
    pub loan: Option<unsafe extern "C" fn(*const rmw_publisher_t, usize, *mut gantry_loan) -> rmw_ret_t>,
    pub publish: Option<unsafe extern "C" fn(*const rmw_publisher_t, *mut gantry_loan) -> rmw_ret_t>,
}
