//! The CSV log in performance_test's format: header lines, then a row for each second.
//!
//! Each row is one `write`; if the `write` fails, no part of the row stays in the file. Keys, columns, separators and
//! units are performance_test 2's, or with `--message-layout 1.x` performance_test 1's: latencies and loop reserves in
//! ms, `ru_utime` and `ru_stime` in s (in the JSON log in ns), `ru_maxrss` in KiB, `cpu_usage` in percent of all cores.
//! Two values differ, because performance_test computes them wrongly. Variances are in ms²; performance_test writes s²
//! times 1000. `relative_loss` is the lost fraction of the expected samples, 0 to 1; performance_test divides the
//! losses of all subscriptions by the number of sent samples, which is right only for one subscription.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::log::RowEntry;
use crate::log::{document::is_removed, external_info::ExternalInfo};
use perf_worker::choice::Choice;
use perf_worker::measure::moments::Moments;
use perf_worker::measure::usage::FIELDS;
use perf_worker::run_spec::{Layout, RunSpec};

/// The separators of column names and of values. Existing scripts split at a comma with whitespace around it.
const SEPARATORS: (&str, &str) = (",\t", ",\t\t");

/// A CSV log to which rows are added.
#[derive(Debug)]
pub struct CsvLog {
    file: File,
    path: PathBuf,
    length_bytes: u64,
    layout: Layout,
}

impl CsvLog {
    /// Creates the log or replaces an existing file, and writes the header lines and the column names.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(path: &Path, spec: &RunSpec, run_id: &str, external: &ExternalInfo) -> io::Result<CsvLog> {
        let mut file = File::create(path)?;
        let layout = spec.message.layout;
        let columns = columns(layout).join(SEPARATORS.0);
        let header = header(path, spec, run_id, external);
        let text = format!("{header}\n---EXPERIMENT-START---\n{columns}\n");
        file.write_all(text.as_bytes())?;
        Ok(CsvLog { file, path: path.to_owned(), length_bytes: text.len() as u64, layout })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written. The log is then unchanged.
    pub fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        let mut line = values(row, self.layout).join(SEPARATORS.1);
        line.push('\n');
        self.file.write_all(line.as_bytes()).inspect_err(|_| {
            // Removes the written part of the row. This fails for a pipe or a device, which has no part to remove.
            let _ = self.file.set_len(self.length_bytes);
        })?;
        self.length_bytes += line.len() as u64;
        Ok(())
    }

    /// The path of the log if its file has been removed; `None` otherwise.
    pub fn removed(&self) -> Option<&Path> {
        Some(self.path.as_path()).filter(|path| is_removed(&self.file, path))
    }
}

fn header(path: &Path, spec: &RunSpec, run_id: &str, external: &ExternalInfo) -> String {
    let yes_or_no = |yes: bool| if yes { "1" } else { "0" }.to_owned();
    let of_v1 = spec.message.layout == Layout::V1;
    let roundtrip = spec.roundtrip.name();
    let mut lines = vec![
        ("Experiment id", run_id.to_owned()),
        ("Performance Test Version", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
        ("Logfile name", path.display().to_string()),
    ];
    if of_v1 {
        lines.push(("Communication mean", spec.communicator.clone()));
        lines.push(("RMW Implementation", "N/A".to_owned()));
    } else {
        lines.push(("Communicator", spec.communicator.clone()));
    }
    lines.extend([
        ("DDS domain id", spec.domain_id.to_string()),
        ("QOS", qos(spec)),
        ("Publishing rate", spec.rate_hz.to_string()),
        ("Topic name", spec.topic.clone()),
        ("Msg name", spec.message.name.clone()),
        ("Maximum runtime (sec)", spec.max_runtime_s.to_string()),
        ("Number of publishers", spec.publishers.to_string()),
        ("Number of subscribers", spec.subscriptions.to_string()),
        ("Memory check enabled", yes_or_no(spec.check_memory)),
        ("With security", yes_or_no(false)),
        ("Zero copy transfer", yes_or_no(spec.zero_copy)),
        ("Unbounded message size", spec.message.unbounded_bytes.to_string()),
        ("Roundtrip Mode", if of_v1 { roundtrip.to_uppercase() } else { roundtrip.to_owned() }),
        ("Ignore seconds from beginning", spec.ignore_s.to_string()),
        // performance_test does not have these keys, but programs that read its logs accept any key.
        ("Execution strategy", spec.strategy.name().to_owned()),
        ("Message layout", spec.message.layout.name().to_owned()),
        ("Message size (bytes)", spec.message.bytes.to_string()),
    ]);
    lines.extend(external.iter().map(|(name, text)| (name.as_str(), text.clone())));
    // A value, for example a file name, may contain line breaks, but a header line must be a single line.
    lines.iter().map(|(name, value)| format!("{name}: {value}").replace(['\n', '\r'], " ") + "\n").collect()
}

/// The quality of service in the words that performance_test's plotter parses.
fn qos(spec: &RunSpec) -> String {
    let (reliability, durability) = (spec.qos.reliability.name(), spec.qos.durability.name());
    let (history, depth) = (spec.qos.history.name(), spec.qos.depth);
    let sync = if spec.message.layout == Layout::V1 { " Sync. pub/sub: 1" } else { "" };
    format!("Reliability: {reliability} Durability: {durability} History kind: {history} History depth: {depth}{sync}")
}

fn columns(layout: Layout) -> Vec<String> {
    let first = ["T_experiment", "T_loop", "received", "sent", "lost", "relative_loss", "data_received"];
    let mut columns: Vec<String> = first.map(str::to_owned).into();
    let groups: &[&str] = match layout {
        Layout::V1 => &["latency", "pub_loop_res", "sub_loop_res"],
        Layout::V2 => &["latency"],
    };
    for group in groups {
        columns.extend(["min", "max", "mean", "variance"].map(|name| format!("{group}_{name} (ms)")));
    }
    columns.extend(FIELDS.map(|name| format!("ru_{name}")));
    columns.push("cpu_usage (%)".to_owned());
    columns
}

fn values(row: &RowEntry, layout: Layout) -> Vec<String> {
    let mut values = vec![
        format!("{:.6}", row.t_s),
        format!("{:.6}", row.length_s),
        row.per_second(row.total.received.samples).to_string(),
        row.per_second(row.total.sent.samples).to_string(),
        row.per_second(row.total.received.lost()).to_string(),
        format!("{:.6}", row.relative_loss()),
        row.data_received().to_string(),
    ];
    values.extend(milliseconds(&row.total.latency.moments_s()));
    if layout == Layout::V1 {
        values.extend(milliseconds(&row.total.loop_reserve.moments_s()));
        values.extend(milliseconds(&Moments::default()));
    }
    values.extend(FIELDS.iter().zip(row.accounts.usage.fields()).map(|(name, value)| match *name {
        "utime" | "stime" => format!("{:.6}", value as f64 / 1e9),
        _ => value.to_string(),
    }));
    values.push(format!("{:.6}", row.all_cores_percent()));
    values
}

/// Minimum, maximum and mean in ms with six decimals, and the variance in ms², without exponents.
fn milliseconds(moments_s: &Moments) -> [String; 4] {
    let ms = moments_s.scaled(1e3);
    let [min, max, mean] = [ms.min, ms.max, ms.mean].map(|value| format!("{value:.6}"));
    [min, max, mean, format!("{:.12}", ms.variance())]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::cli;
    use crate::log::documented_row;

    fn spec(options: &str) -> RunSpec {
        let line = format!("perf_test {options}");
        let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
        cli::resolve(&cli.options).unwrap().spec
    }

    /// Reads a log as existing scripts do: header lines, marker, columns, rows.
    fn read(text: &str) -> (HashMap<String, String>, Vec<HashMap<String, String>>) {
        let (header, body) = text.split_once("\n\n---EXPERIMENT-START---\n").unwrap();
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap();
        let cells =
            |line: &str| line.split(',').map(|cell| cell.trim_matches([' ', '\t']).to_owned()).collect::<Vec<_>>();
        let mut lines = body.lines();
        let columns = cells(lines.next().unwrap());
        let rows = lines.map(|line| {
            let values = cells(line);
            assert_eq!(values.len(), columns.len());
            columns.iter().cloned().zip(values).collect()
        });
        (header.lines().map(pair).collect(), rows.collect())
    }

    #[test]
    fn a_log_reads_back_in_the_units_of_its_columns_after_every_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        std::fs::write(&path, "an older log ".repeat(1000)).unwrap();
        let external = ExternalInfo::from([("Branch".to_owned(), "ma\nin".to_owned())]);
        let mut log = CsvLog::create(&path, &spec("-m Array4m -r 100"), "id", &external).unwrap();
        for n in 0..3 {
            let (header, rows) = read(&std::fs::read_to_string(&path).unwrap());
            assert_eq!((header["Msg name"].as_str(), header["Publishing rate"].as_str()), ("Array4m", "100"));
            assert_eq!((header["Communicator"].as_str(), header["Branch"].as_str()), ("Gantry", "ma in"));
            assert_eq!(rows.len(), n);
            log.row(&documented_row()).unwrap();
        }
        let (_, rows) = read(&std::fs::read_to_string(&path).unwrap());
        let row = &rows[2];
        assert_eq!(row["latency_mean (ms)"], "4.546000");
        assert_eq!(row["latency_variance (ms)"], "0.040000000000"); // (0.2 ms)²
        assert_eq!((row["received"].as_str(), row["sent"].as_str()), ("99", "100"));
        assert_eq!((row["ru_utime"].as_str(), row["ru_maxrss"].as_str()), ("23.120954", "65092"));
        assert_eq!(row["cpu_usage (%)"], "38.125000");
        assert!(!row.contains_key("pub_loop_res_min (ms)"));
    }

    #[test]
    fn the_1_x_layout_has_the_keys_and_the_loop_reserves_of_1_x() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let spec = spec("--message-layout 1.x");
        let mut log = CsvLog::create(&path, &spec, "id", &ExternalInfo::new()).unwrap();
        log.row(&documented_row()).unwrap();
        let (header, rows) = read(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(header["Message size (bytes)"], "1040");
        assert_eq!((header["Communication mean"].as_str(), header["Roundtrip Mode"].as_str()), ("Gantry", "NONE"));
        assert_eq!(rows[0]["pub_loop_res_mean (ms)"], "8.057000");
        assert_eq!(rows[0]["sub_loop_res_max (ms)"], "0.000000");
    }
}
