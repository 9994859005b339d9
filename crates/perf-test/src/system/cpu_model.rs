//! The names of the CPUs. x86 CPUs report a name. ARM CPUs report numbers, for which these tables have names. An
//! unknown number is shown as it is.

use std::collections::BTreeMap;

use super::root::{Root, printable};

/// The part numbers of ARM's own CPUs that are used on robots.
const ARM_PARTS: [(u32, &str); 27] = [
    (0xd02, "Cortex-A34"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4b, "Cortex-A78C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    (0xd4f, "Neoverse-V2"),
    (0xd80, "Cortex-A520"),
    (0xd81, "Cortex-A720"),
    (0xd82, "Cortex-X4"),
];

/// The implementer codes of ARM CPUs.
const IMPLEMENTERS: [(u32, &str); 9] = [
    (0x41, "ARM"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x51, "Qualcomm"),
    (0x61, "Apple"),
    (0xc0, "Ampere"),
];
const NVIDIA_PARTS: [(u32, &str); 2] = [(0x003, "Denver 2"), (0x004, "Carmel")];

/// The names of all CPUs, each with its number of CPUs: `4 × ARM Cortex-A55 + 4 × ARM Cortex-A76`.
pub(super) fn read(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo").unwrap_or_default();
    let mut names = named(&text);
    if names.is_empty() {
        names =
            root.numbered("sys/devices/system/cpu", "cpu").iter().filter_map(|cpu| by_register(root, cpu)).collect();
    }
    if names.is_empty() {
        let nodes = root.names("proc/device-tree/cpus", "cpu@");
        names = nodes.iter().filter_map(|node| by_device_tree(root, node)).collect();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} × {name}")).collect();
    (!parts.is_empty()).then(|| parts.join(" + "))
}

/// The name of each CPU in the text of `/proc/cpuinfo`.
fn named(cpu_info: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut implementer = None;
    for (key, value) in cpu_info.lines().filter_map(|line| line.split_once(':')) {
        match key.trim() {
            "model name" => {
                names.extend(printable(value).map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")))
            }
            "CPU implementer" => implementer = hexadecimal(value),
            // The model name that old kernels write is only the architecture, so the part number is used.
            "CPU part" => names.extend(implementer.zip(hexadecimal(value)).map(|(who, part)| arm_name(who, part))),
            _ => {}
        }
    }
    if names.iter().any(|name| !name.starts_with("ARMv")) {
        names.retain(|name| !name.starts_with("ARMv"));
    }
    names
}

fn by_register(root: &Root, cpu: &str) -> Option<String> {
    let line = root.line(&format!("sys/devices/system/cpu/{cpu}/regs/identification/midr_el1"))?;
    let register = u64::from_str_radix(line.strip_prefix("0x")?, 16).ok()?;
    Some(arm_name((register >> 24) as u32 & 0xff, (register >> 4) as u32 & 0xfff))
}

fn by_device_tree(root: &Root, node: &str) -> Option<String> {
    let text = root.text(&format!("proc/device-tree/cpus/{node}/compatible"))?;
    printable(text.split('\0').next()?)
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

fn arm_name(implementer: u32, part: u32) -> String {
    let look =
        |table: &[(u32, &'static str)], key: u32| table.iter().find(|(number, _)| *number == key).map(|entry| entry.1);
    let who = look(&IMPLEMENTERS, implementer).map_or_else(|| format!("implementer {implementer:#04x}"), str::to_owned);
    let what = match implementer {
        0x41 => look(&ARM_PARTS, part),
        0x4e => look(&NVIDIA_PARTS, part),
        _ => None,
    };
    format!("{who} {}", what.map_or_else(|| format!("part {part:#05x}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arm_cpus_are_named_by_their_numbers() {
        let cpu = |part: &str| format!("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n");
        assert_eq!(named(&(cpu("0xd05") + &cpu("0xd0b"))), ["ARM Cortex-A55", "ARM Cortex-A76"]);
        assert_eq!(named(&cpu("0xfff")), ["ARM part 0xfff"]);
        assert_eq!(named(&("model name\t: ARMv8 Processor rev 4\n".to_owned() + &cpu("0xd03"))), ["ARM Cortex-A53"]);
        assert_eq!(named("CPU part : 0xd03\nCPU implementer : x\n"), Vec::<String>::new());
        assert_eq!(arm_name(0x99, 1), "implementer 0x99 part 0x001");
    }
}
