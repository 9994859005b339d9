//! What is sent, and what its bytes go through.

use clap::Args;

use crate::cli::values::within;
use crate::run_spec::{Layout, Touch};

/// The largest payload of a message that has no size of its own.
const LARGEST_PAYLOAD_BYTES: u32 = 1 << 30;

/// Options about messages.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct MessageOptions {
    /// Message type, performance_test's or iRobot's [default: Array128, with --message-layout 1.x Array1k]
    ///
    /// iRobot's may also be spelt as in topologies: stamped9_float32. Example: -m Array4m
    #[arg(short, long, value_name = "NAME")]
    pub msg: Option<String>,
    /// Lists the messages with their sizes in bytes, and exits
    #[arg(long, visible_alias = "topic-list")]
    pub msg_list: bool,
    /// Payload of messages without a size of their own, bytes, 0 to 1073741824 [default: 0]
    ///
    /// These are UnboundedSequence, UnboundedString and StampedVector. Example: -m UnboundedSequence --unbounded-msg-size 65536
    #[arg(long, value_name = "BYTES", value_parser = within(0..=LARGEST_PAYLOAD_BYTES), allow_hyphen_values = true)]
    pub unbounded_msg_size: Option<u32>,
    /// Generation of the messages' layouts: Array1k is 1040 bytes in 1.x, 1024 in 2.x [default: 2.x]
    ///
    /// 1.x also adds the loop columns to CSV logs. Example: --message-layout 1.x
    #[arg(long, value_name = "LAYOUT", ignore_case = true)]
    pub message_layout: Option<Layout>,
    /// Loan messages and read them in place; without it they are copied in on publish and out on take
    #[arg(long, visible_alias = "loaned-samples")]
    pub zero_copy: bool,
    /// What is written of each payload before it is sent, and read of it after it was received [default: stamp]
    ///
    /// Example: --zero-copy --touch full
    #[arg(long, value_name = "WHAT", ignore_case = true)]
    pub touch: Option<Touch>,
}
