//! The beginning of a program: its signals, and the ROS arguments that all its nodes use.

use super::arguments::RosArguments;
use crate::{
    context,
    error::Result,
    log::{self, LogLevel},
    wait::lock,
};
use std::sync::{Arc, Mutex};

/// The arguments of the last [`init`].
static GLOBAL: Mutex<Option<Arc<RosArguments>>> = Mutex::new(None);

/// Begins a program, as `rclcpp::init(argc, argv)`: catches SIGINT and SIGTERM, and makes all nodes use the ROS
/// arguments of the command line. Call this function first in `main`, before other threads exist.
///
/// At the first of these signals the program shuts down ([`shutdown`](crate::shutdown)): functions of
/// [`on_shutdown`](crate::on_shutdown) run, then spins and waits end; `main` returns, destructors run, and no file
/// is left in shared memory. A second signal ends the process at once. Without `init`, a signal ends the process and
/// runs no destructor; the files are removed by other processes.
///
/// ```
/// use gantry::{Executor, Node, SingleThreadedExecutor};
///
/// fn main() -> gantry::Result<()> {
///     gantry::init()?;
///     let node = Node::new("talker")?;
///     let mut executor = SingleThreadedExecutor::new();
///     executor.add_node(&node)?;
/// #   gantry::shutdown();
///     executor.spin() // until Ctrl-C
/// }
/// ```
///
/// # Errors
/// A ROS argument that rcl does not accept; the program is initialised already; the handlers cannot be installed.
pub fn init() -> Result<()> {
    init_with_arguments(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()))
}

/// As [`init`], with `arguments` in place of the command line.
///
/// # Errors
/// As [`init`].
pub fn init_with_arguments(arguments: impl IntoIterator<Item = String>) -> Result<()> {
    let arguments = RosArguments::parse(&arguments.into_iter().collect::<Vec<_>>())?;
    context::begin()?;
    heed(&arguments);
    *lock(&GLOBAL) = Some(Arc::new(arguments));
    Ok(())
}

/// The arguments for all nodes of the process: none before [`init`].
pub(super) fn global_arguments() -> Arc<RosArguments> {
    lock(&GLOBAL).clone().unwrap_or_default()
}

/// Applies the arguments about the log, and warns of arguments that have no effect.
pub(super) fn heed(arguments: &RosArguments) {
    for argument in &arguments.log_levels {
        let logger = argument.logger.as_ref().map(|logger| logger.trim_start_matches('/').replace('/', "."));
        match (argument.level.parse::<LogLevel>(), logger) {
            (Ok(level), Some(logger)) => log::set_logger_level(&logger, level),
            (Ok(level), None) => log::set_log_level(level),
            (Err(_), logger) => log::unset_log_level(logger.as_deref()), // "unset"
        }
    }
    if let Some(on) = arguments.rosout_logs {
        log::set_rosout(on);
    }
    if let Some(on) = arguments.stdout_logs {
        log::set_stdout(on);
    }
    if !arguments.unused.is_empty() {
        let names = arguments.unused.join(", ");
        log::info("", format_args!("ROS arguments without effect in Gantry: {names}"));
    }
    for rule in &arguments.deprecated {
        log::warn("", format_args!("the rule \"{rule}\" stands outside --ros-args; write --ros-args -r {rule}"));
    }
}
