//! The carrier that uses the standard library's channel. The channel is bounded, so that it allocates only at its
//! creation.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, full, read},
};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Makes the sender and the reader.
pub fn pair(depth: usize) -> (SyncSender<Message>, Reader) {
    let (sender, receiver) = sync_channel(depth);
    (sender, Reader { receiver, ahead: None })
}

/// Reads from the channel.
pub struct Reader {
    receiver: Receiver<Message>,
    /// The message that `wait` received, for the next `take`: the only way to wait for a message in a channel is to
    /// receive it.
    ahead: Option<Message>,
}

impl Sends for SyncSender<Message> {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        self.try_send(Message::new(number, sent)).map_err(|_| full())
    }
}

impl Receives for Reader {
    #[inline(always)]
    fn take(&mut self) -> Result<Option<(u64, u64)>> {
        let message = match self.ahead.take() {
            Some(message) => message,
            None => match self.receiver.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Empty) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
        };
        read(&message).map(Some)
    }

    fn wait(&mut self) -> Result<()> {
        self.ahead = Some(self.receiver.recv_timeout(PATIENCE)?);
        Ok(())
    }
}
