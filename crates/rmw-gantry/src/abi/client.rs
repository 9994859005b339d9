//! Clients.

use super::service::service_info;
use crate::{
    entities::Client,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, argument, entity, free, output, text},
    tracing,
};
use gantry::GenericResponse;
use rmw_abi::{bindings::*, failure::Failure, messages::ServiceType, qos::qos_profile};
use std::ffi::{c_char, c_void};

/// Requests and responses are reliable, even if the QoS requests best effort.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_client(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_policies: *const rmw_qos_profile_t,
) -> *mut rmw_client_t {
    run_for_pointer(c"rmw_create_client", || {
        // SAFETY: the contract of rmw.
        let node = unsafe { entity(node) }?;
        node.context.check()?;
        // SAFETY: as above.
        let service_type = unsafe { ServiceType::new(type_support) }?;
        // SAFETY: as above.
        let name = unsafe { text("service_name", service_name) }?;
        // SAFETY: as above.
        let profile = unsafe { argument("qos_policies", qos_policies) }?;
        let client = Box::new(Client::new(node, service_type, name, profile)?);
        let (service_name, gid) = (client.name.as_ptr(), client.gid);
        let (implementation_identifier, data) = (IDENTIFIER.as_ptr(), Box::into_raw(client).cast());
        let handle = Box::into_raw(Box::new(rmw_client_t { implementation_identifier, data, service_name }));
        tracing::client_init(handle, &gid);
        Ok(handle)
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_client(node: *mut rmw_node_t, client: *mut rmw_client_t) -> rmw_ret_t {
    run(c"rmw_destroy_client", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(node.cast_const()) }?;
        // SAFETY: as above.
        unsafe { entity(client.cast_const()) }?;
        // SAFETY: as above: `rmw_create_client` made the handle, which the program does not use any more.
        unsafe { free(client) };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_send_request(
    client: *const rmw_client_t,
    ros_request: *const c_void,
    sequence_id: *mut i64,
) -> rmw_ret_t {
    run(c"rmw_send_request", || {
        // SAFETY: the contract of rmw.
        let found: &Client = unsafe { entity(client) }?;
        if ros_request.is_null() {
            return Err(Failure::null("ros_request"));
        }
        // SAFETY: as above.
        let mut sequence = unsafe { output("sequence_id", sequence_id) }?;
        // SAFETY: as above: `ros_request` is a request of the client's type.
        let sent = unsafe { found.send_request(ros_request) }?.cast_signed();
        tracing::send_request(client, ros_request, sent);
        sequence.set(sent);
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_response(
    client: *const rmw_client_t,
    request_header: *mut rmw_service_info_t,
    ros_response: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    run(c"rmw_take_response", || {
        // SAFETY: the contract of rmw.
        let found: &Client = unsafe { entity(client) }?;
        // SAFETY: as above.
        let mut header = unsafe { output("request_header", request_header) }?;
        if ros_response.is_null() {
            return Err(Failure::null("ros_response"));
        }
        // SAFETY: as above.
        let mut taken = unsafe { output("taken", taken) }?;
        taken.set(false);
        // SAFETY: as above: `ros_response` is an initialized response of the client's type.
        let read =
            |response: &GenericResponse| unsafe { found.service_type.response.read(response.bytes(), ros_response) };
        let response = found.take_valid_response(read)?;
        tracing::take_response(client, ros_response, response.as_ref());
        let Some(response) = response else { return Ok(()) };
        header.set(service_info(&response.message_info(), response.id()));
        taken.set(true);
        Ok(())
    })
}

/// The function returns `RMW_RET_ERROR` for a null argument, as ROS 2's test of this function requires.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_service_server_is_available(
    node: *const rmw_node_t,
    client: *const rmw_client_t,
    is_available: *mut bool,
) -> rmw_ret_t {
    run(c"rmw_service_server_is_available", || {
        if node.is_null() || client.is_null() || is_available.is_null() {
            return Err(Failure::error("one of the arguments node, client and is_available is null"));
        }
        // SAFETY: the contract of rmw.
        unsafe { entity(node) }?;
        // SAFETY: as above.
        let client = unsafe { entity(client) }?;
        // SAFETY: as above.
        unsafe { output("is_available", is_available) }?.set(client.is_server_available()?);
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_client_request_publisher_get_actual_qos(
    client: *const rmw_client_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_client_request_publisher_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let client = unsafe { entity(client) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&client.qos));
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_client_response_subscription_get_actual_qos(
    client: *const rmw_client_t,
    qos: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    run(c"rmw_client_response_subscription_get_actual_qos", || {
        // SAFETY: the contract of rmw.
        let client = unsafe { entity(client) }?;
        // SAFETY: as above.
        unsafe { output("qos", qos) }?.set(qos_profile(&client.qos));
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_gid_for_client(client: *const rmw_client_t, gid: *mut rmw_gid_t) -> rmw_ret_t {
    run(c"rmw_get_gid_for_client", || {
        // SAFETY: the contract of rmw.
        let client = unsafe { entity(client) }?;
        // SAFETY: as above.
        let mut gid = unsafe { output("gid", gid) }?;
        gid.set(rmw_gid_t { implementation_identifier: IDENTIFIER.as_ptr(), data: client.gid.0 });
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`); the callback may be called with
/// `user_data` on any thread until it is replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_client_set_on_new_response_callback(
    client: *mut rmw_client_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    run(c"rmw_client_set_on_new_response_callback", || {
        // SAFETY: the contract of rmw.
        let client = unsafe { entity(client.cast_const()) }?;
        let gone = client.gone();
        // SAFETY: the promise of the caller.
        unsafe { client.source.set_callback(&client.context, gone, callback, user_data) }
    })
}
