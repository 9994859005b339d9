//! The topic `/rosout`, on which a program publishes its log for other programs, as in ROS 2. This module is on the
//! control path.

use crate::{
    error::Result,
    log::{is_rosout_on, logger_of},
    node::Node,
    topic::Publisher,
    wait::lock,
};
use gantry_msgs::rcl_interfaces::msg::Log;
use gantry_shm::Qos;
use std::{
    cell::Cell,
    fmt::{Debug, Write},
    sync::Mutex,
    time::SystemTime,
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

thread_local! {
    /// Whether this thread is publishing an event. Events that the publisher logs during that time are not published.
    static IS_PUBLISHING: Cell<bool> = const { Cell::new(false) };
}

/// A layer of `tracing` that publishes events on `/rosout`; `gantry topic echo /rosout` prints them. Needs the
/// feature `rosout`, which is on by default.
///
/// The logger's name comes from the node in the event's field `node`; all events of this library have this field.
/// Without the field, it comes from the layer's node. TRACE events are not published: ROS 2 has no such severity.
///
/// ```
/// use gantry::{Node, RosoutLayer};
/// use tracing_subscriber::{Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt};
///
/// # fn main() -> gantry::Result<()> {
/// let node = Node::new("talker")?;
/// let rosout = RosoutLayer::new(&node)?.with_filter(LevelFilter::INFO);
/// tracing_subscriber::registry().with(rosout).init(); // and .with(tracing_subscriber::fmt::layer()) for the terminal
/// tracing::info!(speed = 0.5, "driving"); // "driving speed=0.5" on /rosout
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct RosoutLayer {
    publisher: Mutex<Publisher<Log>>,
    logger: String,
}

impl RosoutLayer {
    /// Makes a layer that publishes as this node.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`](crate::Node::create_publisher).
    pub fn new(node: &Node) -> Result<RosoutLayer> {
        let publisher = Mutex::new(node.create_publisher("/rosout", Qos::rosout())?);
        Ok(RosoutLayer { publisher, logger: logger_of(&node.fully_qualified_name()) })
    }
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            Level::ERROR => Log::ERROR,
            Level::WARN => Log::WARN,
            Level::INFO => Log::INFO,
            Level::DEBUG => Log::DEBUG,
            Level::TRACE => return,
        };
        if !is_rosout_on() || IS_PUBLISHING.replace(true) {
            return;
        }
        let _publishing = Publishing;
        let mut text = Text::default();
        event.record(&mut text);
        let log = Log {
            stamp: SystemTime::now().into(),
            level,
            name: text.node.filter(|node| !node.is_empty()).map_or(self.logger.clone(), |node| logger_of(&node)),
            msg: format!("{}{}", text.message, text.fields).trim_start().to_owned(),
            file: metadata.file().unwrap_or_default().to_owned(),
            function: metadata.module_path().unwrap_or_default().to_owned(),
            line: metadata.line().unwrap_or_default(),
        };
        // An error is ignored, because the log cannot log its own failure.
        let _ = lock(&self.publisher).publish_copy(&log);
    }
}

/// A guard that clears `IS_PUBLISHING`. It is needed because a field's `Debug` may panic.
struct Publishing;

impl Drop for Publishing {
    fn drop(&mut self) {
        IS_PUBLISHING.set(false);
    }
}

/// The texts of an event.
#[derive(Default)]
struct Text {
    message: String,
    /// The fields of the event as text, each as ` name=value`.
    fields: String,
    node: Option<String>,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "node" => self.node = Some(value.to_owned()),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
