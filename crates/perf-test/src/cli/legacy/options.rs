//! The options of older performance_test versions that have another name here, are now settings of a middleware, or do
//! not apply to perf_test.
//!
//! No option is silently ignored. Either it takes effect, or the heading of the report mentions it, or perf_test
//! refuses the command with the reason.

use clap::Args;

/// Options in scripts for older performance_test versions.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of older performance_test versions")]
pub struct LegacyOptions {
    /// The same as -o none: prints nothing; named logs are written
    #[arg(long)]
    pub disable_logging: bool,
    /// The same as --wait spin
    #[arg(long)]
    pub no_waitset: bool,
    /// The same as --use-rt-prio 5 --use-rt-cpus 62
    #[arg(long)]
    pub use_drive_px_rt: bool,
    /// The same as --set transport=shared-memory, which is always in effect with Gantry
    #[arg(long, visible_alias = "use-ros-shm")]
    pub shared_memory: bool,
    /// The same as --publishing sync
    #[arg(long)]
    pub disable_async: bool,
    /// The same as --set participants=one, which is always in effect with Gantry
    #[arg(long)]
    pub use_single_participant: bool,
    /// Refused: a setting of Connext DDS Micro
    #[arg(long)]
    pub no_micro_intra: bool,
    /// Refused: Gantry neither signs nor encrypts messages
    #[arg(long)]
    pub with_security: bool,
    /// Refused, as the four options below: perf_test writes results to files, not to a database
    #[arg(long, value_name = "NAME")]
    pub db_name: Option<String>,
    /// Refused
    #[arg(long, value_name = "NAME")]
    pub db_user: Option<String>,
    /// Refused
    #[arg(long, value_name = "PASSWORD")]
    pub db_password: Option<String>,
    /// Refused
    #[arg(long, value_name = "HOST")]
    pub db_host: Option<String>,
    /// Refused
    #[arg(long, value_name = "PORT")]
    pub db_port: Option<String>,
}
