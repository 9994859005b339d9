//! Framings: messages over byte streams and CAN-FD.
