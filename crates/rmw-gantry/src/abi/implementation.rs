//! Functions about the RMW as a whole: its name, its features and its log level. Also the comparisons of gids and of
//! QoS profiles.

use crate::{
    failure::run,
    handle::{IDENTIFIER, argument, check_identifier, output},
};
use gantry::LogLevel;
use rmw_abi::{bindings::*, distribution, failure::Failure};
use std::ffi::c_char;

/// Returns "rmw_gantry".
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_implementation_identifier() -> *const c_char {
    IDENTIFIER.as_ptr()
}

/// Returns "cdr".
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_serialization_format() -> *const c_char {
    c"cdr".as_ptr()
}

/// Both sequence numbers of a message (publication and reception) and type hashes in discovery are supported. A request
/// for a type description by the name of the type is not.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_feature_supported(feature: rmw_feature_t) -> bool {
    matches!(
        feature,
        RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER | RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER
    )
}

/// True for each event type that the running ROS 2 distribution defines.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_event_type_is_supported(rmw_event_type: rmw_event_type_t) -> bool {
    distribution::event_kind(rmw_event_type).is_ok()
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_compare_gids_equal(
    gid1: *const rmw_gid_t,
    gid2: *const rmw_gid_t,
    result: *mut bool,
) -> rmw_ret_t {
    run(c"rmw_compare_gids_equal", || {
        // SAFETY: the contract of rmw.
        let first = unsafe { argument("gid1", gid1) }?;
        // SAFETY: as above.
        unsafe { check_identifier("gid1", first.implementation_identifier) }?;
        // SAFETY: as above.
        let second = unsafe { argument("gid2", gid2) }?;
        // SAFETY: as above.
        unsafe { check_identifier("gid2", second.implementation_identifier) }?;
        // SAFETY: as above.
        unsafe { output("result", result) }?.set(first.data == second.data);
        Ok(())
    })
}

/// Sets the log level of this library, whose log goes to standard error.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_set_log_severity(severity: rmw_log_severity_t) -> rmw_ret_t {
    run(c"rmw_set_log_severity", || {
        gantry::set_log_level(match severity {
            RMW_LOG_SEVERITY_DEBUG => LogLevel::Debug,
            RMW_LOG_SEVERITY_INFO => LogLevel::Info,
            RMW_LOG_SEVERITY_WARN => LogLevel::Warn,
            RMW_LOG_SEVERITY_ERROR => LogLevel::Error,
            RMW_LOG_SEVERITY_FATAL => LogLevel::Off,
            other => {
                return Err(Failure::invalid(format_args!("the log severity {other} is none of 10, 20, 30, 40, 50")));
            }
        });
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`); `reason` is null or has
/// `reason_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_qos_profile_check_compatible(
    publisher_profile: rmw_qos_profile_t,
    subscription_profile: rmw_qos_profile_t,
    compatibility: *mut rmw_qos_compatibility_type_t,
    reason: *mut c_char,
    reason_size: usize,
) -> rmw_ret_t {
    run(c"rmw_qos_profile_check_compatible", || {
        if compatibility.is_null() {
            return Err(Failure::null("compatibility"));
        }
        let reason = match (reason.is_null(), reason_size) {
            (_, 0) => &mut [],
            (true, _) => {
                return Err(Failure::invalid(format_args!(
                    "the argument reason is null, but reason_size is {reason_size}"
                )));
            }
            (false, _) => {
                // SAFETY: the promise of the caller. This call initializes all bytes of the buffer.
                unsafe { reason.write_bytes(0, reason_size) };
                // SAFETY: as above; no other code uses the buffer during the call.
                unsafe { std::slice::from_raw_parts_mut(reason.cast(), reason_size) }
            }
        };
        let checked = crate::qos::check_compatible(&publisher_profile, &subscription_profile, reason);
        // SAFETY: the contract of rmw: the pointer is not null, and only the caller uses its memory, which may be
        // uninitialized.
        unsafe { compatibility.write(checked) };
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gids_are_compared_by_their_bytes() {
        let gid = |byte| rmw_gid_t { implementation_identifier: IDENTIFIER.as_ptr(), data: [byte; 16] };
        for (first, second) in [(1, 1), (1, 2)] {
            let mut are_equal = first != second;
            // SAFETY: both pointers are gids of this implementation.
            let code = unsafe { rmw_compare_gids_equal(&gid(first), &gid(second), &mut are_equal) };
            assert_eq!((code, are_equal), (RMW_RET_OK, first == second));
        }
        let foreign = rmw_gid_t { implementation_identifier: c"rmw_other".as_ptr(), data: [1; 16] };
        // SAFETY: both pointers are gids; the second one belongs to another implementation.
        let code = unsafe { rmw_compare_gids_equal(&gid(1), &foreign, &mut false) };
        assert_eq!(code, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
    }

    #[test]
    fn a_reason_needs_a_buffer() {
        let profile = rmw_abi::qos::qos_profile(&gantry::Qos::default());
        let mut compatibility = RMW_QOS_COMPATIBILITY_ERROR;
        let null = std::ptr::null_mut();
        let checked = |compatibility, size| {
            // SAFETY: each pointer is null, or points to a variable of this test.
            unsafe { rmw_qos_profile_check_compatible(profile, profile, compatibility, null, size) }
        };
        assert_eq!(checked(std::ptr::null_mut(), 0), RMW_RET_INVALID_ARGUMENT);
        assert_eq!(checked(&mut compatibility, 1), RMW_RET_INVALID_ARGUMENT);
        assert_eq!(checked(&mut compatibility, 0), RMW_RET_OK);
        assert_eq!(compatibility, RMW_QOS_COMPATIBILITY_OK);
    }
}
