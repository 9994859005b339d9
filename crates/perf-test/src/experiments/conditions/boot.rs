//! The settings of a condition that only a reboot can change: parameters of the kernel's command line, the frequency
//! driver, and the kernel itself.
//!
//! These settings are only compared with the running system. If one condition of the plan contains a kernel parameter,
//! the parameter matters for all conditions: a condition without it needs a boot without it. Otherwise the condition
//! `baseline`, which has no settings, could be measured with `idle=poll`.

use super::plan::Condition;
use crate::common::distinct;
use crate::system::{
    System,
    root::{cpu_list, list_text},
};

/// Kernel parameters whose values are lists of CPUs. Flags may come before the list.
const OF_CPUS: [&str; 4] = ["isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity"];
/// Frequency drivers, each with the kernel parameter that selects it if the CPU supports the driver.
const DRIVERS: [(&str, &str); 6] = [
    ("amd-pstate", "amd_pstate=passive"),
    ("amd-pstate-epp", "amd_pstate=active"),
    ("intel_pstate", "intel_pstate=active"),
    ("intel_cpufreq", "intel_pstate=passive"),
    ("acpi-cpufreq", "amd_pstate=disable intel_pstate=disable"),
    ("cpufreq-dt", ""),
];

/// The reason why the running system does not fit the condition, and the way to boot one that fits; `None` if it fits.
#[must_use]
pub fn needs(condition: &Condition, all: &[Condition], system: &System) -> Option<String> {
    let line = system.kernel.command_line.as_deref().unwrap_or_default();
    let present: Vec<&str> = line.split_whitespace().collect();
    let named = |name: &str| all.iter().flat_map(|other| &other.boot).any(|one| name_of(one) == name);
    let wanted: Vec<&str> = condition.boot.iter().map(String::as_str).collect();
    let missing: Vec<&str> = wanted.iter().copied().filter(|one| !has(&present, one)).collect();
    let is_surplus = |parameter: &&str| named(name_of(parameter)) && !has(&wanted, parameter);
    let surplus: Vec<&str> = present.iter().copied().filter(is_surplus).collect();
    let parameters = [("with", &missing), ("without", &surplus)].into_iter().filter(|(_, names)| !names.is_empty());
    let parameters = parameters.map(|(word, names)| format!("{word} the kernel parameters `{}`", names.join(" ")));
    let driver = condition.driver.as_ref().and_then(|driver| other_driver(driver, system));
    let release = system.kernel.release.as_deref().unwrap_or("not known");
    let kernel = condition.kernel.as_ref().filter(|part| !release.contains(part.as_str()));
    let kernel = kernel.map(|part| format!("of a kernel whose release contains `{part}` (this one is {release})"));
    let problems: Vec<String> = parameters.chain(driver).chain(kernel).collect();
    if problems.is_empty() {
        return None;
    }
    let place = if missing.is_empty() && surplus.is_empty() {
        String::new()
    } else if system.kernel.has_grub {
        " (GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub && sudo reboot`)".to_owned()
    } else {
        " (the kernel's command line, in the settings of the boot loader)".to_owned()
    };
    Some(format!("it needs a boot {}{place}", problems.join(" and ")))
}

/// The frequency drivers of all cpufreq policies, without duplicates.
#[must_use]
pub fn drivers(system: &System) -> Vec<&str> {
    distinct(system.frequency.policies.iter().filter_map(|policy| policy.driver.as_deref()))
}

fn other_driver(driver: &str, system: &System) -> Option<String> {
    let found = drivers(system);
    if found == [driver] {
        return None;
    }
    let now = if found.is_empty() { "this machine shows none".to_owned() } else { format!("now {}", found.join(", ")) };
    let parameters = DRIVERS.iter().find(|(name, parameters)| *name == driver && !parameters.is_empty());
    let way = parameters.map_or(String::new(), |(_, parameters)| format!(": kernel parameters `{parameters}`"));
    Some(format!("with the frequency driver {driver} ({now}{way})"))
}

fn has(present: &[&str], parameter: &str) -> bool {
    present.iter().any(|other| name_of(other) == name_of(parameter) && same(other, parameter))
}

fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

/// Whether two parameters of the same name have the same value. Lists of CPUs are compared as sets: `0-1` equals `0,1`.
fn same(one: &str, other: &str) -> bool {
    let value = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if !OF_CPUS.contains(&name) {
            return value.to_owned();
        }
        let is_flag = |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit());
        let mut flags: Vec<&str> = value.split(',').filter(is_flag).collect();
        flags.sort_unstable();
        let cpus: Vec<&str> = value.split(',').filter(|part| !is_flag(part)).collect();
        let cpus = cpu_list(&cpus.join(",")).map_or_else(|| cpus.join(","), |cpus| list_text(&cpus));
        format!("{} {cpus}", flags.join(","))
    };
    value(one) == value(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::frequency::Policy;

    fn booted(line: &str) -> System {
        let mut system = System::default();
        system.kernel.command_line = Some(line.to_owned());
        system.kernel.release = Some("5.19.0-45-generic".to_owned());
        system.frequency.policies = vec![Policy { driver: Some("acpi-cpufreq".to_owned()), ..Policy::default() }; 2];
        system
    }

    fn condition(name: &str, boot: &str) -> Condition {
        let boot = boot.split_whitespace().map(str::to_owned).collect();
        Condition { name: name.to_owned(), boot, ..Condition::default() }
    }

    #[test]
    fn each_boot_is_the_boot_of_one_condition() {
        let all = [
            condition("baseline", ""),
            condition("idle_poll", "idle=poll"),
            condition("isolcpus", "idle=poll isolcpus=0-3"),
            condition("isolcpus_nohz", "idle=poll isolcpus=0-3 nohz_full=0-3"),
        ];
        for (line, name) in [
            ("ro quiet", "baseline"),
            ("ro idle=poll", "idle_poll"),
            ("isolcpus=0,1,2-3 ro idle=poll", "isolcpus"),
            ("idle=poll nohz_full=0-3 isolcpus=0-3", "isolcpus_nohz"),
        ] {
            let ready: Vec<&str> = all
                .iter()
                .filter(|one| needs(one, &all, &booted(line)).is_none())
                .map(|one| one.name.as_str())
                .collect();
            assert_eq!(ready, [name], "{line}");
        }
        let sentence = needs(&all[3], &all, &booted("ro idle=halt")).unwrap();
        for words in [
            "with the kernel parameters `idle=poll isolcpus=0-3 nohz_full=0-3`",
            "without the kernel parameters `idle=halt`",
        ] {
            assert!(sentence.contains(words), "{sentence}");
        }
        let mut grub = booted("idle=poll");
        grub.kernel.has_grub = true;
        assert!(needs(&all[2], &all, &grub).unwrap().contains("GRUB_CMDLINE_LINUX in /etc/default/grub"));
    }

    #[test]
    fn flags_before_cpus_are_part_of_the_value() {
        assert!(same("isolcpus=domain,managed_irq,2-3", "isolcpus=managed_irq,domain,2,3"));
        assert!(!same("isolcpus=domain,2-3", "isolcpus=2-3"));
        assert!(!same("idle=poll", "idle=halt") && same("quiet", "quiet"));
    }

    #[test]
    fn driver_and_kernel_are_recognised() {
        let mut wanted = condition("amd", "");
        wanted.driver = Some("amd-pstate".to_owned());
        wanted.kernel = Some("lowlatency".to_owned());
        let all = [wanted];
        let sentence = needs(&all[0], &all, &booted("")).unwrap();
        for words in ["(now acpi-cpufreq: kernel parameters `amd_pstate=passive`)", "this one is 5.19.0-45-generic"] {
            assert!(sentence.contains(words), "{sentence}");
        }
        let mut here = condition("here", "");
        here.driver = Some("acpi-cpufreq".to_owned());
        here.kernel = Some("generic".to_owned());
        assert_eq!(needs(&here, &[], &booted("")), None);
    }
}
