//! Checks that all nested types exist, and that no message contains itself.
//!
//! The check does not recurse, because definitions may come from an untrusted source.

use crate::{
    definitions::Definitions, error::Report, model::Primitive, name::TypeName, parser::Reference, suggestion::nearest,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The largest depth of nested messages. Because of this limit, other code can safely visit messages by recursion. ROS
/// 2's own messages are nested five levels deep.
const DEPTH_LIMIT: usize = 64;

/// Reports each reference to a message that is missing, contains itself, or is nested too deep.
pub(crate) fn check(definitions: &Definitions, references: &[Reference], report: &mut Report) {
    let mut by_owner: HashMap<&TypeName, Vec<&Reference>> = HashMap::new();
    for reference in references {
        if definitions.messages.contains_key(&reference.target) {
            by_owner.entry(&reference.owner).or_default().push(reference);
        } else if !report.is_full() {
            report.push(reference.location.clone().error(unknown(definitions, reference)));
        }
    }
    check_nesting(definitions, &by_owner, report);
}

/// A message that is being visited, the index of its next reference, and the depth found so far.
struct Visit<'a> {
    name: &'a TypeName,
    next: usize,
    depth: usize,
}

fn check_nesting(definitions: &Definitions, by_owner: &HashMap<&TypeName, Vec<&Reference>>, report: &mut Report) {
    // The depth of each message that was visited completely. Messages on the stack are not in this map.
    let mut depths: HashMap<&TypeName, usize> = HashMap::new();
    let mut in_progress: BTreeSet<&TypeName> = BTreeSet::new();
    for root in definitions.messages.keys() {
        let mut stack = vec![Visit { name: root, next: 0, depth: 1 }];
        while let Some(visit) = stack.last_mut() {
            if depths.contains_key(visit.name) {
                stack.pop();
                continue;
            }
            in_progress.insert(visit.name);
            let needs = by_owner.get(visit.name).map_or(&[][..], Vec::as_slice);
            let Some(reference) = needs.get(visit.next) else {
                let (name, depth) = (visit.name, visit.depth);
                depths.insert(name, depth);
                in_progress.remove(name);
                stack.pop();
                continue;
            };
            if let Some(depth) = depths.get(&reference.target) {
                visit.depth = visit.depth.max(depth + 1);
                visit.next += 1;
                if depth + 1 == DEPTH_LIMIT + 1 {
                    let sentence = format!("`{}` is nested more than {DEPTH_LIMIT} messages deep", reference.owner);
                    report.push(reference.location.clone().error(sentence));
                }
            } else if in_progress.contains(&reference.target) {
                visit.next += 1;
                report.push(reference.location.clone().error(chain(&stack, &reference.target)));
            } else {
                stack.push(Visit { name: &reference.target, next: 0, depth: 1 });
            }
        }
    }
}

fn chain(stack: &[Visit<'_>], target: &TypeName) -> String {
    let circle: Vec<String> =
        stack.iter().map(|visit| visit.name).skip_while(|name| *name != target).map(short_name).collect();
    // A long chain of names is abbreviated.
    let shown = match circle.len() {
        0..=8 => circle.join(" → "),
        length => format!("{} → … → {}", circle[..4].join(" → "), circle[length - 4..].join(" → ")),
    };
    let name = short_name(target);
    format!("`{name}` contains itself: {shown} → {name}")
}

fn unknown(definitions: &Definitions, reference: &Reference) -> String {
    let written = &reference.written;
    let target = &reference.target;
    match suggestion(definitions, reference) {
        Some(suggestion) => format!("unknown type `{written}`; did you mean `{suggestion}`?"),
        None if definitions.messages.keys().any(|name| name.package == target.package) => {
            format!(
                "unknown type `{written}`; there is no message `{}` in the package `{}`",
                target.name, target.package
            )
        }
        None => format!(
            "unknown type `{written}`; there is no package `{}` here; if a crate has it, as gantry-msgs has ROS 2's packages, add \
             that crate to [dependencies]",
            target.package
        ),
    }
}

fn suggestion(definitions: &Definitions, reference: &Reference) -> Option<String> {
    let Reference { owner, target, written, .. } = reference;
    if Primitive::from_name(&written.to_ascii_lowercase()).is_some() || matches!(&written[..], "String" | "WString") {
        return Some(written.to_ascii_lowercase());
    }
    // The keys are the names as the file with the error would write them.
    let known: BTreeMap<String, &TypeName> = definitions
        .messages
        .keys()
        .filter(|name| *name != owner && name.namespace == target.namespace)
        .map(|name| (if name.package == owner.package { name.name.clone() } else { short_name(name) }, name))
        .collect();
    let same_name = known.iter().find(|(_, name)| name.name == target.name).map(|(written, _)| written.clone());
    // ROS 1 allowed `Header` without its package.
    let header = (written == "Header").then(|| "std_msgs/Header".to_owned());
    header.or(same_name).or_else(|| nearest(written, known.keys().map(String::as_str)).map(str::to_owned))
}

/// The name as in a `.msg` file.
fn short_name(name: &TypeName) -> String {
    format!("{}/{}", name.package, name.name)
}
