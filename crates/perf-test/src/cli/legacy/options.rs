//! Options of older performance_tests that have another name here, are always so, or cannot apply.
//!
//! None is ignored: what it amounts to is done, or said in the heading, or the command is refused with the reason.

use clap::Args;

/// Options for the scripts of all generations of performance_test.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Older spellings")]
pub struct LegacyOptions {
    /// The same as -o none: nothing on the console; named logs are written
    #[arg(long)]
    pub disable_logging: bool,
    /// The same as --wait spin
    #[arg(long)]
    pub no_waitset: bool,
    /// The same as --use-rt-prio 5 --use-rt-cpus 62
    #[arg(long)]
    pub use_drive_px_rt: bool,
    /// Always so with Gantry: messages go through shared memory
    #[arg(long, visible_alias = "use-ros-shm")]
    pub shared_memory: bool,
    /// Always so with Gantry: the publishing thread itself delivers
    #[arg(long)]
    pub disable_async: bool,
    /// Always so with Gantry: each process takes part in a domain once
    #[arg(long)]
    pub use_single_participant: bool,
    /// Refused: of Connext DDS Micro
    #[arg(long)]
    pub no_micro_intra: bool,
    /// Refused: messages are neither signed nor encrypted
    #[arg(long)]
    pub with_security: bool,
    /// Refused, as the four below: results go to files, not to a database
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
