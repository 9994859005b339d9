//! Converts values of the header to values of `gantry`, and back.

use crate::{
    abi,
    border::{
        argument::{shared, text},
        failure::{Failure, Result},
        sized::options,
    },
};
use gantry::{
    Durability, Gid, History, Liveliness, PublishMode, PublisherOptions, Qos, QosPolicy, Reliability, RequestId,
    SampleInfo, ServiceTypeDescription, TypeDescription,
};
use std::{num::NonZero, time::Duration};

/// # Errors
/// A policy has a value that the header does not define.
///
/// # Safety
/// H2.
pub unsafe fn qos(pointer: *const abi::Qos) -> Result<Qos> {
    // SAFETY: the promise of the caller.
    let Some(given) = (unsafe { options(pointer) })? else { return Ok(Qos::default()) };
    let choice = |name: &str, value: i32| match value {
        0 => Ok(false),
        1 => Ok(true),
        value => {
            Err(Failure::invalid(format_args!("{name} of a gantry_qos is {value}; the allowed values are 0 and 1")))
        }
    };
    let limit = |nanoseconds: u64| (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds));
    Ok(Qos {
        reliability: match choice("reliability", given.reliability)? {
            false => Reliability::Reliable,
            true => Reliability::BestEffort,
        },
        history: if choice("history", given.history)? { History::KeepAll } else { History::KeepLast },
        depth: NonZero::new(given.depth).map_or(Qos::default().depth, NonZero::get),
        durability: match choice("durability", given.durability)? {
            false => Durability::Volatile,
            true => Durability::TransientLocal,
        },
        liveliness: match choice("liveliness", given.liveliness)? {
            false => Liveliness::Automatic,
            true => Liveliness::ManualByTopic,
        },
        avoid_ros_namespace_conventions: given.avoid_ros_namespace_conventions != 0,
        deadline: limit(given.deadline_ns),
        lifespan: limit(given.lifespan_ns),
        liveliness_lease_duration: limit(given.liveliness_lease_duration_ns),
    })
}

/// Converts the QoS of an endpoint in the graph to the C struct.
pub fn qos_to_c(qos: &Qos) -> abi::Qos {
    let limit = |limit: Option<Duration>| limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    abi::Qos {
        struct_size: size_of::<abi::Qos>(),
        reliability: i32::from(qos.reliability != Reliability::Reliable),
        history: i32::from(qos.history == History::KeepAll),
        depth: qos.depth,
        durability: i32::from(qos.durability != Durability::Volatile),
        liveliness: i32::from(qos.liveliness != Liveliness::Automatic),
        avoid_ros_namespace_conventions: u8::from(qos.avoid_ros_namespace_conventions),
        reserved: [0; 3],
        deadline_ns: limit(qos.deadline),
        lifespan_ns: limit(qos.lifespan),
        liveliness_lease_duration_ns: limit(qos.liveliness_lease_duration),
    }
}

/// # Errors
/// The same as for [`options`].
///
/// # Safety
/// H2.
pub unsafe fn publisher_options(pointer: *const abi::PublisherOptions) -> Result<PublisherOptions> {
    let mut made = PublisherOptions::default();
    // SAFETY: the promise of the caller.
    let Some(given) = (unsafe { options(pointer) })? else { return Ok(made) };
    if given.async_period_ns > 0 {
        made.publish_mode = PublishMode::Async { period: Duration::from_nanos(given.async_period_ns) };
    }
    match (given.never_blocks != 0, given.max_blocking_time_ns) {
        (true, _) => made.max_blocking_time = Duration::ZERO,
        (false, 0) => {}
        (false, time_ns) => made.max_blocking_time = Duration::from_nanos(time_ns),
    }
    match (given.never_inline != 0, given.max_inline_bytes) {
        (true, _) => made.max_inline_bytes = 0,
        (false, 0) => {}
        (false, bytes) => made.max_inline_bytes = bytes,
    }
    made.max_kept_samples = NonZero::new(given.max_kept_samples).map_or(made.max_kept_samples, NonZero::get);
    made.max_kept_bytes = NonZero::new(given.max_kept_bytes).map_or(made.max_kept_bytes, NonZero::get);
    made.max_memory_bytes = NonZero::new(given.max_memory_bytes).map(NonZero::get);
    made.loses_oldest_at_limit = given.loses_oldest_at_limit != 0;
    Ok(made)
}

/// # Errors
/// `pointer` or the name in the struct is NULL; or an error of [`options`].
///
/// # Safety
/// H2.
pub unsafe fn message_type(name: &str, pointer: *const abi::Type) -> Result<TypeDescription> {
    // SAFETY: the promise of the caller.
    let given = unsafe { options(pointer) }?;
    let given = given.ok_or_else(|| Failure::invalid(format_args!("the argument {name} is NULL")))?;
    // SAFETY: the promise of the caller.
    let type_name = unsafe { text(&format!("{name}->name"), given.name) }?;
    let definition = match given.definition.is_null() {
        true => "",
        // SAFETY: the promise of the caller.
        false => unsafe { text(&format!("{name}->definition"), given.definition) }?,
    };
    Ok(TypeDescription {
        name: type_name.to_owned(),
        hash: given.hash,
        definition: definition.into(),
        payload_bytes: NonZero::new(given.max_bytes).map_or(usize::MAX, NonZero::get),
    })
}

/// # Errors
/// The same as for [`message_type`].
///
/// # Safety
/// H2.
pub unsafe fn service_type(pointer: *const abi::ServiceType) -> Result<ServiceTypeDescription> {
    // SAFETY: the promise of the caller.
    unsafe { shared("type", pointer) }?;
    // SAFETY: the promise of the caller.
    let given = unsafe { options(pointer) }?;
    let given = given.ok_or_else(|| Failure::invalid("the argument type is NULL"))?;
    Ok(ServiceTypeDescription {
        // SAFETY: the promise of the caller.
        name: unsafe { text("type->name", given.name) }?.to_owned(),
        // SAFETY: the promise of the caller.
        request: unsafe { message_type("type->request", given.request) }?,
        // SAFETY: the promise of the caller.
        response: unsafe { message_type("type->response", given.response) }?,
    })
}

pub fn gid(gid: Gid) -> abi::Gid {
    abi::Gid { bytes: gid.0 }
}

pub fn request_id(id: abi::RequestId) -> RequestId {
    RequestId { client_gid: Gid(id.client_gid.bytes), sequence: id.sequence }
}

pub fn request_id_to_c(id: RequestId) -> abi::RequestId {
    abi::RequestId { client_gid: gid(id.client_gid), sequence: id.sequence }
}

pub fn sample_info(info: &SampleInfo) -> abi::SampleInfo {
    let (origin_gid, origin_sequence) = info.origin();
    abi::SampleInfo {
        struct_size: size_of::<abi::SampleInfo>(),
        sequence: info.sequence,
        source_time_ns: info.source_time_ns,
        source_wall_time_ns: info.source_wall_time_ns,
        publisher_gid: gid(info.publisher_gid),
        origin_gid: gid(origin_gid),
        origin_sequence,
    }
}

pub fn policy(policy: &QosPolicy) -> i32 {
    match policy {
        QosPolicy::Reliability { .. } => abi::POLICY_RELIABILITY,
        QosPolicy::Durability { .. } => abi::POLICY_DURABILITY,
        QosPolicy::Deadline { .. } => abi::POLICY_DEADLINE,
        QosPolicy::Liveliness { .. } => abi::POLICY_LIVELINESS,
        QosPolicy::LivelinessLeaseDuration { .. } => abi::POLICY_LIVELINESS_LEASE_DURATION,
        _ => abi::POLICY_OTHER,
    }
}
