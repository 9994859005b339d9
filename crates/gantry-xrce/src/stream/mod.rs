//! Streams: sequence numbers, acknowledgements and fragments.
