//! The carrier that uses a queue behind a mutex, and a condition variable on which the reader waits.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, full, read},
};
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

/// The queue that both sides share.
#[derive(Clone)]
pub struct Queue(Arc<(Mutex<VecDeque<Message>>, Condvar)>);

/// Makes the sender and the reader.
pub fn pair(depth: usize) -> (Queue, Queue) {
    let queue = Queue(Arc::new((Mutex::new(VecDeque::with_capacity(depth)), Condvar::new())));
    (queue.clone(), queue)
}

impl Sends for Queue {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        let (queue, news) = &*self.0;
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == queue.capacity() {
            return Err(full());
        }
        queue.push_back(Message::new(number, sent));
        drop(queue);
        news.notify_one();
        Ok(())
    }
}

impl Receives for Queue {
    #[inline(always)]
    fn take(&mut self) -> Result<Option<(u64, u64)>> {
        let message = self.0.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        message.as_ref().map(read).transpose()
    }

    fn wait(&mut self) -> Result<()> {
        let (queue, news) = &*self.0;
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        drop(news.wait_timeout_while(queue, PATIENCE, |queue| queue.is_empty()));
        Ok(())
    }
}
