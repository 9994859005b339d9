//! The YAML of performance_report's runner: the key `experiments:` with a list of maps, whose values may be lists.
//!
//! Each map becomes the axes of one matrix. Each value is parsed here once as an option of a single run, so that an
//! error can mention its line.

use crate::{
    cli::{self, Axis, Choice},
    common::yaml::{Node, document, elements, entries, is_null, line, texts, unknown_key},
};

/// The keys that correspond to an option with the same values: the key, its default and the option.
const KEYS: [(&str, &str, &str); 13] = [
    ("msg", "Array1k", "msg"),
    ("pubs", "1", "num-pub-threads"),
    ("subs", "1", "num-sub-threads"),
    ("rate", "100", "rate"),
    ("reliability", "RELIABLE", "reliability"),
    ("durability", "VOLATILE", "durability"),
    ("history", "KEEP_LAST", "history"),
    ("history_depth", "16", "history-depth"),
    ("rt_prio", "0", "use-rt-prio"),
    ("rt_cpus", "0", "use-rt-cpus"),
    ("max_runtime", "30", "max-runtime"),
    ("ignore_seconds", "5", "ignore"),
    ("com_mean", "rclcpp-single-threaded-executor", "communicator"),
];
const PROCESSES: &str = "process_configuration";
const STRATEGY: &str = "execution_strategy";
const TRANSPORT: &str = "sample_transport";
const OLD_TRANSPORT: &str = "transport";
const NO_IDLE: &str = "prevent_cpu_idle";

/// The allowed values of a key, each with its command-line arguments.
type Values = &'static [(&'static str, &'static [&'static str])];

const INTRA_PROCESS: &str = "INTRA_PROCESS";
const INTER_PROCESS: &[&str] = &["--execution-strategy=INTER_PROCESS"];
const TRANSPORTS: Values =
    &[("BY_COPY", &[]), ("SHARED_MEMORY", &["--shared-memory"]), ("LOANED_SAMPLES", &["--zero-copy"])];
/// The values of the old key `transport`, which selected both the processes and the transport.
const OLD_TRANSPORTS: Values = &[
    ("INTRA", &["--execution-strategy=INTER_THREAD"]),
    ("INTER", INTER_PROCESS),
    ("UDP", INTER_PROCESS),
    ("SHMEM", &["--execution-strategy=INTER_PROCESS", "--shared-memory"]),
    ("ZERO_COPY", &["--execution-strategy=INTER_PROCESS", "--zero-copy"]),
];
const NO_IDLES: Values = &[("False", &[]), ("True", &["--prevent-cpu-idle"])];

/// A value, and the number of its line in the file.
type Value = (String, usize);

/// Parses the experiments of a file. Returns the axes of each.
///
/// # Errors
/// The reason, as a sentence with the line number.
pub fn experiments(text: &str) -> Result<Vec<Vec<Axis>>, String> {
    let root = document(text, "give `experiments:` with a list of maps")?;
    let mut found = Vec::new();
    for (key, value) in entries(&root, "the file")? {
        let line = line(value);
        if key != "experiments" {
            return Err(format!("line {line}: the file has one key, `experiments`: remove the others"));
        }
        let items = elements(value).ok_or_else(|| format!("line {line}: `experiments` must be a list of maps"))?;
        for item in items {
            let keys = if is_null(item) { Vec::new() } else { entries(item, "an experiment")? };
            found.push(Experiment(keys.into_iter().map(entry).collect::<Result<_, _>>()?).axes()?);
        }
    }
    if found.is_empty() {
        return Err("it has no experiment: give `experiments:` with a list of maps".to_owned());
    }
    Ok(found)
}

/// The keys of an experiment, with the values of each.
struct Experiment(Vec<(String, Vec<Value>)>);

impl Experiment {
    fn values(&self, key: &str) -> Option<&[Value]> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, values)| values.as_slice())
    }

    fn axes(&self) -> Result<Vec<Axis>, String> {
        let mut axes = vec![self.processes()?];
        if self.values(OLD_TRANSPORT).is_none() {
            axes.push(self.chosen(TRANSPORT, "zero-copy", TRANSPORTS)?);
        }
        axes.push(self.chosen(NO_IDLE, "prevent-cpu-idle", NO_IDLES)?);
        for (key, default, option) in KEYS {
            axes.push(self.parsed(key, default, option)?);
        }
        Ok(axes)
    }

    fn given(&self, key: &str, default: &str) -> Vec<Value> {
        self.values(key).map_or_else(|| vec![(default.to_owned(), 0)], <[Value]>::to_vec)
    }

    /// The axis of a key that corresponds to an option with the same values.
    fn parsed(&self, key: &str, default: &str, option: &str) -> Result<Axis, String> {
        let given = self.given(key, default);
        let axis = Axis::of_values(option, given.iter().map(|(value, _)| value.clone()));
        for (choice, (value, line)) in axis.choices.iter().zip(&given) {
            cli::run_options(&choice.arguments)
                .map_err(|why| format!("line {line}: {key} cannot be `{value}`: {why}"))?;
        }
        Ok(axis)
    }

    /// The axis of a key with a fixed set of values. The first value of the set is the default.
    fn chosen(&self, key: &str, option: &str, values: Values) -> Result<Axis, String> {
        let names = || values.iter().map(|(name, _)| *name);
        let choice = |(value, line): &Value| {
            let found = values.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
            let known = || names().collect::<Vec<_>>().join(", ");
            let wrong = || format!("line {line}: {key} cannot be `{value}`: it is one of {}", known());
            let (name, arguments) = found.ok_or_else(wrong)?;
            Ok(Choice { shown: (*name).to_owned(), arguments: arguments.iter().map(|&one| one.to_owned()).collect() })
        };
        let given = self.given(key, names().next().unwrap_or_default());
        Ok(Axis { option: option.to_owned(), choices: given.iter().map(choice).collect::<Result<_, String>>()? })
    }

    /// The axis that places the endpoints in processes and threads, from the new keys or from the old key `transport`.
    fn processes(&self) -> Result<Axis, String> {
        const OPTION: &str = "execution-strategy";
        if let Some([(_, line), ..]) = self.values(OLD_TRANSPORT) {
            if let Some(new) = [PROCESSES, STRATEGY, TRANSPORT].into_iter().find(|key| self.values(key).is_some()) {
                return Err(format!(
                    "line {line}: `{OLD_TRANSPORT}` is the older name of `{PROCESSES}` and `{TRANSPORT}`, and `{new}` is given, too: give the new keys alone"
                ));
            }
            return self.chosen(OLD_TRANSPORT, OPTION, OLD_TRANSPORTS);
        }
        let strategies = self.parsed(STRATEGY, "INTER_THREAD", OPTION)?;
        let of_processes = self.chosen(PROCESSES, OPTION, &[(INTRA_PROCESS, &[]), ("INTER_PROCESS", INTER_PROCESS)])?;
        let is_inter_alone = of_processes.choices.iter().all(|choice| choice.shown != INTRA_PROCESS);
        let choices = of_processes.choices.into_iter().flat_map(|choice| match choice.shown.as_str() {
            INTRA_PROCESS => strategies.choices.clone(),
            _ => vec![choice],
        });
        let choices = choices.collect();
        let given = self.values(STRATEGY).into_iter().flatten();
        let mut others = given.filter(|(strategy, _)| !strategy.eq_ignore_ascii_case("INTER_THREAD"));
        match others.find(|_| is_inter_alone) {
            Some((strategy, line)) => Err(format!(
                "line {line}: {STRATEGY} {strategy} does not apply: with {PROCESSES} INTER_PROCESS each subscription has a process of its \
                 own. Leave it out, or give {INTRA_PROCESS}"
            )),
            None => Ok(Axis { option: OPTION.to_owned(), choices }),
        }
    }
}

/// Parses a key of an experiment with its values.
fn entry((name, value): (String, &Node<'_>)) -> Result<(String, Vec<Value>), String> {
    let line = line(value);
    let known = KEYS.iter().map(|(key, ..)| *key).chain([PROCESSES, STRATEGY, TRANSPORT, OLD_TRANSPORT, NO_IDLE]);
    let known: Vec<&str> = known.collect();
    if !known.contains(&name.as_str()) {
        return Err(unknown_key(line, &name, &known));
    }
    let values = texts(value).ok_or_else(|| format!("line {line}: {name} must be a value or a list of values"))?;
    if values.is_empty() {
        return Err(format!("line {line}: the list of {name} is empty: give a value, or leave the key out"));
    }
    Ok((name, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str, option: &str) -> Vec<Vec<String>> {
        let axes = experiments(text).unwrap().remove(0);
        let axis = axes.into_iter().find(|axis| axis.option == option).unwrap();
        axis.choices.into_iter().map(|choice| choice.arguments).collect()
    }

    #[test]
    fn keys_have_performance_tests_defaults() {
        let of_all = "experiments:\n-\n";
        for (option, value) in [
            ("execution-strategy", "INTER_THREAD"),
            ("msg", "Array1k"),
            ("rate", "100"),
            ("reliability", "RELIABLE"),
            ("history-depth", "16"),
            ("max-runtime", "30"),
            ("ignore", "5"),
            ("communicator", "rclcpp-single-threaded-executor"),
        ] {
            assert_eq!(arguments(of_all, option), [[format!("--{option}={value}")]]);
        }
        assert_eq!(arguments(of_all, "zero-copy"), [Vec::<String>::new()]);
    }

    #[test]
    fn lists_old_names_and_loans_become_choices() {
        let text = "---\nexperiments:\n  - com_mean: Gantry\n    msg: [Array1k, Array4m]\n    rate:\n      - 100\n      - 200\n";
        assert_eq!(arguments(text, "msg"), [["--msg=Array1k"], ["--msg=Array4m"]]);
        assert_eq!(arguments(text, "rate"), [["--rate=100"], ["--rate=200"]]);
        let old = arguments("experiments:\n- transport: [INTRA, ZERO_COPY]\n", "execution-strategy");
        assert_eq!(
            old,
            [vec!["--execution-strategy=INTER_THREAD"], vec!["--execution-strategy=INTER_PROCESS", "--zero-copy"]]
        );
        let new = "experiments:\n- process_configuration: [INTRA_PROCESS, INTER_PROCESS]\n  sample_transport: [BY_COPY, LOANED_SAMPLES]\n  prevent_cpu_idle: True\n";
        assert_eq!(arguments(new, "execution-strategy").len(), 2);
        assert_eq!(arguments(new, "zero-copy"), [vec![], vec!["--zero-copy"]]);
        assert_eq!(arguments(new, "prevent-cpu-idle"), [["--prevent-cpu-idle"]]);
    }

    #[test]
    fn wrong_input_is_an_error_with_its_line() {
        for (text, words) in [
            ("", "it is empty"),
            ("experiments: []", "it has no experiment"),
            ("- msg: Array1k", "line 1: the file must be a map"),
            (
                "experiments:\n- msg: Array1k\n  speed: 3\n",
                "line 3: there is no key `speed` here. The keys are msg, pubs",
            ),
            ("experiments:\n- msg: Array1k\n\n  rate: [100, fast]\n", "line 4: rate cannot be `fast`: invalid value"),
            ("experiments:\n- rate: {a: 1}\n", "line 2: rate must be a value or a list"),
            ("experiments:\n- rate: []\n", "line 2: the list of rate is empty"),
            ("experiments:\n- history: KEEP_SOME\n", "line 2: history cannot be `KEEP_SOME`"),
            ("experiments:\n- sample_transport: LOANED\n", "it is one of BY_COPY, SHARED_MEMORY, LOANED_SAMPLES"),
            ("experiments:\n- transport: INTRA\n  sample_transport: BY_COPY\n", "`sample_transport` is given, too"),
            (
                "experiments:\n- process_configuration: INTER_PROCESS\n  execution_strategy: INTRA_THREAD\n",
                "line 3: execution_strategy INTRA_THREAD does not apply",
            ),
            ("experiments:\n- execution_strategy: APEX_CHAIN\n", "Apex.OS"),
            ("experiments:\n- [1\n", "the text is not YAML"),
            ("experiments:\n- rate: 1\n  rate: 2\n", "line 3"),
            ("other: 1\n", "line 1: the file has one key"),
        ] {
            let error = experiments(text).unwrap_err();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }
}
