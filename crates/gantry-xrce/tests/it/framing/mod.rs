//! Messages over byte streams and CAN-FD.

mod can_fd;
mod length_prefix;
mod serial;
mod socket_can;
