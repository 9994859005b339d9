//! `rmw_qos_profile_check_compatible`: compares the QoS profiles of a publisher and a subscription, and gives reasons.
//!
//! An error means that the two do not match. A warning means that the result depends on a policy that is a system
//! default or unknown. The check does not allocate.

use rmw_abi::{bindings::*, qos::limit};
use std::{
    fmt::{self, Write},
    time::Duration,
};

/// A text in a C buffer. The text is cut at the end of the buffer, and always ends with a 0.
struct Text<'a> {
    buffer: &'a mut [u8],
    length_bytes: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.buffer.len().saturating_sub(1); // without the last byte, which is 0
        let room = self.buffer.get_mut(self.length_bytes..end).unwrap_or_default();
        let count = room.len().min(text.len());
        room.iter_mut().zip(text.as_bytes()).for_each(|(to, from)| *to = *from);
        self.length_bytes += count;
        if let Some(terminator) = self.buffer.get_mut(self.length_bytes) {
            *terminator = 0;
        }
        Ok(())
    }
}

/// The value of a policy that has a weak and a strong value.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// The weak value, such as BEST_EFFORT.
    Less(&'static str),
    /// The strong value, such as RELIABLE: if a subscription requests it, the publisher has to offer it.
    More(&'static str),
    /// A system default or an unknown value, which cannot be compared.
    Open(&'static str),
    /// *Best available*: the endpoint takes the value of the other endpoint.
    Adapts,
}

use Value::{Adapts, Less, More, Open};

impl Value {
    fn name(self) -> &'static str {
        match self {
            Less(name) | More(name) | Open(name) => name,
            Adapts => "BEST_AVAILABLE",
        }
    }
}

fn reliability(value: rmw_qos_reliability_policy_t) -> Value {
    match value {
        RMW_QOS_POLICY_RELIABILITY_RELIABLE => More("RELIABLE"),
        RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT => Less("BEST_EFFORT"),
        RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE => Adapts,
        RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT => Open("the system default"),
        _ => Open("unknown"),
    }
}

fn durability(value: rmw_qos_durability_policy_t) -> Value {
    match value {
        RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL => More("TRANSIENT_LOCAL"),
        RMW_QOS_POLICY_DURABILITY_VOLATILE => Less("VOLATILE"),
        RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE => Adapts,
        RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT => Open("the system default"),
        _ => Open("unknown"),
    }
}

fn liveliness(value: rmw_qos_liveliness_policy_t) -> Value {
    match value {
        RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC => More("MANUAL_BY_TOPIC"),
        RMW_QOS_POLICY_LIVELINESS_AUTOMATIC => Less("AUTOMATIC"),
        RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE => Adapts,
        RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT => Open("the system default"),
        _ => Open("unknown"),
    }
}

/// Checks whether a publisher and a subscription with these profiles match. `reason` gets a sentence for each error or,
/// if there is no error, for each warning. A semicolon ends each sentence. The text is cut at the end of the buffer.
pub fn check_compatible(
    publisher: &rmw_qos_profile_t,
    subscription: &rmw_qos_profile_t,
    reason: &mut [u8],
) -> rmw_qos_compatibility_type_t {
    let mut text = Text { buffer: reason, length_bytes: 0 };
    let _ = text.write_str(""); // writes the final 0; `write_str` never fails
    let policies = [
        ("reliability", reliability(publisher.reliability), reliability(subscription.reliability)),
        ("durability", durability(publisher.durability), durability(subscription.durability)),
        ("liveliness", liveliness(publisher.liveliness), liveliness(subscription.liveliness)),
    ];
    let durations = [
        ("deadline", publisher.deadline, subscription.deadline),
        ("liveliness lease duration", publisher.liveliness_lease_duration, subscription.liveliness_lease_duration),
    ];
    let mut compatibility = RMW_QOS_COMPATIBILITY_OK;
    for (policy, offered, requested) in policies {
        if let (Less(offered), More(requested)) = (offered, requested) {
            compatibility = RMW_QOS_COMPATIBILITY_ERROR;
            let _ = write!(
                text,
                "ERROR: the {policy} of the publisher is {offered}, but the subscription requests {requested};"
            );
        }
    }
    for (policy, offered, requested) in durations {
        let (offered, requested) = (limit(offered), limit(requested));
        let endless = Duration::MAX;
        if offered.unwrap_or(endless) > requested.unwrap_or(endless) {
            compatibility = RMW_QOS_COMPATIBILITY_ERROR;
            let _ = write_limits(&mut text, policy, offered, requested);
        }
    }
    if compatibility == RMW_QOS_COMPATIBILITY_ERROR {
        return compatibility;
    }
    for (policy, offered, requested) in policies {
        if matches!((offered, requested), (Open(_), Open(_) | More(_)) | (Less(_), Open(_))) {
            compatibility = RMW_QOS_COMPATIBILITY_WARNING;
            let (offered, requested) = (offered.name(), requested.name());
            let _ =
                write!(text, "WARNING: the {policy} of the publisher is {offered}, the subscription's is {requested};");
        }
    }
    compatibility
}

fn write_limits(
    text: &mut Text<'_>,
    policy: &str,
    offered: Option<Duration>,
    requested: Option<Duration>,
) -> fmt::Result {
    write!(text, "ERROR: the {policy} of the publisher is ")?;
    match offered {
        Some(offered) => write!(text, "{offered:?}")?,
        None => text.write_str("not limited")?,
    }
    write!(text, ", but the subscription requests {:?};", requested.unwrap_or_default())
}
