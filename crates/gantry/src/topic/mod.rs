//! Topics: publishers and subscriptions, typed and generic (bytes of a type that is known only at run time).

mod fixed_size;
mod generic_publisher;
mod generic_subscription;
mod malformed_samples;
mod message_info;
mod node_topics;
mod other_domains;
mod publisher;
#[cfg(feature = "standard-types")]
mod standard_types;
mod subscription;

pub use generic_publisher::{GenericLoan, GenericPublisher, PublishError};
pub use generic_subscription::{GenericSample, GenericSubscription};
pub(crate) use malformed_samples::{MalformedSamples, publisher_name};
pub use message_info::MessageInfo;
pub(crate) use node_topics::type_description;
pub use publisher::{Loan, Publisher};
#[cfg(feature = "standard-types")]
pub use standard_types::standard_types;
pub use subscription::{Sample, Subscription};
