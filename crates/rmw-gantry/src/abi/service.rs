//! Services.

use super::take::wall_time_ns;
use crate::{
    entities::Service,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, argument, entity, free, output, text},
    tracing,
};
use gantry::{GenericRequest, Gid, RequestId, SampleInfo};
use rmw_abi::{bindings::*, failure::Failure, messages::ServiceType, qos::qos_profile};
use std::ffi::{c_char, c_void};

/// Requests and responses are reliable, even if the QoS requests best effort.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_service(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
) -> *mut rmw_service_t {
    run_for_pointer(c"rmw_create_service", || {
        // SAFETY: the contract of rmw.
        let node = unsafe { entity(node) }?;
        node.context.check()?;
        // SAFETY: as above.
        let service_type = unsafe { ServiceType::new(type_support) }?;
        // SAFETY: as above.
        let name = unsafe { text("service_name", service_name) }?;
        // SAFETY: as above.
        let profile = unsafe { argument("qos_profile", qos_profile) }?;
        let service = Box::new(Service::new(node, service_type, name, profile)?);
        let service_name = service.name.as_ptr();
        let (implementation_identifier, data) = (IDENTIFIER.as_ptr(), Box::into_raw(service).cast());
        Ok(Box::into_raw(Box::new(rmw_service_t { implementation_identifier, data, service_name })))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_service(node: *mut rmw_node_t, service: *mut rmw_service_t) -> rmw_ret_t {
    run(c"rmw_destroy_service", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(node.cast_const()) }?;
        // SAFETY: as above.
        unsafe { entity(service.cast_const()) }?;
        // SAFETY: as above: `rmw_create_service` made the handle, which the program does not use any more.
        unsafe { free(service) };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_request(
    service: *const rmw_service_t,
    request_header: *mut rmw_service_info_t,
    ros_request: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    run(c"rmw_take_request", || {
        // SAFETY: the contract of rmw.
        let found: &Service = unsafe { entity(service) }?;
        // SAFETY: as above.
        let mut header = unsafe { output("request_header", request_header) }?;
        if ros_request.is_null() {
            return Err(Failure::null("ros_request"));
        }
        // SAFETY: as above.
        let mut taken = unsafe { output("taken", taken) }?;
        taken.set(false);
        // SAFETY: as above: `ros_request` is an initialized request of the service's type.
        let read = |request: &GenericRequest| unsafe { found.service_type.request.read(request.bytes(), ros_request) };
        let request = found.take_valid_request(read)?;
        tracing::take_request(service, ros_request, request.as_ref());
        let Some(request) = request else { return Ok(()) };
        header.set(service_info(&request.message_info(), request.id()));
        taken.set(true);
        Ok(())
    })
}

/// Returns the `rmw` information about a request or a response. The caller has taken it just now: the function reads
/// the clock for `received_timestamp`.
pub fn service_info(info: &SampleInfo, id: RequestId) -> rmw_service_info_t {
    rmw_service_info_t {
        source_timestamp: info.source_wall_time_ns.cast_signed(),
        received_timestamp: wall_time_ns(),
        request_id: rmw_request_id_t { writer_guid: id.client_gid.0, sequence_number: id.sequence.cast_signed() },
    }
}

/// The response is dropped without an error if the client does not exist any more.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_send_response(
    service: *const rmw_service_t,
    request_header: *mut rmw_request_id_t,
    ros_response: *mut c_void,
) -> rmw_ret_t {
    run(c"rmw_send_response", || {
        // SAFETY: the contract of rmw.
        let found: &Service = unsafe { entity(service) }?;
        // SAFETY: as above.
        let id = unsafe { argument("request_header", request_header.cast_const()) }?;
        if ros_response.is_null() {
            return Err(Failure::null("ros_response"));
        }
        let request = RequestId { client_gid: Gid(id.writer_guid), sequence: id.sequence_number.cast_unsigned() };
        let time = tracing::send_response(service, ros_response, request);
        // SAFETY: as above: `ros_response` is a response of the service's type.
        unsafe { found.send_response(request, ros_response, time) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_service_request_subscription_get_actual_qos(
    service: *const rmw_service_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_service_request_subscription_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let service = unsafe { entity(service) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&service.qos));
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_service_response_publisher_get_actual_qos(
    service: *const rmw_service_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_service_response_publisher_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let service = unsafe { entity(service) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&service.qos));
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`); the callback may be called with
/// `user_data` on any thread until it is replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_service_set_on_new_request_callback(
    service: *mut rmw_service_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    run(c"rmw_service_set_on_new_request_callback", || {
        // SAFETY: the contract of rmw.
        let service = unsafe { entity(service.cast_const()) }?;
        let gone = service.gone();
        // SAFETY: the promise of the caller.
        unsafe { service.source.set_callback(&service.context, gone, callback, user_data) }
    })
}
