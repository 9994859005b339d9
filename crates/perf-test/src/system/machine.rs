//! The machine as a whole: its model, and whether it is virtual.

use serde::{Deserialize, Serialize};

use super::root::{Root, field, printable};

/// Parts of model names that only virtual machines have, in lower case.
const VIRTUAL: [&str; 8] =
    ["qemu", "kvm", "vmware", "virtualbox", "virtual machine", "xen", "amazon ec2", "dummy-virt"];

/// The machine as a whole. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The model: from the device tree, or vendor and product from the firmware.
    pub model: Option<String>,
    /// Whether the machine is virtual. x86 CPUs report this; on others, only the model name shows it.
    pub hypervisor: Option<bool>,
    /// Whether root runs perf_test.
    pub root_user: Option<bool>,
}

impl Machine {
    pub(super) fn read(root: &Root) -> Machine {
        let status = root.text("proc/self/status");
        let effective = status.as_deref().and_then(|text| field(text, "Uid")?.split_whitespace().nth(1));
        let model = model(root);
        Machine {
            hypervisor: hypervisor(root, model.as_deref()),
            model,
            root_user: effective.and_then(|uid| uid.parse::<u32>().ok()).map(|uid| uid == 0),
        }
    }
}

fn model(root: &Root) -> Option<String> {
    let tree = ["proc/device-tree/model", "sys/firmware/devicetree/base/model"];
    if let Some(model) = tree.iter().find_map(|path| root.line(path)) {
        return Some(model);
    }
    let [vendor, product] = ["sys_vendor", "product_name"].map(|name| root.line(&format!("sys/class/dmi/id/{name}")));
    match (vendor, product) {
        (Some(vendor), Some(product)) if product.starts_with(&vendor) => Some(product),
        (Some(vendor), Some(product)) => Some(format!("{vendor} {product}")),
        (vendor, product) => vendor.or(product),
    }
}

fn hypervisor(root: &Root, model: Option<&str>) -> Option<bool> {
    let virtual_name = model.is_some_and(|model| {
        let model = model.to_lowercase();
        VIRTUAL.iter().any(|name| model.contains(name))
    });
    let signs = ["sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"];
    if virtual_name || signs.iter().any(|path| root.line(path).is_some()) {
        return Some(true);
    }
    let cpu_info = root.text("proc/cpuinfo")?;
    let flags = printable(field(&cpu_info, "flags")?)?;
    Some(flags.split(' ').any(|flag| flag == "hypervisor"))
}
