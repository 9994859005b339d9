//! The options about messages and their payload.

use clap::Args;

use crate::cli::values::{choice, within};
use perf_worker::run_spec::{Layout, Touch};
use perf_worker_gantry::messages::MAX_UNBOUNDED_BYTES;

/// Messages and their payload.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct MessageOptions {
    /// Message type of performance_test or ros2-performance [default: Array128; Array1k with --message-layout 1.x]
    ///
    /// --msg-list lists the types. Types of iRobot's ros2-performance may also be spelt as in its topologies:
    /// stamped9_float32. Example: -m Array4m
    #[arg(short, long, value_name = "NAME")]
    pub msg: Option<String>,
    /// Lists the message types with their sizes in bytes, and exits
    #[arg(long, visible_alias = "topic-list")]
    pub msg_list: bool,
    /// Payload size of message types of unbounded size, bytes, 0 to 1072693248 [default: 0]
    ///
    /// Applies to UnboundedSequence, UnboundedString and StampedVector. Example: -m UnboundedSequence
    /// --unbounded-msg-size 65536
    #[arg(long, value_name = "BYTES", value_parser = within(0..=MAX_UNBOUNDED_BYTES), allow_hyphen_values = true)]
    pub unbounded_msg_size: Option<u32>,
    /// performance_test version whose message layouts are used: Array1k is 1040 bytes in 1.x, 1024 in 2.x [default:
    /// 2.x]
    ///
    /// 1.x also adds the columns about loops to CSV logs. Example: --message-layout 1.x
    #[arg(long, value_name = "LAYOUT", value_parser = choice::<Layout>(), ignore_case = true)]
    pub message_layout: Option<Layout>,
    /// Loans messages and reads them in place; without this option, publish and take copy messages
    #[arg(long, visible_alias = "loaned-samples")]
    pub zero_copy: bool,
    /// Sends the same number of bytes without a message type: time, id and payload, without serialisation
    ///
    /// The difference to a run without --raw is the cost of the message type. -m still gives the size. Example: --raw
    /// -m Array1m
    #[arg(long)]
    pub raw: bool,
    /// Part of each payload that is written before sending and read after reception [default: stamp]
    ///
    /// Example: --zero-copy --payload full
    #[arg(long, visible_alias = "payload", value_name = "PART", value_parser = choice::<Touch>(), ignore_case = true)]
    pub touch: Option<Touch>,
}
