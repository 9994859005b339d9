//! The machines of the estimate: what they hold of the nodes of the sizes.

use super::{
    estimate::{Estimate, Held},
    load::Load,
};
use crate::{
    cli::ScaleOptions,
    system::{self, System},
};

/// Cores of the machines, besides this one's.
const CORES: [u32; 3] = [4, 8, 16];

/// The nodes that each machine holds. `node` is the load of one node, with the processes of this machine, which has so
/// many cores.
pub fn held(estimate: &Estimate, options: &ScaleOptions, node: &Load, cores: u32) -> Vec<Held> {
    let own_kib = || System::read(&system::root_folder()).memory.total_kib;
    let memory_kib = options.memory_gib.map(|gib| u64::from(gib) << 20).or_else(own_kib);
    let mut machines: Vec<u32> = match options.cores.as_slice() {
        [] => std::iter::once(cores).chain(CORES).collect(),
        given => given.to_vec(),
    };
    machines.sort_unstable();
    machines.dedup();
    // A process for each core, as in the sizes.
    let load = |cores: u32| {
        let processes = f64::from(cores);
        Load { processes, wake_ups_hz: processes * node.wake_ups_hz / node.processes.max(1.0), ..*node }
    };
    machines.into_iter().map(|cores| estimate.held(&load(cores), cores, memory_kib)).collect()
}
