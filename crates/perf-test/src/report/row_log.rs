//! A log to which each row of a run is added: performance_test's CSV and JSON, and Gantry's own.

use std::{fmt, io, path::Path};

use crate::log::{FullLog, RowEntry, Summary};

/// A log of the rows of a run.
pub trait RowLog: fmt::Debug {
    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be written; the log is then unchanged.
    fn row(&mut self, row: &RowEntry) -> io::Result<()>;

    /// The path, if the file has no name any more.
    fn removed(&self) -> Option<&Path>;

    /// Ends the log, with the summary if it has one.
    ///
    /// # Errors
    /// If the file cannot be written; the log is then unchanged.
    fn finish(self: Box<Self>, _summary: &Summary) -> io::Result<()> {
        Ok(())
    }
}

impl RowLog for FullLog {
    fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        FullLog::row(self, row)
    }

    fn removed(&self) -> Option<&Path> {
        FullLog::removed(self)
    }

    fn finish(self: Box<Self>, summary: &Summary) -> io::Result<()> {
        FullLog::finish(*self, summary)
    }
}
