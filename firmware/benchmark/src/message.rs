//! The message type of the publishers and subscriptions: `Int32` or `String`.

use gantry_micro::{Client, PublishError, Publisher, Transport};

#[cfg(not(text_messages))]
mod kind {
    use super::{Client, PublishError, Publisher, Transport};
    pub use gantry_msgs::std_msgs::msg::Int32 as Sample;

    pub const SAMPLE_BYTES: usize = 4;

    pub fn publish<'a, T: Transport>(
        publisher: &Publisher<'a, Sample>,
        client: &mut Client<'a, T>,
    ) -> Result<(), PublishError> {
        publisher.publish(client, &Sample { data: 1 })
    }
}

#[cfg(text_messages)]
mod kind {
    use super::{Client, PublishError, Publisher, Transport};
    use crate::parameters::TEXT;
    pub use gantry_msgs::std_msgs::msg::String as Sample;
    use gantry_msgs::std_msgs::msg::StringShape;

    /// The length of a `String` in bytes: its length field, its letters, and the zero at the end.
    pub const SAMPLE_BYTES: usize = 4 + TEXT.len() + 1;

    pub fn publish<'a, T: Transport>(
        publisher: &Publisher<'a, Sample>,
        client: &mut Client<'a, T>,
    ) -> Result<(), PublishError> {
        publisher.publish_with(client, StringShape { data: TEXT }, |_| {})
    }
}

pub use kind::{SAMPLE_BYTES, Sample, publish};
