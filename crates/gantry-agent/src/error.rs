//! Errors of the agent itself. Errors that a client causes are answered to the client and logged; they do not occur
//! here.

#[cfg(feature = "simulated-can")]
use std::ops::RangeInclusive;
use std::{io, path::PathBuf};

/// An error of the agent, displayed as a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A transport cannot be opened.
    #[error("{what} cannot be opened: {source}{advice}")]
    Open {
        /// The transport and its address.
        what: String,
        /// The cause.
        source: io::Error,
        /// The remedy: the end of the sentence that is displayed. It may be empty.
        advice: &'static str,
    },
    /// A CAN FD bus cannot have these bit rates.
    #[cfg(feature = "simulated-can")]
    #[error(
        "a CAN FD bus has no nominal bit rate of {nominal_bits_per_s} with a data bit rate of {data_bits_per_s}: the \
         nominal bit rate is {} to {} bit/s, and the data bit rate is at least the nominal bit rate and at most {} \
         bit/s",
        allowed_nominal.start(), allowed_nominal.end(), max_data_bits_per_s
    )]
    BitRates {
        /// The bit rate of arbitration, in bits per second.
        nominal_bits_per_s: u32,
        /// The bit rate of the data field, in bits per second.
        data_bits_per_s: u32,
        /// The nominal bit rates that a bus can have, in bits per second.
        allowed_nominal: RangeInclusive<u32>,
        /// The largest data bit rate that a bus can have, in bits per second.
        max_data_bits_per_s: u32,
    },
    /// A thread cannot be started.
    #[error("no thread for {what} can be started: {source}")]
    Thread {
        /// The purpose of the thread.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Definitions of types cannot be read.
    #[error("the definitions in {} cannot be used: {errors}", folder.display())]
    Definitions {
        /// The folder.
        folder: PathBuf,
        /// All errors in the definitions.
        errors: gantry_idl::Errors,
    },
    /// An error of Gantry.
    #[error(transparent)]
    Gantry(#[from] gantry::Error),
}

/// The result of a call of the agent.
pub type Result<T> = std::result::Result<T, Error>;
