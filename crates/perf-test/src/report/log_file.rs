//! A log to which each row of a run is added: performance_test's CSV and JSON, and Gantry's own.

use std::{io, path::Path};

use super::{csv::CsvLog, json::fields};
use crate::log::{RowEntry, Summary, document::Document};
use perf_worker::run_spec::Layout;

/// A log of the rows of a run, in one of three formats.
#[derive(Debug)]
pub enum LogFile {
    /// performance_test's CSV.
    Csv(CsvLog),
    /// performance_test's JSON, with the fields of this layout.
    Json(Document, Layout),
    /// Gantry's own log.
    Full(Document),
}

impl LogFile {
    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be written; the log is then unchanged.
    pub fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        match self {
            LogFile::Csv(log) => log.row(row),
            LogFile::Json(document, layout) => document.push(&fields(row, *layout)),
            LogFile::Full(document) => document.push(row),
        }
    }

    /// The path of the log, if its file was removed and has no name any more.
    pub fn removed(&self) -> Option<&Path> {
        match self {
            LogFile::Csv(log) => log.removed(),
            LogFile::Json(document, _) | LogFile::Full(document) => document.removed(),
        }
    }

    /// Ends the log, with the summary if the format has one.
    ///
    /// # Errors
    /// If the file cannot be written; the log is then unchanged.
    pub fn finish(self, summary: &Summary) -> io::Result<()> {
        match self {
            LogFile::Full(document) => document.finish("summary", summary),
            LogFile::Csv(_) | LogFile::Json(..) => Ok(()),
        }
    }
}
