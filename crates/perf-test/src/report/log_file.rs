//! A log to which the rows of a run are added: CSV or JSON as in performance_test, or Gantry's own log.

use std::{io, path::Path};

use super::{csv::CsvLog, json::fields};
use crate::log::{RowEntry, Summary, document::Document};
use perf_worker::run_spec::Layout;

/// A log of a run, in one of three formats.
#[derive(Debug)]
pub enum LogFile {
    /// A CSV log in performance_test's format.
    Csv(CsvLog),
    /// A JSON log in performance_test's format, with the fields of this message layout.
    Json(Document, Layout),
    /// Gantry's own log.
    Full(Document),
}

impl LogFile {
    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written. The log is then unchanged.
    pub fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        match self {
            LogFile::Csv(log) => log.row(row),
            LogFile::Json(document, layout) => document.push(&fields(row, *layout)),
            LogFile::Full(document) => document.push(row),
        }
    }

    /// The path of the log if its file has been removed; `None` otherwise.
    pub fn removed(&self) -> Option<&Path> {
        match self {
            LogFile::Csv(log) => log.removed(),
            LogFile::Json(document, _) | LogFile::Full(document) => document.removed(),
        }
    }

    /// Ends the log. If the format has a summary, adds it.
    ///
    /// # Errors
    /// The file cannot be written. The log is then unchanged.
    pub fn finish(self, summary: &Summary) -> io::Result<()> {
        match self {
            LogFile::Full(document) => document.finish("summary", summary),
            LogFile::Csv(_) | LogFile::Json(..) => Ok(()),
        }
    }
}
