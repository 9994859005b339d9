//! The start of a program: its signal handlers, and the ROS arguments for all its nodes.

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

/// Initialises a program, as `rclcpp::init(argc, argv)` does: catches SIGINT and SIGTERM, and makes all nodes use the
/// ROS arguments of the command line. Call this function first in `main`, before other threads exist.
///
/// The first of these signals shuts the program down ([`shutdown`](crate::shutdown)). The functions of
/// [`on_shutdown`](crate::on_shutdown) run, then spins and waits end. `main` returns, destructors run, and no file is
/// left in shared memory. A second signal ends the process at once.
///
/// Without `init`, a signal ends the process without running destructors, and other processes remove its files.
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
/// rcl does not accept a ROS argument; the program is already initialised; the signal handlers cannot be installed.
pub fn init() -> Result<()> {
    init_with_arguments(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()))
}

/// Initialises the program as [`init`] does, with `arguments` instead of the command line.
///
/// # Errors
/// The errors of [`init`].
pub fn init_with_arguments(arguments: impl IntoIterator<Item = String>) -> Result<()> {
    let arguments = RosArguments::parse(&arguments.into_iter().collect::<Vec<_>>())?;
    context::begin()?;
    heed(&arguments);
    *lock(&GLOBAL) = Some(Arc::new(arguments));
    Ok(())
}

/// The ROS arguments for all nodes of the process; empty before [`init`].
pub(super) fn global_arguments() -> Arc<RosArguments> {
    lock(&GLOBAL).clone().unwrap_or_default()
}

/// Applies the log arguments, and warns about arguments that have no effect.
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
        log::warn(
            "",
            format_args!("the remapping rule \"{rule}\" has no effect outside --ros-args; write --ros-args -r {rule}"),
        );
    }
}
