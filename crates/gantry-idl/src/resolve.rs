//! Makes sure that all nested types are there and that no message contains itself.
//!
//! Used by whoever reads definitions. Nothing here recurses: definitions may come from elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::definitions::Definitions;
use crate::error::Report;
use crate::model::Primitive;
use crate::name::TypeName;
use crate::parser::Reference;
use crate::suggestion::nearest;

/// How deep messages may be nested, so that whoever walks one can recurse. ROS 2's own go five deep.
const DEPTH_LIMIT: usize = 64;

/// Reports every reference that leads nowhere or back.
pub(crate) fn check(definitions: &Definitions, references: &[Reference], report: &mut Report) {
    let mut by_owner: HashMap<&TypeName, Vec<&Reference>> = HashMap::new();
    for reference in references {
        if definitions.messages.contains_key(&reference.target) {
            by_owner.entry(&reference.owner).or_default().push(reference);
        } else if !report.is_full() {
            report.push(reference.place.clone().error(unknown(definitions, reference)));
        }
    }
    check_nesting(definitions, &by_owner, report);
}

/// A message that is being looked at: what it needs, and how much of that is done.
struct Visit<'a> {
    name: &'a TypeName,
    next: usize,
    depth: usize,
}

fn check_nesting(definitions: &Definitions, by_owner: &HashMap<&TypeName, Vec<&Reference>>, report: &mut Report) {
    // How deep each message nests; those on the way are not in it yet.
    let mut depths: HashMap<&TypeName, usize> = HashMap::new();
    let mut on_the_way: BTreeSet<&TypeName> = BTreeSet::new();
    for root in definitions.messages.keys() {
        let mut way = vec![Visit { name: root, next: 0, depth: 1 }];
        while let Some(visit) = way.last_mut() {
            if depths.contains_key(visit.name) {
                way.pop();
                continue;
            }
            on_the_way.insert(visit.name);
            let needs = by_owner.get(visit.name).map_or(&[][..], Vec::as_slice);
            let Some(reference) = needs.get(visit.next) else {
                let (name, depth) = (visit.name, visit.depth);
                depths.insert(name, depth);
                on_the_way.remove(name);
                way.pop();
                continue;
            };
            if let Some(depth) = depths.get(&reference.target) {
                visit.depth = visit.depth.max(depth + 1);
                visit.next += 1;
                if depth + 1 == DEPTH_LIMIT + 1 {
                    let sentence = format!("`{}` is nested more than {DEPTH_LIMIT} messages deep", reference.owner);
                    report.push(reference.place.clone().error(sentence));
                }
            } else if on_the_way.contains(&reference.target) {
                visit.next += 1;
                report.push(reference.place.clone().error(chain(&way, &reference.target)));
            } else {
                way.push(Visit { name: &reference.target, next: 0, depth: 1 });
            }
        }
    }
}

fn chain(way: &[Visit<'_>], target: &TypeName) -> String {
    let circle: Vec<String> =
        way.iter().map(|visit| visit.name).skip_while(|name| *name != target).map(short).collect();
    // A long chain is cut in its middle.
    let shown = match circle.len() {
        0..=8 => circle.join(" → "),
        length => format!("{} → … → {}", circle[..4].join(" → "), circle[length - 4..].join(" → ")),
    };
    let name = short(target);
    format!("`{name}` contains itself: {shown} → {name}")
}

fn unknown(definitions: &Definitions, reference: &Reference) -> String {
    let written = &reference.written;
    let target = &reference.target;
    match meant(definitions, reference) {
        Some(meant) => format!("unknown type `{written}`; did you mean `{meant}`?"),
        None if definitions.messages.keys().any(|name| name.package == target.package) => {
            format!(
                "unknown type `{written}`; there is no message `{}` in the package `{}`",
                target.name, target.package
            )
        }
        None => format!("unknown type `{written}`; there is no package `{}` here", target.package),
    }
}

fn meant(definitions: &Definitions, reference: &Reference) -> Option<String> {
    let Reference { owner, target, written, .. } = reference;
    if Primitive::from_name(&written.to_ascii_lowercase()).is_some() || matches!(&written[..], "String" | "WString") {
        return Some(written.to_ascii_lowercase());
    }
    // By what would have to be written in the owner's file.
    let known: BTreeMap<String, &TypeName> = definitions
        .messages
        .keys()
        .filter(|name| *name != owner && name.namespace == target.namespace)
        .map(|name| (if name.package == owner.package { name.name.clone() } else { short(name) }, name))
        .collect();
    let elsewhere = known.iter().find(|(_, name)| name.name == target.name).map(|(written, _)| written.clone());
    // ROS 1 knew it without its package.
    let header = (written == "Header").then(|| "std_msgs/Header".to_owned());
    header.or(elsewhere).or_else(|| nearest(written, known.keys().map(String::as_str)).map(str::to_owned))
}

/// As it is written in a `.msg` file.
fn short(name: &TypeName) -> String {
    format!("{}/{}", name.package, name.name)
}
