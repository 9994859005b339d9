//! The board of the throughput experiment. It publishes texts as fast as its line accepts them.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use gantry_micro::{EntityState, PublishError, Publisher, Qos};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};

use crate::rig::{Board, BoardLine, BoardMemory};

/// The longest sleep before the board checks its `Orders` again.
const PATIENCE: Duration = Duration::from_millis(5);

/// The commands to the board, and its count of published texts.
#[derive(Debug, Default)]
pub struct Orders {
    /// The number of bytes of a text; 0 while the board must not publish.
    pub payload_bytes: AtomicUsize,
    /// True if the board has to end.
    pub is_done: AtomicBool,
    /// The number of texts that the board has published.
    pub sent: AtomicU64,
}

/// Runs a board until [`Orders::is_done`].
///
/// # Errors
/// An error of the board's line, or the agent's refusal of the publisher.
pub fn run(line: BoardLine, domain_id: u16, topic: &str, orders: &Orders) -> io::Result<()> {
    let (mut memory, publisher) = (BoardMemory::default(), Publisher::<Text>::new());
    let mut board = Board::start(line, &mut memory, domain_id);
    board.client.create_publisher(&publisher, topic, Qos::SENSOR_DATA).map_err(io::Error::other)?;
    while !orders.is_done.load(Ordering::Relaxed) {
        board.spin(|_| {})?;
        if let EntityState::Refused(status) = publisher.state() {
            return Err(io::Error::other(format!("the agent refuses the publisher: {status:?}")));
        }
        let payload_bytes = orders.payload_bytes.load(Ordering::Relaxed);
        let is_sent = payload_bytes > 0 && publish(&publisher, &mut board, payload_bytes, orders)?;
        if !is_sent {
            board.wait(PATIENCE)?;
        }
    }
    board.close()
}

/// Publishes a text that begins with its number. Returns false if the client has no room for the text.
fn publish<'a>(
    publisher: &Publisher<'a, Text>,
    board: &mut Board<'a>,
    payload_bytes: usize,
    orders: &Orders,
) -> io::Result<bool> {
    let number = orders.sent.load(Ordering::Relaxed);
    let mut text = [b'.'; 512];
    let digits = format!("{number:0NUMBER_DIGITS$}");
    text.iter_mut().zip(digits.bytes()).for_each(|(place, digit)| *place = digit);
    let text = text.get(..payload_bytes).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
    match publisher.publish_with(&mut board.client, StringShape { data: text }, |_| {}) {
        Ok(()) => {
            orders.sent.store(number + 1, Ordering::Relaxed);
            Ok(true)
        }
        Err(PublishError::NotConnected | PublishError::Full { .. }) => Ok(false),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The number of digits of the number at the start of a text.
pub const NUMBER_DIGITS: usize = 10;
