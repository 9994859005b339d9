//! A difference between the conditions of runs, or between their machines.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Side;
use crate::log;

/// The version of the middleware. It must be equal in all runs of one side. It may differ between the two sides,
/// because users compare versions.
const VERSION: &str = "middleware_version";

/// The compared properties of a machine, with their JSON pointers in its description.
const OF_THE_MACHINE: [(&str, &str); 14] = [
    ("machine", "/machine/model"),
    ("CPU model", "/cpu/model"),
    ("architecture", "/cpu/architecture"),
    ("cores", "/cpu/cores"),
    ("usable CPUs", "/cpu/usable_cpus"),
    ("SMT", "/cpu/smt_active"),
    ("frequency governors", "/governors"),
    ("turbo", "/frequency/turbo/on"),
    ("kernel", "/kernel/release"),
    ("preemption", "/kernel/preemption"),
    ("container", "/container/kind"),
    ("scheduling policy", "/process/policy"),
    ("real-time priority", "/process/rt_priority"),
    ("nice", "/process/nice"),
];

/// A property that differs between runs.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The name of a condition as in the log, or of a property of the machine.
    pub name: String,
    /// The values in the runs of the first side, without duplicates.
    pub base: Vec<String>,
    /// The values in the runs of the second side, without duplicates.
    pub new: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: base {}, new {}", self.name, self.base.join(" and "), self.new.join(" and "))
    }
}

/// All differences, between the runs of one side and between the two sides.
pub fn between(base: &Side, new: &Side) -> Vec<Difference> {
    let [(base_conditions, base_machines), (new_conditions, new_machines)] =
        [base, new].map(|side| (conditions(side), machines(side)));
    let names: BTreeSet<&String> = base_conditions.iter().chain(&new_conditions).flat_map(Map::keys).collect();
    let conditions = names.into_iter().filter(|name| !log::WITHOUT_EFFECT.contains(&name.as_str()));
    let conditions = conditions.filter_map(|name| {
        let of = |runs: &[Map<String, Value>]| values(runs.iter().map(|run| run.get(name)));
        difference(name, of(&base_conditions), of(&new_conditions))
    });
    let is_wanted = |found: &Difference| found.name == VERSION && found.base.len() == 1 && found.new.len() == 1;
    let conditions = conditions.filter(|found| !is_wanted(found));
    let machines = OF_THE_MACHINE.into_iter().filter_map(|(name, place)| {
        let of = |runs: &[Value]| values(runs.iter().map(|run| run.pointer(place)));
        difference(name, of(&base_machines), of(&new_machines))
    });
    conditions.chain(machines).collect()
}

fn conditions(side: &Side) -> Vec<Map<String, Value>> {
    side.descriptions.iter().map(|run| log::conditions(&run.spec)).collect()
}

fn machines(side: &Side) -> Vec<Value> {
    let with_governors = |environment: &Map<String, Value>| {
        let mut machine = Value::Object(environment.clone());
        let policies = machine.pointer("/frequency/policies").and_then(Value::as_array).into_iter().flatten();
        let governors: BTreeSet<&str> = policies.filter_map(|policy| policy.get("governor")?.as_str()).collect();
        machine["governors"] = governors.into_iter().collect::<Vec<&str>>().join(", ").into();
        machine
    };
    side.environments.iter().map(with_governors).collect()
}

fn difference(name: &str, base: BTreeSet<String>, new: BTreeSet<String>) -> Option<Difference> {
    let is_one = base.len() == 1 && base == new;
    let [base, new] = [base, new].map(|values| values.into_iter().collect());
    (!is_one).then(|| Difference { name: name.to_owned(), base, new })
}

fn values<'a>(found: impl Iterator<Item = Option<&'a Value>>) -> BTreeSet<String> {
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "not known".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    found.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::RunEntry;
    use crate::report::summary::tests::spec;
    use crate::system::{System, frequency};

    /// A side of a comparison with one run on each machine. All runs have these options.
    fn side(options: &str, machines: &[System]) -> Side {
        let spec = spec(options);
        let environment = |system: &System| serde_json::to_value(system).unwrap().as_object().unwrap().clone();
        Side {
            logs: Vec::new(),
            descriptions: machines.iter().map(|_| RunEntry::now(&spec, "id", "/t", &Default::default())).collect(),
            environments: machines.iter().map(environment).collect(),
            runs: Vec::new(),
        }
    }

    fn names(differences: &[Difference]) -> Vec<&str> {
        differences.iter().map(|difference| difference.name.as_str()).collect()
    }

    #[test]
    fn conditions_that_change_a_figure_are_listed() {
        let machine = [System::default()];
        let found = between(&side("", &machine), &side("-t other --dds-domain-id 7 --late 1ms", &machine));
        assert_eq!(found, []);
        let mut newer = side("", &machine);
        newer.descriptions[0].spec.middleware_version = "2.0".to_owned();
        assert_eq!(between(&side("", &machine), &newer), []);
        newer.descriptions.push(side("", &machine).descriptions.remove(0));
        assert_eq!(names(&between(&side("", &machine), &newer)), [VERSION]);
        let options = "--reliable --zero-copy --wait spin --touch page -s 2 --history-depth 3";
        let mut new = side(options, &machine);
        new.descriptions[0].spec.rate_hz = 50;
        let found = between(&side("", &machine), &new);
        for name in ["rate_hz", "reliability", "zero_copy", "wait", "touch", "subscriptions", "history_depth"] {
            assert!(names(&found).contains(&name), "{name}: {found:?}");
        }
        let rate = found.iter().find(|difference| difference.name == "rate_hz").unwrap();
        assert_eq!(rate.to_string(), "rate_hz: base 100, new 50");
    }

    #[test]
    fn another_machine_is_listed_also_within_a_side() {
        let policy = |governor: &str| frequency::Policy { governor: Some(governor.to_owned()), ..Default::default() };
        let (mut old, mut new) = (System::default(), System::default());
        (old.cpu.model, new.cpu.model) = (Some("A53".to_owned()), Some("A78".to_owned()));
        old.frequency.policies = vec![policy("powersave"), policy("powersave")];
        new.frequency.policies = vec![policy("performance")];
        new.kernel.release = Some("6.1".to_owned());
        let found = between(&side("", &[old.clone(), new.clone()]), &side("", &[new]));
        let lines: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert_eq!(
            lines,
            [
                "CPU model: base A53 and A78, new A78",
                "frequency governors: base performance and powersave, new performance",
                "kernel: base 6.1 and not known, new 6.1"
            ]
        );
    }

    #[test]
    fn the_properties_of_a_machine_are_where_its_description_has_them() {
        let mut system = System::default();
        system.frequency.turbo = Some(frequency::Turbo { on: true, file: String::new(), off_value: 0 });
        let description = machines(&side("", &[system])).remove(0);
        for (name, place) in OF_THE_MACHINE {
            assert!(description.pointer(place).is_some(), "{name} is not at {place}");
        }
    }
}
