//! The outputs that the options describe. A log without a name gets a name here.

use std::path::{Path, PathBuf};

use crate::cli::options::{Output, OutputOptions};
use crate::report::outputs::{FULL_LOG_SUFFIX, Outputs};

/// The outputs that these options describe.
pub fn outputs(options: &OutputOptions, disable_logging: bool, topic: &str) -> Result<Outputs, String> {
    let asked = |output| options.output.contains(&output);
    if asked(Output::None) && (options.output.iter().any(|output| *output != Output::None) || options.print_to_console)
    {
        return Err("-o none contradicts another output: give one of them".to_owned());
    }
    if disable_logging && (asked(Output::Stdout) || options.print_to_console) {
        return Err("--disable-logging prints nothing and contradicts -o stdout: give one of them".to_owned());
    }
    let (mut csv, mut json, mut full) =
        (options.csv_logfile.clone(), options.json_logfile.clone(), options.full_logfile.clone());
    if let Some(path) = &options.logfile {
        let (log, option) = match suffix(path).as_str() {
            // A log without a suffix is CSV, as with `-l` in performance_test 1.x.
            "csv" | "" => (&mut csv, "--csv-logfile"),
            "json" => (&mut json, "--json-logfile"),
            _ => {
                return Err(format!(
                    "--logfile {} names no log format: its name must end in .csv or .json",
                    path.display()
                ));
            }
        };
        if log.as_ref().is_some_and(|other| other != path) {
            return Err(format!("--logfile {} contradicts {option}: give one of them", path.display()));
        }
        *log = Some(path.clone());
    }
    if options.plot && full.is_none() {
        full = csv.as_ref().or(json.as_ref()).map(|path| path.with_extension(FULL_LOG_SUFFIX));
    }
    let mut log_named_here = false;
    for (is_asked, log, suffix) in [
        (asked(Output::Csv), &mut csv, "csv"),
        (asked(Output::Json), &mut json, "json"),
        (asked(Output::Full) || options.plot, &mut full, FULL_LOG_SUFFIX),
    ] {
        if is_asked && log.is_none() {
            *log = Some(default_name(topic, suffix));
            log_named_here = true;
        }
    }
    let logs = [("--csv-logfile", &csv), ("--json-logfile", &json), ("--full-logfile", &full)];
    let logs: Vec<(&str, &PathBuf)> = logs.iter().filter_map(|(option, log)| Some((*option, log.as_ref()?))).collect();
    each_has_its_own_file(&logs)?;
    let is_default = options.output.is_empty() && !disable_logging;
    let console = is_default || asked(Output::Stdout) || options.print_to_console;
    let tables = options.tables.unwrap_or_default();
    Ok(Outputs { console, tables, csv, json, full, plot: options.plot, log_named_here })
}

fn each_has_its_own_file(logs: &[(&str, &PathBuf)]) -> Result<(), String> {
    for (i, (option, path)) in logs.iter().enumerate() {
        let same = logs.iter().skip(i + 1).find(|(_, other)| location(other) == location(path));
        if let Some((other_option, other)) = same {
            let (path, other) = (path.display(), other.display());
            return Err(format!("{option} {path} and {other_option} {other} name the same file: give different names"));
        }
    }
    Ok(())
}

/// The absolute path of a file without symbolic links, so that all spellings of one path are equal. If neither the file
/// nor its folder exists, the path as it is.
fn location(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = path.canonicalize();
    there
        .or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
        .unwrap_or_else(|_: std::io::Error| path.to_owned())
}

fn suffix(path: &Path) -> String {
    path.extension().map(|suffix| suffix.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A file name in the current folder. The name contains the time in seconds and so differs from the names of earlier
/// runs.
fn default_name(topic: &str, suffix: &str) -> PathBuf {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let topic: String = topic.chars().map(|c| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    PathBuf::from(format!("{}_{}.{suffix}", topic.trim_matches('_'), since_epoch.as_secs()))
}
