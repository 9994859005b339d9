//! Values in the YAML of a plan. Each error contains the line.

use crate::{
    common::yaml::{Node, line, text_of, texts},
    system::root::cpu_list,
};

/// Parses CPUs: the kernel's notation (`0-3,8`), or a list of numbers. The order of the parts is kept.
pub(super) fn cpus(node: &Node<'_>, key: &str) -> Result<Vec<u32>, String> {
    let cpus = |(text, _): (String, usize)| {
        let lists = text.split(',').map(|part| cpu_list(part).filter(|list| !list.is_empty()));
        Some(lists.collect::<Option<Vec<_>>>()?.concat())
    };
    let found = texts(node).and_then(|texts| Some(texts.into_iter().map(cpus).collect::<Option<Vec<_>>>()?.concat()));
    found
        .filter(|cpus| !cpus.is_empty())
        .ok_or_else(|| format!("line {}: {key} must be CPUs, as 0-3 or 0,2", line(node)))
}

pub(super) fn number(node: &Node<'_>, key: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    let found = text_of(node).and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    found.ok_or_else(|| {
        let (line, first, last) = (line(node), range.start(), range.end());
        format!("line {line}: {key} must be a whole number from {first} to {last}")
    })
}
