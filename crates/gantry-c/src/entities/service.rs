//! Servers of services.

use crate::{
    abi::{NONE, OK, RequestId, ServiceType, Status, TIMEOUT},
    border::{
        argument::{bytes, c_string, create, destroy, exclusive, output, shared, text, timeout},
        failure::{Failure, Result, run, run_for},
    },
    entities::publisher::keep_if_failed,
    node::{Node, node},
    program::reason,
    values::{
        convert,
        lists::Strings,
        loan::{Loan, give},
        sample::{Message, Sample, sample_output},
    },
};
use gantry::GenericService;
use std::{
    ffi::{CString, c_char},
    os::fd::AsRawFd,
    ptr::null,
};

/// `gantry_service`.
pub struct Service {
    /// The server.
    pub inner: GenericService,
    name: CString,
}

/// # Safety
/// H1.
unsafe fn service<'a>(service: *mut Service) -> Result<&'a mut GenericService> {
    // SAFETY: H1.
    Ok(&mut unsafe { exclusive("service", service) }?.inner)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_create(
    handle: *const Node,
    name: *const c_char,
    service_type: *const ServiceType,
    qos: *const crate::abi::Qos,
    service: *mut *mut Service,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let name = unsafe { text("name", name) }?;
        // SAFETY: H2.
        let service_type = unsafe { convert::service_type(service_type) }?;
        // SAFETY: H2.
        let inner = node.create_generic_service_with_qos(name, service_type, unsafe { convert::qos(qos) }?)?;
        Ok(Service { name: c_string(inner.service_name()), inner })
    };
    // SAFETY: H2.
    unsafe { create("service", service, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_destroy(service: *mut Service) {
    // SAFETY: H1.
    unsafe { destroy(service) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_take_request(
    handle: *mut Service,
    sample: *mut Sample,
    id: *mut RequestId,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let (sample, id) = (unsafe { sample_output(sample) }?, unsafe { output("id", id) }?);
        // SAFETY: H1.
        let Some(request) = unsafe { service(handle) }?.take_request()? else { return Ok(NONE) };
        id.set(convert::request_id_to_c(request.id()));
        *sample = Sample::new(Message::Request(request));
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2. The function overwrites `loan` without returning a loan in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_loan_response(
    handle: *mut Service,
    id: RequestId,
    size: usize,
    loan: *mut Loan,
) -> Status {
    // SAFETY: H1.
    let make = || Ok(unsafe { service(handle) }?.loan_response(convert::request_id(id), size)?);
    // SAFETY: H2.
    unsafe { give(loan, make) }
}

/// # Safety
/// H1 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_send_response(handle: *mut Service, id: RequestId, loan: *mut Loan) -> Status {
    run(|| {
        // SAFETY: H1.
        let service = unsafe { service(handle) }?;
        // SAFETY: H3.
        let loan = unsafe { exclusive("loan", loan) }?;
        keep_if_failed(loan, |taken| service.send_response(convert::request_id(id), taken))?;
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_send_response_copy(
    handle: *mut Service,
    id: RequestId,
    data: *const u8,
    size: usize,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let response = unsafe { bytes("data", data, size) }?;
        // SAFETY: H1.
        unsafe { service(handle) }?.send_response_copy(convert::request_id(id), response)?;
        Ok(OK)
    })
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_skip_malformed(
    handle: *mut Service,
    request: *const Sample,
    why: *const c_char,
) -> Status {
    run(|| {
        // SAFETY: H3.
        let Message::Request(request) = unsafe { shared("request", request) }?.message()? else {
            return Err(Failure::invalid("the sample is not a request of a service"));
        };
        // SAFETY: H2.
        let why = unsafe { reason(why) }?;
        // SAFETY: H1.
        unsafe { service(handle) }?.skip_malformed(request, why);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_wait(handle: *mut Service, timeout_ns: i64) -> Status {
    run(|| {
        // SAFETY: H1.
        let is_ready = unsafe { service(handle) }?.wait(timeout(timeout_ns))?;
        Ok(if is_ready { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_get_fd(handle: *mut Service, fd: *mut i32) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { service(handle) }?.descriptor()?.as_raw_fd();
        // SAFETY: H2.
        unsafe { output("fd", fd) }?.set(found);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_client_count(handle: *mut Service, count: *mut usize) -> Status {
    run(|| {
        // SAFETY: H1.
        let clients = unsafe { service(handle) }?.client_count()?;
        // SAFETY: H2.
        unsafe { output("count", count) }?.set(clients);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_lost_responses(handle: *const Service) -> u64 {
    // SAFETY: H1.
    run_for(0, || Ok(unsafe { shared("service", handle) }?.inner.lost_responses()))
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_mismatches(handle: *mut Service, sentences: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(Strings::new(unsafe { service(handle) }?.mismatches()));
    // SAFETY: H2.
    unsafe { create("sentences", sentences, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_service_name(handle: *const Service) -> *const c_char {
    // SAFETY: H1.
    run_for(null(), || Ok(unsafe { shared("service", handle) }?.name.as_ptr()))
}
