//! The description of a middleware in C, and the bits that represent values in its fields.

use perf_worker::{
    backend::{Capabilities, DeliveryKind, Description, MatchingKind, Setting},
    run_spec::{Content, Durability, History, PassBy, Reliability, Strategy, Wait},
};

use crate::{abi, text};

/// A list of values, each with its bit.
pub type Bits<T> = [(u32, T)];

/// Bits of [`Content`].
pub const CONTENTS: &Bits<Content> = &[
    (1, Content::Plain),
    (2, Content::Fields),
    (4, Content::BoundedSequence),
    (8, Content::Sequence),
    (16, Content::Text),
];
/// Bits of [`Reliability`].
pub const RELIABILITIES: &Bits<Reliability> = &[(1, Reliability::Reliable), (2, Reliability::BestEffort)];
/// Bits of [`Durability`].
pub const DURABILITIES: &Bits<Durability> = &[(1, Durability::TransientLocal), (2, Durability::Volatile)];
/// Bits of [`History`].
pub const HISTORIES: &Bits<History> = &[(1, History::KeepLast), (2, History::KeepAll)];
/// Bits of [`Wait`].
pub const WAITS: &Bits<Wait> = &[(1, Wait::Spin), (2, Wait::Block), (4, Wait::Adaptive)];
/// Bits of [`Strategy`].
pub const STRATEGIES: &Bits<Strategy> =
    &[(1, Strategy::InterProcess), (2, Strategy::InterThread), (4, Strategy::IntraThread)];
/// Bits of [`PassBy`].
pub const PASSES: &Bits<PassBy> = &[(1, PassBy::UniquePtr), (2, PassBy::SharedPtr), (4, PassBy::LoanedMsg)];
const DELIVERIES: &Bits<DeliveryKind> = &[(1, DeliveryKind::Pull), (2, DeliveryKind::Push)];
const MATCHINGS: &Bits<MatchingKind> = &[(1, MatchingKind::Count), (2, MatchingKind::Any), (4, MatchingKind::Unknown)];

/// The bit that represents `value`; 0 if the header has none.
pub fn bit_of<T: Copy + PartialEq>(bits: &Bits<T>, value: T) -> u32 {
    bits.iter().find(|(_, of)| *of == value).map_or(0, |(bit, _)| *bit)
}

/// The values that the bits in `set` represent.
fn values<T: Copy>(bits: &Bits<T>, set: u32, field: &str) -> Result<Vec<T>, String> {
    let known = bits.iter().fold(0, |known, (bit, _)| known | bit);
    if set & !known != 0 {
        return Err(format!("capabilities.{field} is {set:#x}, and its values are the bits of {known:#x}"));
    }
    Ok(bits.iter().filter(|(bit, _)| set & bit != 0).map(|(_, value)| *value).collect())
}

fn some_values<T: Copy>(bits: &Bits<T>, set: u32, field: &str) -> Result<Vec<T>, String> {
    let found = values(bits, set, field)?;
    if found.is_empty() {
        Err(format!("capabilities.{field} is 0: it must have at least one value"))
    } else {
        Ok(found)
    }
}

fn one_value<T: Copy>(bits: &Bits<T>, set: u32, field: &str) -> Result<T, String> {
    match values(bits, set, field)?[..] {
        [value] => Ok(value),
        _ => Err(format!("capabilities.{field} is {set:#x}: it must be one value")),
    }
}

/// Reads and checks the description of a back end.
///
/// # Errors
/// The reason, as a sentence, if the header does not allow a value.
///
/// # Safety
/// `backend` must keep the promise H2 of the header.
pub unsafe fn describe(backend: &abi::Backend) -> Result<Description, String> {
    // SAFETY: the caller's promise.
    let version = unsafe { text::required(backend.middleware_version, "middleware_version") }?;
    // SAFETY: the caller's promise.
    let settings = unsafe { settings(backend) }?;
    let of = backend.capabilities;
    let delivery = one_value(DELIVERIES, of.delivery, "delivery")?;
    let capabilities = Capabilities {
        zero_copy: values(CONTENTS, of.zero_copy, "zero_copy")?,
        copies: of.copies != 0,
        reliability: some_values(RELIABILITIES, of.reliability, "reliability")?,
        durability: some_values(DURABILITIES, of.durability, "durability")?,
        history: some_values(HISTORIES, of.history, "history")?,
        history_depth_max: (of.history_depth_max > 0).then_some(of.history_depth_max),
        wait: if delivery == DeliveryKind::Push { values } else { some_values }(WAITS, of.wait, "wait")?,
        delivery,
        matching: one_value(MATCHINGS, of.matching, "matching")?,
        sources: of.sources != 0,
        overwritten: backend.subscription.overwritten.is_some(),
        services: backend.create_client.is_some() && backend.subscription.take.is_some(),
        raw: of.raw != 0,
        phases: of.phases != 0,
        // SAFETY: the caller's promise.
        executors: unsafe { text::all_from_c(backend.executors) },
    };
    if !capabilities.copies && capabilities.zero_copy.is_empty() {
        return Err("capabilities.copies is false and zero_copy is 0: it must have one of them".to_owned());
    }
    Ok(Description { version, capabilities, settings })
}

/// # Safety
/// `backend` must keep the promise H2 of the header.
unsafe fn settings(backend: &abi::Backend) -> Result<Vec<Setting>, String> {
    if backend.setting_count == 0 {
        return Ok(Vec::new());
    }
    if backend.settings.is_null() {
        return Err(format!("settings is NULL and setting_count {}", backend.setting_count));
    }
    // SAFETY: H2.
    let settings = unsafe { std::slice::from_raw_parts(backend.settings, backend.setting_count) };
    let setting = |setting: &abi::Setting| {
        // SAFETY: H2.
        let name = unsafe { text::required(setting.name, "the name of a setting") }?;
        // SAFETY: H2.
        let values = unsafe { text::all_from_c(setting.values) };
        // SAFETY: H2.
        let best = unsafe { text::from_c(setting.best) };
        // SAFETY: H2.
        let meaning = unsafe { text::required(setting.meaning, "the meaning of a setting") }?;
        if values.is_empty() {
            Err(format!("the setting {name} has no values"))
        } else {
            Ok(Setting { name, values, best, meaning })
        }
    };
    settings.iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_worker::choice::Choice;

    #[test]
    fn every_value_of_an_option_has_a_bit_of_its_own() {
        fn check<T: Choice>(bits: &Bits<T>) {
            let set = T::ALL.iter().fold(0, |set, (value, ..)| {
                let bit = bit_of(bits, *value);
                assert!(bit.is_power_of_two() && set & bit == 0);
                set | bit
            });
            assert_eq!(values(bits, set, "").unwrap().len(), T::ALL.len());
        }
        check(RELIABILITIES);
        check(DURABILITIES);
        check(HISTORIES);
        check(WAITS);
        check(STRATEGIES);
        check(PASSES);
    }

    #[test]
    fn sets_without_values_and_with_unknown_bits_are_refused() {
        assert_eq!(
            values(WAITS, 8, "wait").unwrap_err(),
            "capabilities.wait is 0x8, and its values are the bits of 0x7"
        );
        assert!(some_values(WAITS, 0, "wait").unwrap_err().contains("at least one"));
        assert!(one_value(MATCHINGS, 3, "matching").unwrap_err().contains("must be one value"));
    }
}
