//! The ROS 2 distribution of the process: Jazzy or Kilted.
//!
//! Structs and numbers of `rmw` differ between distributions, have the same names, and carry no version. So the first
//! `rmw` functions that a program calls detect the distribution before they access a struct. They refuse an unsupported
//! distribution: the introspection structs have one field more in Lyrical than in Kilted, and one field fewer in Iron.

use crate::{
    bindings::{RMW_EVENT_INVALID, rmw_event_type_t},
    failure::{Failure, Result},
    foreign::loaded_symbol,
};
use std::{ffi::CStr, sync::OnceLock};

/// A supported distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// ROS 2 Jazzy. The declarations of this crate have its layouts.
    Jazzy,
    /// ROS 2 Kilted: `rmw_init_options_t` has no `localhost_only`, and the numbers of events begin at 1.
    Kilted,
}

/// Calls an unsafe generic function with the `Layout` of the process's distribution.
#[macro_export]
macro_rules! in_layout {
    ($function:ident($($argument:expr),*)) => {
        match $crate::distribution::current()? {
            // SAFETY: each use of this macro states why the obligations of `$function` are met.
            $crate::distribution::Distribution::Jazzy => unsafe { $function::<$crate::bindings::Jazzy>($($argument),*) },
            // SAFETY: as above.
            $crate::distribution::Distribution::Kilted => unsafe { $function::<$crate::bindings::Kilted>($($argument),*) },
        }
    };
}

/// A function of a ROS 2 library that some distributions have and others lack.
struct Mark {
    library: &'static CStr,
    function: &'static CStr,
    /// The supported distributions that have the function.
    is_in: &'static [Distribution],
    /// All distributions that have the function, and all that lack it, in words for the error text.
    with: &'static str,
    without: &'static str,
}

use Distribution::{Jazzy, Kilted};

/// Source: the Git history of ros2/rcl (#1169), ros2/rmw and ros2/rcutils, and the libraries of Jazzy (rmw 7.3.2) and
/// Kilted (rmw 7.8.2).
const MARKS: &[Mark] = &[
    Mark {
        library: c"librcl.so",
        function: c"rcl_get_localhost_only",
        is_in: &[Jazzy],
        with: "Jazzy or older",
        without: "Kilted or newer",
    },
    Mark {
        library: c"librmw.so",
        function: c"rmw_enclave_options_copy",
        is_in: &[Kilted],
        with: "Kilted or newer",
        without: "Jazzy or older",
    },
    Mark {
        library: c"librmw.so",
        function: c"rmw_get_zero_initialized_service_endpoint_info_array",
        is_in: &[],
        with: "newer than Kilted",
        without: "Kilted or older",
    },
    Mark {
        library: c"librmw.so",
        function: c"rmw_discovery_options_init",
        is_in: &[Jazzy, Kilted],
        with: "Iron or newer",
        without: "Humble or older",
    },
    Mark {
        library: c"librcutils.so",
        function: c"rcutils_time_point_value_as_date_string",
        is_in: &[Jazzy, Kilted],
        with: "Jazzy or newer",
        without: "Iron or older",
    },
];

/// Returns the distribution of the process. The first call detects it; later calls return the stored result.
///
/// # Errors
/// The process runs a distribution that this library does not support.
pub fn current() -> Result<Distribution> {
    static FOUND: OnceLock<std::result::Result<Distribution, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let named = std::env::var_os("ROS_DISTRO").map(|name| name.to_string_lossy().into_owned());
        find(named.as_deref(), loaded_symbol)
    });
    found.as_ref().copied().map_err(Failure::error)
}

/// Converts the number of an event type in the process's distribution to Jazzy's number, which the constants of this
/// crate have.
///
/// # Errors
/// No event has this number.
pub fn event_kind(event_type: rmw_event_type_t) -> Result<rmw_event_type_t> {
    let kind = kind_in(current()?, event_type);
    kind.ok_or_else(|| Failure::unsupported(&format!("events of type {event_type}")))
}

fn kind_in(distribution: Distribution, event_type: rmw_event_type_t) -> Option<rmw_event_type_t> {
    let kind = match distribution {
        Jazzy => event_type,
        Kilted => event_type.checked_sub(1)?, // 0 is RMW_EVENT_INVALID
    };
    (kind < RMW_EVENT_INVALID).then_some(kind)
}

/// Detects the distribution from `ROS_DISTRO` (`named`) and the loaded libraries. The error is a sentence: the two
/// disagree, or the distribution is unknown. `has` returns whether a library has a function, or `None` if the library
/// is not loaded. A process without `ROS_DISTRO`, librcl and librmw counts as Jazzy.
fn find(named: Option<&str>, has: impl Fn(&CStr, &CStr) -> Option<bool>) -> std::result::Result<Distribution, String> {
    let advice = "Gantry knows the structs of ROS 2 Jazzy and Kilted and would misread the structs of another distribution: run it \
                  with one of these";
    let mut possible = vec![Jazzy, Kilted];
    let named = named.map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = named {
        possible.retain(|known| format!("{known:?}").eq_ignore_ascii_case(name));
        if possible.is_empty() {
            return Err(format!("ROS_DISTRO is {name:?}, and {advice} (ROS_DISTRO=jazzy or kilted says which it is)"));
        }
    }
    for Mark { library, function, is_in, with, without } in MARKS {
        let Some(is_there) = has(library, function) else { continue };
        possible.retain(|known| is_in.contains(known) == is_there);
        if possible.is_empty() {
            let (library, function) = (library.to_string_lossy(), function.to_string_lossy());
            let (has, what) = if is_there { ("has", with) } else { ("has no", without) };
            let but = named.map_or_else(String::new, |name| format!("ROS_DISTRO is {name:?}, but "));
            return Err(format!("{but}this ROS 2 is {what} ({library} {has} {function}), and {advice}"));
        }
    }
    Ok(possible[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a `has` function for a process with all libraries, which lack only the functions in `absent`.
    fn has_marks(absent: &'static [&'static CStr]) -> impl Fn(&CStr, &CStr) -> Option<bool> {
        move |_, function| Some(!absent.contains(&function))
    }

    const LOCALHOST: &CStr = c"rcl_get_localhost_only";
    const SERVICE_INFO: &CStr = c"rmw_get_zero_initialized_service_endpoint_info_array";
    const DISCOVERY: &CStr = c"rmw_discovery_options_init";
    const DATE: &CStr = c"rcutils_time_point_value_as_date_string";
    const ENCLAVE: &CStr = c"rmw_enclave_options_copy";

    #[test]
    fn jazzy_and_kilted_are_found_and_others_refused() {
        for (what, named, absent, expected) in [
            ("Jazzy", None, &[SERVICE_INFO, ENCLAVE][..], Ok(Jazzy)),
            ("Jazzy by its name", Some("jazzy"), &[SERVICE_INFO, ENCLAVE], Ok(Jazzy)),
            ("an empty name", Some(""), &[SERVICE_INFO, ENCLAVE], Ok(Jazzy)),
            ("Kilted", None, &[LOCALHOST, SERVICE_INFO], Ok(Kilted)),
            ("Kilted by its name", Some("Kilted"), &[LOCALHOST, SERVICE_INFO], Ok(Kilted)),
            (
                "Kilted that is called Jazzy",
                Some("jazzy"),
                &[LOCALHOST, SERVICE_INFO],
                Err("ROS_DISTRO is \"jazzy\", but this ROS 2 is Kilted or newer (librcl.so has no"),
            ),
            (
                "Jazzy that is called Kilted",
                Some("kilted"),
                &[SERVICE_INFO, ENCLAVE],
                Err("ROS_DISTRO is \"kilted\", but this ROS 2 is Jazzy or older (librcl.so has rcl_get"),
            ),
            ("Lyrical by its name", Some("lyrical"), &[LOCALHOST], Err("ROS_DISTRO is \"lyrical\"")),
            ("Lyrical", None, &[LOCALHOST], Err("newer than Kilted (librmw.so has rmw_get_zero")),
            ("Humble", None, &[DISCOVERY, DATE, SERVICE_INFO, ENCLAVE], Err("Humble or older (librmw.so has no")),
            ("Iron", Some("jazzy"), &[DATE, SERVICE_INFO, ENCLAVE], Err("Iron or older (librcutils.so has no")),
        ] {
            match (find(named, has_marks(absent)), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{what}"),
                (Err(sentence), Err(part)) => assert!(sentence.contains(part), "{what}: {sentence}"),
                (found, _) => panic!("{what}: {found:?}"),
            }
        }
        assert_eq!(find(None, |_, _| None), Ok(Jazzy), "a program without libraries of ROS 2");
        for (absent, expected) in [(&[SERVICE_INFO, ENCLAVE][..], Jazzy), (&[SERVICE_INFO], Kilted)] {
            let only_rmw =
                |library: &CStr, function: &CStr| (library == c"librmw.so").then(|| !absent.contains(&function));
            assert_eq!(find(None, only_rmw), Ok(expected), "a program without librcl");
        }
    }

    #[test]
    fn the_numbers_of_events_begin_at_one_since_kilted() {
        assert_eq!((kind_in(Jazzy, 0), kind_in(Jazzy, 10), kind_in(Jazzy, 11)), (Some(0), Some(10), None));
        assert_eq!((kind_in(Kilted, 0), kind_in(Kilted, 1)), (None, Some(0)));
        assert_eq!((kind_in(Kilted, 11), kind_in(Kilted, 12)), (Some(10), None));
    }
}
