//! Clients of services.

use crate::{
    abi::{Gid, NONE, OK, RequestId, ServiceType, Status, TIMEOUT},
    border::{
        argument::{bytes, c_string, create, destroy, exclusive, optional_output, output, shared, text, timeout},
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
use gantry::{Error, GenericClient};
use std::{
    ffi::{CString, c_char},
    os::fd::AsRawFd,
    ptr::null,
};

/// `gantry_client`.
pub struct Client {
    /// The client.
    pub inner: GenericClient,
    name: CString,
}

/// # Safety
/// H1.
unsafe fn client<'a>(client: *mut Client) -> Result<&'a mut GenericClient> {
    // SAFETY: H1.
    Ok(&mut unsafe { exclusive("client", client) }?.inner)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_create(
    handle: *const Node,
    name: *const c_char,
    service_type: *const ServiceType,
    qos: *const crate::abi::Qos,
    client: *mut *mut Client,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let name = unsafe { text("name", name) }?;
        // SAFETY: H2.
        let service_type = unsafe { convert::service_type(service_type) }?;
        // SAFETY: H2.
        let inner = node.create_generic_client_with_qos(name, service_type, unsafe { convert::qos(qos) }?)?;
        Ok(Client { name: c_string(inner.service_name()), inner })
    };
    // SAFETY: H2.
    unsafe { create("client", client, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_destroy(client: *mut Client) {
    // SAFETY: H1.
    unsafe { destroy(client) }
}

/// # Safety
/// H1 and H2. The function overwrites `loan` without returning a loan in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_loan_request(handle: *mut Client, size: usize, loan: *mut Loan) -> Status {
    // SAFETY: H1.
    let make = || Ok(unsafe { client(handle) }?.loan_request(size)?);
    // SAFETY: H2.
    unsafe { give(loan, make) }
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_send_request(
    handle: *mut Client,
    loan: *mut Loan,
    id: *mut RequestId,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let client = unsafe { client(handle) }?;
        // SAFETY: H3.
        let loan = unsafe { exclusive("loan", loan) }?;
        let sent = keep_if_failed(loan, |taken| client.send_request(taken))?;
        // SAFETY: H2.
        if let Some(id) = unsafe { optional_output(id) } {
            id.set(convert::request_id_to_c(sent));
        }
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_send_request_copy(
    handle: *mut Client,
    data: *const u8,
    size: usize,
    id: *mut RequestId,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let request = unsafe { bytes("data", data, size) }?;
        // SAFETY: H1.
        let sent = unsafe { client(handle) }?.send_request_copy(request)?;
        // SAFETY: H2.
        if let Some(id) = unsafe { optional_output(id) } {
            id.set(convert::request_id_to_c(sent));
        }
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_take_response(
    handle: *mut Client,
    sample: *mut Sample,
    id: *mut RequestId,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let (sample, id) = (unsafe { sample_output(sample) }?, unsafe { optional_output(id) });
        // SAFETY: H1.
        let client = unsafe { client(handle) }?;
        let client_gid = client.gid();
        let set_id = |sequence: u64| {
            if let Some(id) = id {
                id.set(convert::request_id_to_c(gantry::RequestId { client_gid, sequence }));
            }
        };
        match client.take_response() {
            Ok(None) => return Ok(NONE),
            Ok(Some(response)) => {
                set_id(response.id().sequence);
                *sample = Sample::new(Message::Response(response));
            }
            // The request has failed. The caller gets its sequence number.
            Err(error) => {
                let ended = match &error {
                    Error::ServerGone { sequence, .. } | Error::ResponseLost { sequence, .. } => *sequence,
                    _ => 0,
                };
                set_id(ended);
                return Err(error.into());
            }
        }
        Ok(OK)
    })
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_call(
    handle: *mut Client,
    loan: *mut Loan,
    timeout_ns: i64,
    response: *mut Sample,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let sample = unsafe { sample_output(response) }?;
        // SAFETY: H1.
        let client = unsafe { client(handle) }?;
        // SAFETY: H3.
        let loan = unsafe { exclusive("loan", loan) }?.take_required()?;
        *sample = Sample::new(Message::Response(client.call(loan, timeout(timeout_ns))?));
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_call_copy(
    handle: *mut Client,
    data: *const u8,
    size: usize,
    timeout_ns: i64,
    response: *mut Sample,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let (sample, request) = (unsafe { sample_output(response) }?, unsafe { bytes("data", data, size) }?);
        // SAFETY: H1.
        let response = unsafe { client(handle) }?.call_copy(request, timeout(timeout_ns))?;
        *sample = Sample::new(Message::Response(response));
        Ok(OK)
    })
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_skip_malformed(
    handle: *mut Client,
    response: *const Sample,
    why: *const c_char,
) -> Status {
    run(|| {
        // SAFETY: H3.
        let Message::Response(response) = unsafe { shared("response", response) }?.message()? else {
            return Err(Failure::invalid("the sample is not a response to a client"));
        };
        // SAFETY: H2.
        let why = unsafe { reason(why) }?;
        // SAFETY: H1.
        unsafe { client(handle) }?.skip_malformed(response, why);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_wait(handle: *mut Client, timeout_ns: i64) -> Status {
    run(|| {
        // SAFETY: H1.
        let is_ready = unsafe { client(handle) }?.wait(timeout(timeout_ns))?;
        Ok(if is_ready { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_wait_for_service(handle: *mut Client, timeout_ns: i64) -> Status {
    run(|| {
        // SAFETY: H1.
        let is_there = unsafe { client(handle) }?.wait_for_service(timeout(timeout_ns))?;
        Ok(if is_there { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_server_count(handle: *mut Client, count: *mut usize) -> Status {
    run(|| {
        // SAFETY: H1.
        let servers = unsafe { client(handle) }?.server_count()?;
        // SAFETY: H2.
        unsafe { output("count", count) }?.set(servers);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_remove_pending_request(handle: *mut Client, id: RequestId) -> Status {
    run(|| {
        // SAFETY: H1.
        let was_pending = unsafe { client(handle) }?.remove_pending_request(convert::request_id(id));
        Ok(if was_pending { OK } else { NONE })
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_pending_requests(handle: *const Client) -> usize {
    // SAFETY: H1.
    run_for(0, || Ok(unsafe { shared("client", handle) }?.inner.pending_requests()))
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_get_fd(handle: *mut Client, fd: *mut i32) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { client(handle) }?.descriptor()?.as_raw_fd();
        // SAFETY: H2.
        unsafe { output("fd", fd) }?.set(found);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_get_gid(handle: *const Client, gid: *mut Gid) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { shared("client", handle) }?.inner.gid();
        // SAFETY: H2.
        unsafe { output("gid", gid) }?.set(convert::gid(found));
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_mismatches(handle: *mut Client, sentences: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(Strings::new(unsafe { client(handle) }?.mismatches()?));
    // SAFETY: H2.
    unsafe { create("sentences", sentences, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_client_name(handle: *const Client) -> *const c_char {
    // SAFETY: H1.
    run_for(null(), || Ok(unsafe { shared("client", handle) }?.name.as_ptr()))
}
