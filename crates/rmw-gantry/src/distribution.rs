//! The distribution of ROS 2 whose structs this library knows: Jazzy.
//!
//! Other distributions have structs with the same names and other layouts, and the interface has no version. Kilted's
//! `rmw_init_options_t` lacks `localhost_only`; the introspection structs of Lyrical have one field more, the structs
//! of Iron one field fewer. So the functions that a program calls first check the distribution before they touch a
//! struct.

use crate::{
    failure::{Failure, Result},
    foreign::loaded_symbol,
};
use std::{ffi::CStr, sync::OnceLock};

/// The name of the distribution in `ROS_DISTRO`.
const NAME: &str = "jazzy";

/// A function whose presence shows the version of a ROS 2 library.
struct Mark {
    library: &'static CStr,
    function: &'static CStr,
    /// Whether Jazzy has it.
    is_jazzys: bool,
    /// The distributions that differ in it.
    others: &'static str,
}

/// Sources for the functions: the history of ros2/rcl (#1169), ros2/rmw and ros2/rcutils.
const MARKS: &[Mark] = &[
    Mark { library: c"librcl.so", function: c"rcl_get_localhost_only", is_jazzys: true, others: "Kilted or newer" },
    Mark {
        library: c"librmw.so",
        function: c"rmw_get_zero_initialized_service_endpoint_info_array",
        is_jazzys: false,
        others: "newer than Jazzy",
    },
    Mark { library: c"librmw.so", function: c"rmw_discovery_options_init", is_jazzys: true, others: "Humble or older" },
    Mark {
        library: c"librcutils.so",
        function: c"rcutils_time_point_value_as_date_string",
        is_jazzys: true,
        others: "Iron or older",
    },
];

/// Looks once at the process.
///
/// # Errors
/// The process runs another distribution than Jazzy.
pub fn check() -> Result<()> {
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let refusal = REFUSAL.get_or_init(|| {
        let named = std::env::var_os("ROS_DISTRO").map(|name| name.to_string_lossy().into_owned());
        refusal(named.as_deref(), loaded_symbol)
    });
    refusal.as_ref().map_or(Ok(()), |sentence| Err(Failure::error(sentence)))
}

/// The sentence if `ROS_DISTRO` (`named`) or a loaded library belongs to another distribution. `has` returns whether a
/// loaded library has a function; `None` if the library is not loaded.
fn refusal(named: Option<&str>, has: impl Fn(&CStr, &CStr) -> Option<bool>) -> Option<String> {
    let advice = "rmw_gantry is built for ROS 2 Jazzy and would misread the structs of another distribution: run it with Jazzy, or \
                  choose another RMW_IMPLEMENTATION";
    let named = named.map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = named.filter(|name| !name.eq_ignore_ascii_case(NAME)) {
        return Some(format!("ROS_DISTRO is {name:?}, and {advice} (if this is Jazzy, set ROS_DISTRO={NAME})"));
    }
    let other = MARKS.iter().find(|mark| has(mark.library, mark.function) == Some(!mark.is_jazzys))?;
    let (library, function) = (other.library.to_string_lossy(), other.function.to_string_lossy());
    let has = if other.is_jazzys { "has no" } else { "has" };
    Some(format!("this ROS 2 is {} ({library} {has} {function}), and {advice}", other.others))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marks that a distribution shows, with all of its libraries loaded.
    fn has_marks(absent: &'static [&'static CStr]) -> impl Fn(&CStr, &CStr) -> Option<bool> {
        move |_, function| Some(!absent.contains(&function))
    }

    const LOCALHOST: &CStr = c"rcl_get_localhost_only";
    const SERVICE_INFO: &CStr = c"rmw_get_zero_initialized_service_endpoint_info_array";
    const DISCOVERY: &CStr = c"rmw_discovery_options_init";
    const DATE: &CStr = c"rcutils_time_point_value_as_date_string";

    #[test]
    fn only_jazzy_is_accepted() {
        for (found, named, absent, in_sentence) in [
            ("Jazzy", None, &[SERVICE_INFO][..], None),
            ("Jazzy by its name", Some("jazzy"), &[SERVICE_INFO], None),
            ("an empty name", Some(""), &[SERVICE_INFO], None),
            ("Kilted by its name", Some("kilted"), &[SERVICE_INFO], Some("ROS_DISTRO is \"kilted\"")),
            ("Kilted", None, &[LOCALHOST, SERVICE_INFO], Some("is Kilted or newer (librcl.so has no")),
            ("Lyrical without rcl", None, &[], Some("newer than Jazzy (librmw.so has rmw_get_zero")),
            ("Humble", None, &[DISCOVERY, DATE, SERVICE_INFO], Some("Humble or older (librmw.so has no")),
            ("Iron", Some("jazzy"), &[DATE, SERVICE_INFO], Some("Iron or older (librcutils.so has no")),
        ] {
            let sentence = refusal(named, has_marks(absent));
            match in_sentence {
                None => assert_eq!(sentence, None, "{found}"),
                Some(part) => {
                    assert!(sentence.as_ref().is_some_and(|text| text.contains(part)), "{found}: {sentence:?}")
                }
            }
        }
        assert_eq!(refusal(None, |_, _| None), None, "a program without libraries of ROS 2");
    }
}
