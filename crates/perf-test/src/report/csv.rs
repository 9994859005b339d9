//! The CSV log: performance_test's header lines and columns, one row each second as the run goes.
//!
//! Used through [`Reports`](super::Reports). Every row is one `write`; of one that fails nothing stays.
//! Latencies are in ms, their variance in ms², `ru_utime` and `ru_stime` in ns,
//! `ru_maxrss` in KiB, `cpu_usage` in percent of all cores. With `--message-layout 1.x` the columns
//! of the publisher's and subscriber's loop reserve are there too, as in performance_test 1.x.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::experiment::{Experiment, Layout, name_of};
use crate::measure::moments::Moments;
use crate::measure::usage::FIELDS;
use crate::row::Row;

/// A CSV log that is being written.
#[derive(Debug)]
pub struct CsvLog {
    file: File,
    length_bytes: u64,
    loop_columns: bool,
}

impl CsvLog {
    /// Creates the log, or replaces one of that name, and writes everything up to the first row.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(path: &Path, experiment: &Experiment, run_id: &str) -> io::Result<CsvLog> {
        let mut file = File::create(path)?;
        let loop_columns = experiment.layout == Layout::V1;
        let mut text = header(path, experiment, run_id);
        text.push_str("\n---EXPERIMENT-START---\n");
        text.push_str(&columns(loop_columns).join(","));
        text.push('\n');
        file.write_all(text.as_bytes())?;
        Ok(CsvLog { file, length_bytes: text.len() as u64, loop_columns })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If the file cannot be written; it ends with the row before then.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let mut line = values(row, self.loop_columns).join(",");
        line.push('\n');
        self.file.write_all(line.as_bytes()).inspect_err(|_| {
            // A pipe or a device cannot be cut, and has no half row to be cut off.
            let _ = self.file.set_len(self.length_bytes);
        })?;
        self.length_bytes += line.len() as u64;
        Ok(())
    }
}

fn header(path: &Path, experiment: &Experiment, run_id: &str) -> String {
    let yes_or_no = |yes: bool| if yes { "1" } else { "0" };
    let lines = [
        ("Experiment id", run_id.to_owned()),
        ("Performance Test Version", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
        ("Logfile name", path.display().to_string()),
        ("Communicator", "Gantry".to_owned()),
        ("DDS domain id", experiment.domain_id.to_string()),
        ("QOS", experiment.qos()),
        ("Execution strategy", name_of(experiment.strategy)),
        ("Publishing rate", experiment.rate_hz.to_string()),
        ("Topic name", experiment.topic.clone()),
        ("Msg name", experiment.message.clone()),
        ("Message layout", experiment.layout.name().to_owned()),
        ("Message size (bytes)", experiment.message_bytes.to_string()),
        ("Maximum runtime (sec)", experiment.max_runtime_s.to_string()),
        ("Number of publishers", experiment.publishers.to_string()),
        ("Number of subscribers", experiment.subscriptions.to_string()),
        ("Memory check enabled", "0".to_owned()),
        ("With security", "0".to_owned()),
        ("Zero copy transfer", yes_or_no(experiment.zero_copy).to_owned()),
        ("Unbounded message size", experiment.unbounded_bytes.to_string()),
        ("Roundtrip Mode", "None".to_owned()),
        ("Ignore seconds from beginning", experiment.ignore_s.to_string()),
    ];
    // A file name may contain anything; a header line is one line.
    lines.iter().map(|(name, value)| format!("{name}: {}\n", value.replace(['\n', '\r'], " "))).collect()
}

fn columns(loop_columns: bool) -> Vec<String> {
    let first = ["T_experiment", "T_loop", "received", "sent", "lost", "relative_loss", "data_received"];
    let mut columns: Vec<String> = first.map(str::to_owned).into();
    let groups: &[&str] = if loop_columns { &["latency", "pub_loop_res", "sub_loop_res"] } else { &["latency"] };
    for group in groups {
        columns.extend(["min", "max", "mean", "variance"].map(|name| format!("{group}_{name} (ms)")));
    }
    columns.extend(FIELDS.map(|name| format!("ru_{name}")));
    columns.push("cpu_usage (%)".to_owned());
    columns
}

fn values(row: &Row, loop_columns: bool) -> Vec<String> {
    let mut values = vec![
        format!("{:.6}", row.t_experiment_s()),
        format!("{:.6}", row.t_loop_s()),
        row.per_second(row.received.samples).to_string(),
        row.per_second(row.sent.samples).to_string(),
        row.per_second(row.received.lost()).to_string(),
        format!("{:.6}", row.relative_loss()),
        row.data_received().to_string(),
    ];
    values.extend(milliseconds(&row.latency_s()));
    if loop_columns {
        values.extend(milliseconds(&row.publisher_loop_s()));
        values.extend(milliseconds(&Moments::default()));
    }
    values.extend(row.usage.fields().map(|value| value.to_string()));
    values.push(format!("{:.6}", row.all_cores_percent()));
    values
}

fn milliseconds(moments_s: &Moments) -> [String; 4] {
    let ms = moments_s.scaled(1e3);
    [ms.min, ms.max, ms.mean, ms.variance()].map(|value| format!("{value:.6}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::cli;
    use crate::row::documented_row;

    fn experiment(options: &str) -> Experiment {
        let line = format!("perf_test {options}");
        let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
        cli::resolve(&cli.options, cli::Defaults::Run).unwrap().experiment
    }

    /// Reads a log as its users' scripts do: header lines, marker, columns, rows.
    fn read(text: &str) -> (HashMap<String, String>, Vec<HashMap<String, String>>) {
        let (header, body) = text.split_once("\n\n---EXPERIMENT-START---\n").unwrap();
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap();
        let mut lines = body.lines();
        let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows = lines.map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            assert_eq!(values.len(), columns.len());
            columns.iter().map(|name| (*name).to_owned()).zip(values.iter().map(|value| (*value).to_owned())).collect()
        });
        (header.lines().map(pair).collect(), rows.collect())
    }

    #[test]
    fn a_log_reads_back_in_the_units_of_its_columns_after_every_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        std::fs::write(&path, "an older log ".repeat(1000)).unwrap();
        let mut log = CsvLog::create(&path, &experiment("-m Array4m -r 100"), "id").unwrap();
        for n in 0..3 {
            let (header, rows) = read(&std::fs::read_to_string(&path).unwrap());
            assert_eq!((header["Msg name"].as_str(), header["Publishing rate"].as_str()), ("Array4m", "100"));
            assert_eq!(rows.len(), n);
            log.row(&documented_row()).unwrap();
        }
        let (_, rows) = read(&std::fs::read_to_string(&path).unwrap());
        let row = &rows[2];
        assert_eq!(row["latency_mean (ms)"], "4.546000");
        assert_eq!(row["latency_variance (ms)"], "0.040000"); // (0.2 ms)²
        assert_eq!((row["received"].as_str(), row["sent"].as_str()), ("99", "100"));
        assert_eq!((row["ru_utime"].as_str(), row["ru_maxrss"].as_str()), ("23120954000", "65092"));
        assert_eq!(row["cpu_usage (%)"], "38.125000");
        assert!(!row.contains_key("pub_loop_res_min (ms)"));
    }

    #[test]
    fn the_columns_are_in_the_order_of_performance_test() {
        let expected = "T_experiment,T_loop,received,sent,lost,relative_loss,data_received,latency_min (ms),\
            latency_max (ms),latency_mean (ms),latency_variance (ms),ru_utime,ru_stime,ru_maxrss,ru_ixrss,ru_idrss,\
            ru_isrss,ru_minflt,ru_majflt,ru_nswap,ru_inblock,ru_oublock,ru_msgsnd,ru_msgrcv,ru_nsignals,ru_nvcsw,\
            ru_nivcsw,cpu_usage (%)";
        assert_eq!(columns(false).join(","), expected);
    }

    #[test]
    fn the_1_x_layout_adds_the_loop_reserves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let mut log = CsvLog::create(&path, &experiment("--message-layout 1.x"), "id").unwrap();
        log.row(&documented_row()).unwrap();
        let (header, rows) = read(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(header["Message size (bytes)"], "1040");
        assert_eq!(rows[0]["pub_loop_res_mean (ms)"], "8.057000");
        assert_eq!(rows[0]["sub_loop_res_max (ms)"], "0.000000");
    }
}
