//! Values of the YAML of a plan, whose errors have their lines.

use saphyr::{MarkedYaml, YamlData};

use crate::{
    common::{nearest::nearest, scalar::text_of},
    system::root::cpu_list,
};

pub(super) type Node<'a> = MarkedYaml<'a>;

/// CPUs as the kernel writes them, or a list of numbers; the order of numbers with commas is kept.
pub(super) fn cpus(node: &Node<'_>, key: &str) -> Result<Vec<u32>, String> {
    let line = node.span.start.line();
    let text = match &node.data {
        YamlData::Sequence(items) => {
            items.iter().map(text_of).collect::<Option<Vec<String>>>().map(|all| all.join(","))
        }
        _ => text_of(node),
    };
    let found = text.as_deref().and_then(|text| {
        let parts: Option<Vec<Vec<u32>>> =
            text.split(',').map(|part| cpu_list(part).filter(|list| !list.is_empty())).collect();
        Some(parts?.concat())
    });
    found.ok_or_else(|| format!("line {line}: {key} must be CPUs, as 0-3 or 0,2"))
}

pub(super) fn number(node: &Node<'_>, key: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    let found = text_of(node).and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    found.ok_or_else(|| {
        let (line, first, last) = (node.span.start.line(), range.start(), range.end());
        format!("line {line}: {key} must be a whole number from {first} to {last}")
    })
}

pub(super) fn entries<'a, 'b>(node: &'b Node<'a>, of: &str) -> Result<Vec<(String, &'b Node<'a>)>, String> {
    let YamlData::Mapping(entries) = &node.data else {
        return Err(format!("line {}: {of} must be a map", node.span.start.line()));
    };
    let entry = |(key, value): (&Node<'_>, &'b Node<'a>)| {
        let line = key.span.start.line();
        text_of(key).map(|key| (key, value)).ok_or_else(|| format!("line {line}: a key of {of} must be a word"))
    };
    entries.iter().map(entry).collect()
}

pub(super) fn unknown(line: usize, key: &str, known: &[&str]) -> String {
    let nearest = nearest(key, known.iter().copied());
    let nearest = nearest.map_or(String::new(), |nearest| format!(", the nearest is `{nearest}`"));
    format!("line {line}: there is no key `{key}`{nearest}: the keys are {}", known.join(", "))
}
