//! The JSON log: performance_test's fields, and at every moment a complete document.
//!
//! Used through [`Reports`](super::Reports). The file appears whole under its name and always ends in
//! `]}`. A row first makes room behind that with blanks, which a document may end in however many of
//! them are written: here a full disk shows, and the room is cut off again. Then one `pwrite` puts the
//! row and the ending over the old ending and the blanks. Only a kill that stops the kernel in the
//! middle of this one write of about a kilobyte, between two pages, could leave half a row. Times are in s (variance and M2 in s²), `experiment_start`,
//! `loop_start`, `utime` and `stime` in ns, `maxrss` in KiB, CPU usage in percent of all cores.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::experiment::{Experiment, History, name_of};
use crate::measure::usage::FIELDS;
use crate::row::Row;

const ENDING: &str = "]}";

/// A JSON log that is being written.
#[derive(Debug)]
pub struct JsonLog {
    file: File,
    /// Where the ending stands.
    ending_at: u64,
    empty: bool,
}

impl JsonLog {
    /// Creates the log, or replaces one of that name, with no rows.
    ///
    /// # Errors
    /// If the file cannot be created or written, or the name is that of something else than a file.
    pub fn create(path: &Path, experiment: &Experiment, run_id: &str) -> io::Result<JsonLog> {
        // Through a link to the file itself, which is to stay what it is.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is there and is no file"));
        }
        let mut text = serde_json::to_string(&header(experiment, run_id))?;
        text.pop();
        text.push_str(",\"analysis_results\":[");
        let ending_at = text.len() as u64;
        text.push_str(ENDING);
        // Its name appears when it is complete: nobody ever sees less.
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(format!(".{run_id}"));
        let written = File::create_new(&unfinished).and_then(|file| {
            file.write_all_at(text.as_bytes(), 0)?;
            std::fs::rename(&unfinished, &path)?;
            Ok(JsonLog { file, ending_at, empty: true })
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be written; it is the document then that it was before.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let comma = if self.empty { "\n" } else { ",\n" };
        let text = format!("{comma}{}", fields(row));
        let end = self.ending_at + ENDING.len() as u64;
        let added = self
            .file
            .write_all_at(" ".repeat(text.len()).as_bytes(), end)
            .and_then(|()| self.file.write_all_at(format!("{text}{ENDING}").as_bytes(), self.ending_at));
        if let Err(error) = added {
            // What is there already can be written again. Blanks that cannot be cut off do no harm.
            self.file.write_all_at(ENDING.as_bytes(), self.ending_at)?;
            let _ = self.file.set_len(end);
            return Err(error);
        }
        self.ending_at += text.len() as u64;
        self.empty = false;
        Ok(())
    }
}

fn header(experiment: &Experiment, run_id: &str) -> Value {
    json!({
        "id": run_id,
        "perf_test_version": format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION")),
        "com_mean_str": "Gantry",
        "dds_domain_id": experiment.domain_id,
        "qos_reliability": name_of(experiment.reliability),
        "qos_durability": name_of(experiment.durability),
        "qos_history_kind": name_of(experiment.history),
        "qos_history_depth": if experiment.history == History::KeepLast { experiment.history_depth } else { 0 },
        "execution_strategy": name_of(experiment.strategy),
        "rate": experiment.rate_hz,
        "topic_name": experiment.topic,
        "msg_name": experiment.message,
        "message_layout": experiment.layout.name(),
        "message_bytes": experiment.message_bytes,
        "max_runtime": experiment.max_runtime_s,
        "number_of_publishers": experiment.publishers,
        "number_of_subscribers": experiment.subscriptions,
        "check_memory": false,
        "with_security": false,
        "use_shared_memory": true,
        "use_loaned_samples": experiment.zero_copy,
        "is_zero_copy_transfer": experiment.zero_copy,
        "roundtrip_mode": "None",
        "is_rt_init_required": false,
    })
}

fn fields(row: &Row) -> Value {
    let latency_s = row.latency_s();
    let mut fields = Map::new();
    for (name, value) in [
        ("experiment_start", json!(row.end_ns)),
        ("loop_start", json!(row.length_ns)),
        ("num_samples_received", json!(row.per_second(row.received.samples))),
        ("num_samples_sent", json!(row.per_second(row.sent.samples))),
        ("num_samples_lost", json!(row.per_second(row.received.lost()))),
        ("total_data_received", json!(row.data_received())),
        ("latency_min", json!(latency_s.min)),
        ("latency_max", json!(latency_s.max)),
        ("latency_n", json!(latency_s.n)),
        ("latency_mean", json!(latency_s.mean)),
        ("latency_M2", json!(latency_s.m2)),
        ("latency_variance", json!(latency_s.variance())),
    ] {
        fields.insert(name.to_owned(), value);
    }
    for (name, value) in FIELDS.iter().zip(row.usage.fields()) {
        fields.insert(format!("sys_tracker_ru_{name}"), json!(value));
    }
    fields.insert("cpu_info_cpu_cores".to_owned(), json!(row.cores));
    fields.insert("cpu_info_cpu_usage".to_owned(), json!(row.all_cores_percent()));
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::row::documented_row;

    #[test]
    fn the_document_is_complete_before_and_after_every_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.json");
        std::fs::write(&path, "an older and longer log ".repeat(1000)).unwrap();
        let line = "perf_test -m Array4m -r 100 --zero-copy -t camera/image";
        let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
        let experiment = cli::resolve(&cli.options, cli::Defaults::Run).unwrap().experiment;
        let mut log = JsonLog::create(&path, &experiment, "id").unwrap();
        for n in 0..3 {
            let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(document["analysis_results"].as_array().unwrap().len(), n);
            assert_eq!(document["topic_name"], "camera/image");
            assert_eq!((&document["rate"], &document["use_loaned_samples"]), (&json!(100), &json!(true)));
            log.row(&documented_row()).unwrap();
        }
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let row = &document["analysis_results"][2];
        assert_eq!((&row["experiment_start"], &row["latency_n"]), (&json!(31_000_000_000_i64), &json!(99)));
        assert_eq!(row["sys_tracker_ru_utime"], json!(23_120_954_000_i64));
        assert!((row["latency_mean"].as_f64().unwrap() - 0.004546).abs() < 1e-12);
        assert!((row["latency_variance"].as_f64().unwrap() - 4e-8).abs() < 1e-15);
        assert!((row["latency_M2"].as_f64().unwrap() - 98.0 * 4e-8).abs() < 1e-13);
        assert_eq!(row["cpu_info_cpu_usage"], json!(38.125));
    }
}
