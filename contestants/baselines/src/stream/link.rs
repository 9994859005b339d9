//! Links: the stream from a publisher to a subscription.
//!
//! A connection begins with the publisher's id. For a pipe, the connection is a socket, which passes the reading end of
//! the pipe together with the id (SCM_RIGHTS).

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, getsockname, listen, recvmsg,
    sendmsg, socket_with, sockopt,
};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use crate::announcement::{Announced, Id};

/// The largest number of links that wait to be accepted, larger than the number of publishers in a run.
const BACKLOG: i32 = 256;
/// The file with the largest permitted size of a pipe.
const PIPE_MAX: &str = "/proc/sys/fs/pipe-max-size";

/// A kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anonymous pipes.
    Pipe,
    /// Unix-domain stream sockets.
    Unix,
    /// TCP over the loopback interface, with TCP_NODELAY.
    Tcp,
}

/// The abstract name of a Unix-domain socket: it needs no file.
fn abstract_name(announced: &Announced) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(announced.name.as_bytes())
}

fn stream_socket(kind: Kind, flags: SocketFlags) -> rustix::io::Result<OwnedFd> {
    let family = if kind == Kind::Tcp { AddressFamily::INET } else { AddressFamily::UNIX };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | flags, None)?;
    if kind == Kind::Tcp {
        sockopt::set_tcp_nodelay(&socket, true)?;
    }
    Ok(socket)
}

/// The socket of a subscription, to which publishers connect.
pub struct Listener {
    kind: Kind,
    socket: OwnedFd,
    /// The accepted links on which the publisher's id has not arrived yet.
    pending: Vec<OwnedFd>,
}

impl Listener {
    /// Starts to listen on a port. Returns the listener, and the announcement that `announce` makes for the port.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new(kind: Kind, announce: impl Fn(u16) -> Announced) -> rustix::io::Result<(Listener, Announced)> {
        let socket = stream_socket(kind, SocketFlags::NONBLOCK)?;
        let port = if kind == Kind::Tcp {
            bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
            SocketAddrV4::try_from(getsockname(&socket)?)?.port()
        } else {
            bind(&socket, &abstract_name(&announce(0))?)?;
            0
        };
        listen(&socket, BACKLOG)?;
        Ok((Listener { kind, socket, pending: Vec::new() }, announce(port)))
    }

    /// Accepts the new links, and returns each with the id of its publisher. Does not wait.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn accept(&mut self) -> rustix::io::Result<Vec<(Id, OwnedFd)>> {
        loop {
            match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(link) => self.pending.push(link),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error),
            }
        }
        let mut accepted = Vec::new();
        for link in std::mem::take(&mut self.pending) {
            match receive_id(&link) {
                Ok((id, pipe)) => match (self.kind, pipe) {
                    (Kind::Pipe, Some(pipe)) => accepted.push((id, pipe)),
                    (Kind::Pipe, None) => {}
                    _ => accepted.push((id, link)),
                },
                Err(Errno::AGAIN) => self.pending.push(link),
                // The publisher of this link has ended.
                Err(_) => {}
            }
        }
        Ok(accepted)
    }
}

/// Receives the id of a publisher, and the pipe that was sent with it.
fn receive_id(link: &OwnedFd) -> rustix::io::Result<(Id, Option<OwnedFd>)> {
    let mut id = Id::default();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(link, &mut [IoSliceMut::new(&mut id)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes != id.len() {
        return Err(Errno::PROTO);
    }
    let pipe = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok((id, pipe))
}

/// Connects a publisher to a subscription. Returns the publisher's end of the stream, which is non-blocking.
///
/// # Errors
/// The kernel's error; [`Errno::CONNREFUSED`] if the subscription has ended.
pub fn connect_to(kind: Kind, announced: &Announced, id: Id) -> rustix::io::Result<OwnedFd> {
    let socket = stream_socket(kind, SocketFlags::empty())?;
    if kind == Kind::Tcp {
        connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, announced.port))?;
    } else {
        connect(&socket, &abstract_name(announced)?)?;
    }
    let id = [IoSlice::new(&id)];
    if kind != Kind::Pipe {
        sendmsg(&socket, &id, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        return Ok(socket);
    }
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // The kernel may refuse the largest size if the user has many pipes; the pipe then keeps its default size.
    let largest = std::fs::read_to_string(PIPE_MAX).ok().and_then(|largest| largest.trim().parse().ok());
    if let Some(largest) = largest {
        let _ = fcntl_setpipe_size(&writing, largest);
    }
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = [reading.as_fd()];
    // The push succeeds: the space is for one descriptor.
    control.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(&socket, &id, &mut control, SendFlags::NOSIGNAL)?;
    Ok(writing)
}
