//! A thread that serves a line, and that ends when its value is dropped.

use std::{
    io,
    os::fd::OwnedFd,
    thread::{self, JoinHandle},
};

use rustix::event::{EventfdFlags, eventfd};

/// A thread that ends when this value is dropped.
#[derive(Debug)]
pub struct LineThread {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl LineThread {
    /// Starts a thread that executes `run`. `run` must return as soon as the descriptor that it gets is readable.
    pub fn start(name: &str, run: impl FnOnce(OwnedFd) -> io::Result<()> + Send + 'static) -> io::Result<LineThread> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        let of_thread = stop.try_clone()?;
        // An error ends the thread and so the line, like a closed descriptor.
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || drop(run(of_thread)))?;
        Ok(LineThread { stop, thread: Some(thread) })
    }

    /// True if the thread has ended by itself, because one end of the line was closed.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for LineThread {
    fn drop(&mut self) {
        let is_stopped = rustix::io::write(&self.stop, &1_u64.to_ne_bytes()).is_ok();
        if let Some(thread) = self.thread.take()
            && is_stopped
        {
            let _ = thread.join();
        }
    }
}
