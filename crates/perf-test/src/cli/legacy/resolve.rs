//! The effects of the options that only older performance_test versions had.
//!
//! The heading of the report mentions an option that is always in effect. An option that does not apply is refused with
//! the reason.

use super::options::LegacyOptions;
use crate::cli::options::MachineOptions;
use crate::cli::values::Cpus;
use perf_worker::backend::Description;

/// The priority and the CPUs that --use-drive-px-rt sets.
const DRIVE_PX_PRIORITY: u32 = 5;
const DRIVE_PX_CPUS: [u32; 5] = [1, 2, 3, 4, 5];

/// Refuses the options that do not apply to perf_test.
pub fn refuse(options: &LegacyOptions) -> Result<(), String> {
    if options.no_micro_intra {
        return Err("--no-micro-intra does not apply: it turns off a transport of Connext DDS Micro, which perf_test does not have. \
                    Leave it out"
            .to_owned());
    }
    if options.with_security {
        return Err("--with-security cannot apply: Gantry neither signs nor encrypts messages; the permissions of the files in shared \
                    memory keep other users out. Leave it out"
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
            "{option} cannot apply: perf_test writes to no database. Leave out all --db options and give --full-logfile FILE, \
             a JSON file that can be imported"
        )),
        None => Ok(()),
    }
}

/// An option with the middleware's setting (name, value) that replaces it.
type Meaning = (&'static str, (&'static str, &'static str));

/// An option with the middleware's setting (name, value) that it requests.
pub type OptionSetting = (&'static str, (String, String));

/// The options of the command line that are now settings of the middleware.
fn given(options: &LegacyOptions) -> impl Iterator<Item = Meaning> {
    let all = [
        (options.shared_memory, ("--shared-memory", ("transport", "shared-memory"))),
        (options.disable_async, ("--disable-async", ("publishing", "sync"))),
        (options.use_single_participant, ("--use-single-participant", ("participants", "one"))),
    ];
    all.into_iter().filter(|(given, _)| *given).map(|(_, meaning)| meaning)
}

/// The settings that these options of the command line request, each with its option.
///
/// # Errors
/// The reason, as a sentence: the middleware lacks one of these settings.
pub fn settings(
    options: &LegacyOptions,
    middleware: &str,
    description: &Description,
) -> Result<Vec<OptionSetting>, String> {
    let setting = |(option, (name, value)): Meaning| {
        let setting = description.setting(name).filter(|setting| setting.values.iter().any(|has| has == value));
        setting.map(|_| (option, (name.to_owned(), value.to_owned()))).ok_or_else(|| {
            format!("{option} does not apply to {middleware}, which has no setting {name}={value}: leave out {option}")
        })
    };
    given(options).map(setting).collect()
}

/// The notes on options that are always in effect with this middleware, for the heading of the report.
pub fn heading_notes(options: &LegacyOptions, description: &Description) -> Vec<String> {
    let note = |(option, (name, _)): Meaning| {
        let setting = description.setting(name).filter(|setting| setting.values.len() == 1)?;
        Some(format!("{option} is always in effect: {}", setting.meaning))
    };
    given(options).filter_map(note).collect()
}

/// The real-time priority and the CPUs of the workers. `drive_px` is true if --use-drive-px-rt was given.
pub fn real_time(options: &MachineOptions, drive_px: bool) -> Result<(u32, Vec<u32>), String> {
    let Cpus(cpus) = options.use_rt_cpus.clone().unwrap_or_default();
    if !drive_px {
        return Ok((options.use_rt_prio.unwrap_or(0), cpus));
    }
    let other_priority = options.use_rt_prio.is_some_and(|priority| priority != DRIVE_PX_PRIORITY);
    if other_priority || (options.use_rt_cpus.is_some() && cpus != DRIVE_PX_CPUS) {
        let which = if other_priority { "--use-rt-prio" } else { "--use-rt-cpus" };
        return Err(format!(
            "--use-drive-px-rt means --use-rt-prio 5 --use-rt-cpus 62 and contradicts a different {which}: give one of them"
        ));
    }
    Ok((DRIVE_PX_PRIORITY, DRIVE_PX_CPUS.to_vec()))
}
