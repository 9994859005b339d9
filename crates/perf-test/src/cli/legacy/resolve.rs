//! What becomes of the options that only older performance_tests had.
//!
//! Used by `resolve`. What is always so is said in the heading, what cannot be is refused with the reason.

use super::options::LegacyOptions;
use crate::cli::options::MachineOptions;
use crate::cli::values::CpuMask;
use crate::communicator::Communicator;

/// What --use-drive-px-rt stood for.
const DRIVE_PX_PRIORITY: u32 = 5;
const DRIVE_PX_CPUS: [u32; 5] = [1, 2, 3, 4, 5];

/// Refuses what cannot apply.
pub fn refuse(options: &LegacyOptions) -> Result<(), String> {
    if options.no_micro_intra {
        return Err("--no-micro-intra does not apply: it turns off a transport of Connext DDS Micro, which is not in this program. \
                    Leave it out"
            .to_owned());
    }
    if options.with_security {
        return Err("--with-security cannot apply: messages are neither signed nor encrypted here, what keeps other users out are \
                    the permissions of the files in shared memory. Leave it out"
            .to_owned());
    }
    let database = [
        ("--db-name", &options.db_name),
        ("--db-user", &options.db_user),
        ("--db-password", &options.db_password),
        ("--db-host", &options.db_host),
        ("--db-port", &options.db_port),
    ];
    match database.into_iter().find(|(_, given)| given.is_some()) {
        Some((option, _)) => Err(format!(
            "{option} cannot apply: this program writes to no database. Leave all --db options out and give --full-logfile FILE, \
             a JSON file that can be imported"
        )),
        None => Ok(()),
    }
}

/// What is always so with this middleware.
pub fn heading_notes(options: &LegacyOptions, communicator: &Communicator) -> Result<Vec<String>, String> {
    let given = [
        (options.shared_memory, "--shared-memory"),
        (options.disable_async, "--disable-async"),
        (options.use_single_participant, "--use-single-participant"),
    ];
    let remark = |option| {
        communicator.implied_option(option).map(|what| format!("{option} is always so: {what}")).ok_or_else(|| {
            let name = communicator.name();
            format!("{option} does not apply to {name}, which decides that by itself: leave it out")
        })
    };
    given.into_iter().filter(|(given, _)| *given).map(|(_, option)| remark(option)).collect()
}

/// Real-time priority and CPUs.
pub fn real_time(options: &MachineOptions, drive_px: bool) -> Result<(u32, Vec<u32>), String> {
    let CpuMask(cpus) = options.use_rt_cpus.clone().unwrap_or_default();
    if !drive_px {
        return Ok((options.use_rt_prio.unwrap_or(0), cpus));
    }
    let other_priority = options.use_rt_prio.is_some_and(|priority| priority != DRIVE_PX_PRIORITY);
    if other_priority || (options.use_rt_cpus.is_some() && cpus != DRIVE_PX_CPUS) {
        let which = if other_priority { "--use-rt-prio" } else { "--use-rt-cpus" };
        return Err(format!(
            "--use-drive-px-rt means --use-rt-prio 5 --use-rt-cpus 62 and contradicts another {which}: give one of them"
        ));
    }
    Ok((DRIVE_PX_PRIORITY, DRIVE_PX_CPUS.to_vec()))
}
