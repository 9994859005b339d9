//! Runs without and with zero copy, of several contestants or with a folder of results (`perf_test experiment
//! zero-copy`).

use serde::Serialize;

use super::{Cell, Footnotes, Kind, Results, Table, at_rate, folder, notes_of, of_rounds, run_rounds};
use crate::{
    batch::{Batch, Contestant, contestants, file_name, refuse, with_defaults},
    cli::{self, OutputOptions, RunOptions, ZeroCopyOptions, check_shared},
    error::Failure,
    figures::{CPU_PER_MESSAGE, Figure, LOST, MEAN, P50, P99, PEAK_MEMORY, RECEIVED, USAGE},
    interrupt::Interrupt,
    measure::{interval::Interval, ranks::ratio},
    messages,
    report::outputs::Outputs,
};
use perf_worker::run_spec::RunSpec;

/// The format of `zero-copy.json`.
const SCHEMA: &str = "gantry.perf_test.zero-copy/1";
/// The message, its rate, and the seconds of warm-up and of measurement.
const MESSAGE: &str = "Array4m";
const RATE_HZ: u32 = 100;
const WARMUP_S: u32 = 0;
const MEASURED_S: u32 = 30;
/// The figures of the table.
static FIGURES: [&Figure; 6] = [&P50, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &RECEIVED, &LOST];

/// The results; serialises as `zero-copy.json`.
#[derive(Debug, Serialize)]
struct ZeroCopy {
    schema: &'static str,
    rounds: u32,
    message: String,
    rate_hz: u32,
    contestants: Vec<Pair>,
}

/// The results of one contestant.
#[derive(Debug, Serialize)]
struct Pair {
    /// The contestant as it is spelt.
    contestant: String,
    copy: Cell,
    zero_copy: Cell,
    /// The medians of the latency with zero copy divided by those without, within rounds; null if no round has both, or
    /// if the settings of the middleware differ.
    latency_ratio: Option<Interval>,
    /// The same of the CPU time for each message.
    cpu_ratio: Option<Interval>,
}

/// Measures; without a folder of results the figures are kept in no file.
///
/// # Errors
/// [`Failure::Usage`]: an option does not apply, or a contestant or the message is unknown.
pub fn measure(options: &ZeroCopyOptions) -> Result<Results, Failure> {
    let mut run = with_defaults(&options.run, WARMUP_S, MEASURED_S);
    let rounds = run.time.runs.take().unwrap_or(1);
    let outputs = match options.results {
        None => cli::outputs_of_several(&run)?,
        Some(_) => Outputs::default(),
    };
    if options.results.is_none() {
        run.output = OutputOptions::default();
    }
    refuse(&run, "experiment zero-copy").map_err(Failure::Usage)?;
    check_shared(&run)?;
    if run.messages.zero_copy {
        let sentence = "`experiment zero-copy` does runs with and without zero copy: leave out --zero-copy";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let list = run.endpoints.communicator.take();
    let contestants = contestants(list.as_deref().unwrap_or("Gantry")).map_err(Failure::Usage)?;
    let layout = run.messages.message_layout.unwrap_or_default();
    let unbounded_bytes = run.messages.unbounded_msg_size.unwrap_or(0) as usize;
    let (name, rate_hz) = complete(&mut run);
    let message = messages::find(&name, layout, unbounded_bytes).map_err(Failure::Usage)?;
    let batch = Batch::open(options.results.clone(), options.again, Interrupt::install()?)?;
    let of_one = |contestant: &Contestant| match contestants.len() {
        1 => outputs.clone(),
        _ => outputs.named(&file_name(&contestant.label)),
    };
    let kinds: Vec<Kind> =
        contestants.iter().flat_map(|contestant| kinds(&run, contestant, &of_one(contestant))).collect();
    let (cells, end) = run_rounds(&batch, &kinds, rounds)?;
    let mut cells = cells.into_iter();
    let pairs = contestants.iter().filter_map(|one| Some(Pair::new(&one.label, cells.next()?, cells.next()?)));
    let contestants = pairs.collect();
    let found = ZeroCopy { schema: SCHEMA, rounds, message: message.name.to_owned(), rate_hz, contestants };
    let results = Results { heading: "Zero copy", tables: vec![found.table(), found.usage()], end };
    results.write(&batch, "zero-copy", &found)?;
    Ok(results)
}

impl ZeroCopy {
    fn table(&self) -> Table {
        let title = format!("{} without and with zero copy{}", self.message, at_rate(self.rate_hz, self.rounds));
        Table::new(title, self.sentences(), |notes| self.rows(&FIGURES, Some("path"), |cell| shown(cell, notes)))
    }

    /// The usage of the workers, in the columns of performance_test.
    fn usage(&self) -> Table {
        let title = format!("result analysis{}", of_rounds(self.rounds));
        let note = "All workers since each started, without the instrument's own threads.".to_owned();
        let figures: Vec<&Figure> = [&MEAN].into_iter().chain(&USAGE).collect();
        let shown = |cell: &Cell, notes: &mut Footnotes| cell.row(notes, &figures);
        Table::new(title, vec![note], |notes| self.rows(&figures, None, |cell| shown(cell, notes)))
    }

    /// A row for each run of each contestant.
    fn rows(
        &self,
        figures: &[&Figure],
        last: Option<&str>,
        mut shown: impl FnMut(&Cell) -> Vec<String>,
    ) -> Vec<Vec<String>> {
        let columns = figures.iter().map(|figure| figure.column);
        let header = ["contestant", "Communication Method"].into_iter().chain(columns).chain(last);
        let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).collect()];
        for pair in &self.contestants {
            for (method, cell) in [("Non-\"zero-copy\"", &pair.copy), ("\"zero-copy\"", &pair.zero_copy)] {
                rows.push([pair.contestant.clone(), method.to_owned()].into_iter().chain(shown(cell)).collect());
            }
        }
        rows
    }

    /// The ratios, conditions and notes of each contestant.
    fn sentences(&self) -> Vec<String> {
        let of_pair = |pair: &Pair| {
            let notes = notes_of(&pair.contestant, [&pair.copy, &pair.zero_copy].into_iter());
            pair.ratios().into_iter().chain(pair.conditions()).chain(notes).collect::<Vec<_>>()
        };
        self.contestants.iter().flat_map(of_pair).collect()
    }
}

impl Pair {
    fn new(contestant: &str, copy: Cell, zero_copy: Cell) -> Pair {
        let ratios = |figure: &Figure| {
            let both = copy.rounds.iter().zip(&zero_copy.rounds).filter_map(|(copy, zero_copy)| {
                Some(ratio(copy.as_ref()?.get(figure)?, zero_copy.as_ref()?.get(figure)?))
            });
            Interval::of(both.collect())
        };
        // With other settings, more than zero copy makes the difference.
        let is_fair = copy.settings == zero_copy.settings;
        let ratios = |figure: &Figure| if is_fair { ratios(figure) } else { None };
        let (latency_ratio, cpu_ratio) = (ratios(&P50), ratios(&CPU_PER_MESSAGE));
        Pair { contestant: contestant.to_owned(), copy, zero_copy, latency_ratio, cpu_ratio }
    }

    fn ratios(&self) -> Option<String> {
        self.copy.medians.as_ref().and(self.zero_copy.medians.as_ref())?;
        if self.copy.settings != self.zero_copy.settings {
            let one = &self.contestant;
            return Some(format!(
                "{one}: no ratio, because it has zero copy with its best settings only; see {one}:best"
            ));
        }
        let (latency, cpu) = (text(self.latency_ratio.as_ref()?), text(self.cpu_ratio.as_ref()?));
        Some(format!("{}: zero copy / copy: p50 {latency}, CPU/message {cpu}", self.contestant))
    }

    fn conditions(&self) -> Vec<String> {
        let measured = [&self.copy, &self.zero_copy].into_iter().filter(|cell| cell.medians.is_some());
        measured.map(|cell| format!("{}: {}", self.contestant, cell.conditions(""))).collect()
    }
}

/// A ratio with its interval; that of a single round has none.
fn text(found: &Interval) -> String {
    let Interval { n, median, low, high, confidence } = *found;
    if n == 1 {
        return format!("{median:.3}");
    }
    format!("{median:.3} [{low:.3}, {high:.3}] with {:.1} %", 100.0 * confidence)
}

/// The cells of a row after its contestant and its method.
fn shown(cell: &Cell, notes: &mut Footnotes) -> Vec<String> {
    let mut row = cell.row(notes, &FIGURES);
    let Some(medians) = &cell.medians else { return row };
    let path = match (cell.zero_copy, medians.copied()) {
        (false, _) => "copied".to_owned(),
        (true, 0) => "loaned".to_owned(),
        (true, copied) => format!("{copied} copied"),
    };
    row.push(path);
    row
}

/// Completes the options by the message and the rate, and returns both.
fn complete(run: &mut RunOptions) -> (String, u32) {
    let name = run.messages.msg.get_or_insert_with(|| MESSAGE.to_owned());
    (name.clone(), *run.time.rate.get_or_insert(RATE_HZ))
}

/// The run without and the run with zero copy.
fn kinds(run: &RunOptions, contestant: &Contestant, outputs: &Outputs) -> [Kind; 2] {
    let label = &contestant.label;
    let kind = |mode: &str, name: &str, spec: Result<RunSpec, String>| Kind {
        contestant: label.clone(),
        title: format!("{label} {mode} zero copy"),
        log: folder("zero-copy", label).join(name),
        spec,
        outputs: outputs.named(name),
    };
    let with = |spec: RunSpec, zero_copy: bool| {
        let is_there = spec.zero_copy == zero_copy;
        if is_there { Ok(spec) } else { cli::with_zero_copy(&spec, zero_copy).map_err(|failure| failure.to_string()) }
    };
    let own = contestant.spec(run);
    let copy = own.clone().and_then(|spec| with(spec, false));
    let zero_copy = own.and_then(|spec| with(spec, true));
    // Some middlewares loan messages with their best settings only.
    let zero_copy = zero_copy.or_else(|_| contestant.at_best().spec(run).and_then(|spec| with(spec, true)));
    [kind("without", "copy", copy), kind("with", "zero-copy", zero_copy)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_differs_in_zero_copy_alone() {
        let line = "perf_test -m Array4m".split_whitespace();
        let run = with_defaults(&cli::parse(line.map(Into::into)).unwrap().options, WARMUP_S, MEASURED_S);
        for list in ["Gantry", "Gantry:best", "Gantry:zero-copy", "Mock"] {
            let [copy, zero_copy] =
                kinds(&run, &contestants(list).unwrap()[0], &Outputs::default()).map(|kind| kind.spec.unwrap());
            assert!(!copy.zero_copy && zero_copy.zero_copy, "{list}");
            assert_eq!(RunSpec { zero_copy: true, ..copy.clone() }, zero_copy, "{list}");
            assert_eq!((copy.qos.to_string().as_str(), copy.max_runtime_s), ("RELIABLE, VOLATILE, KEEP_LAST 10", 30));
        }
        // The runs of the experiment without options are those of the zero-copy documentation.
        let line = "perf_test --reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100 --max-runtime 30";
        let documented = cli::resolve(&cli::parse(line.split_whitespace().map(Into::into)).unwrap().options).unwrap();
        let mut run = with_defaults(&RunOptions::default(), WARMUP_S, MEASURED_S);
        complete(&mut run);
        let [copy, _] = kinds(&run, &contestants("Gantry").unwrap()[0], &Outputs::default());
        assert_eq!(copy.spec.unwrap(), documented.spec);
    }

    #[test]
    fn a_contestant_without_one_of_both_ways_is_a_row_that_says_so() {
        let refusal = "mock has no --zero-copy".to_owned();
        let shortfall = crate::batch::Shortfall {
            contestant: "mock".to_owned(),
            title: String::new(),
            log: String::new(),
            kind: crate::batch::ShortfallKind::Refused,
            sentence: refusal.clone(),
        };
        let figures = crate::figures::Values::known([(&P50, 4e6), (&crate::figures::COPIED, 3.0)]);
        let copy = Cell { medians: Some(figures.clone()), rounds: vec![Some(figures)], ..Cell::default() };
        let pair = Pair::new("mock", copy, Cell { shortfall: Some(shortfall), ..Cell::default() });
        assert!(pair.latency_ratio.is_none());
        let message = MESSAGE.to_owned();
        let found = ZeroCopy { schema: SCHEMA, rounds: 1, message, rate_hz: 100, contestants: vec![pair] };
        let text = found.table().markdown().join("\n");
        for words in ["| mock | Non-\"zero-copy\" | 4.00 ms |", "| mock | \"zero-copy\" | refused [1] |", &refusal] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
    }
}
