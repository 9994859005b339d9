//! Latency and CPU time of all message types (`perf_test experiment types`).

use serde::Serialize;

use super::{Cell, Footnotes, Kind, Results, Table, at_rate, folder, messages_of, notes_of, run_rounds, with_message};
use crate::{
    batch::{Batch, Contestant, contestants, refuse, with_defaults},
    cli::{ExperimentOptions, RunOptions, check_shared},
    error::Failure,
    figures::{CPU_PER_MESSAGE, P50},
    interrupt::Interrupt,
    messages::{self, MessageChoice},
    report::outputs::Outputs,
};

/// The format of `types.json`.
const SCHEMA: &str = "gantry.perf_test.types/1";
/// Messages per second, and seconds of warm-up and of measurement.
const RATE_HZ: u32 = 100;
const WARMUP_S: u32 = 1;
const MEASURED_S: u32 = 1;

/// The results; serialises as `types.json`.
#[derive(Debug, Serialize)]
struct Types {
    schema: &'static str,
    rounds: u32,
    rate_hz: u32,
    /// The contestants as they are spelt, in the order of the cells.
    contestants: Vec<String>,
    types: Vec<Row>,
}

/// The results of one message type.
#[derive(Debug, Serialize)]
struct Row {
    message: String,
    type_name: String,
    /// The bytes of its body as it is sent.
    message_bytes: usize,
    /// For each contestant.
    cells: Vec<Cell>,
}

/// Measures; without a folder of results the figures are kept in no file.
///
/// # Errors
/// [`Failure::Usage`]: an option does not apply, or a contestant or a message is unknown.
pub fn measure(options: &ExperimentOptions) -> Result<Results, Failure> {
    let run = &options.run;
    refuse(run, "experiment types").map_err(Failure::Usage)?;
    check_shared(run)?;
    let list = run.endpoints.communicator.as_deref().unwrap_or("Gantry");
    let contestants = contestants(list).map_err(Failure::Usage)?;
    let layout = run.messages.message_layout.unwrap_or_default();
    let unbounded_bytes = run.messages.unbounded_msg_size.unwrap_or(0) as usize;
    let messages = messages_of(run, messages::list(layout, unbounded_bytes)).map_err(Failure::Usage)?;
    let mut run = with_defaults(run, WARMUP_S, MEASURED_S);
    run.time.rate = run.time.rate.or(Some(RATE_HZ));
    let batch = Batch::open(options.batch.results.clone(), options.batch.again, Interrupt::install()?)?;
    let (runs, named) = (&run, &contestants);
    let kinds = messages.iter().flat_map(|message| named.iter().map(move |one| kind(runs, one, message)));
    let (cells, end) = run_rounds(&batch, &kinds.collect::<Vec<_>>(), options.batch.rounds)?;
    let mut cells = cells.into_iter();
    let row = |message: &MessageChoice| Row {
        message: message.name.to_owned(),
        type_name: message.type_name.to_owned(),
        message_bytes: message.bytes,
        cells: cells.by_ref().take(contestants.len()).collect(),
    };
    let found = Types {
        schema: SCHEMA,
        rounds: options.batch.rounds,
        rate_hz: run.time.rate.unwrap_or(RATE_HZ),
        contestants: contestants.iter().map(|contestant| contestant.label.clone()).collect(),
        types: messages.iter().map(row).collect(),
    };
    let results = Results { heading: "Message types", tables: vec![found.table()], end };
    results.write(&batch, "types", &found)?;
    Ok(results)
}

impl Types {
    fn table(&self) -> Table {
        let title = format!("p50 of the latency and CPU time for each message{}", at_rate(self.rate_hz, self.rounds));
        Table::new(title, self.conditions(), |notes| self.rows(notes))
    }

    fn rows(&self, notes: &mut Footnotes) -> Vec<Vec<String>> {
        let of_contestants =
            self.contestants.iter().flat_map(|name| [format!("{name} p50"), CPU_PER_MESSAGE.column.to_owned()]);
        let header = ["message".to_owned(), "bytes".to_owned()].into_iter().chain(of_contestants).collect();
        let mut rows: Vec<Vec<String>> = vec![header];
        for row in &self.types {
            let cells = row.cells.iter().flat_map(|cell| {
                let cpu = cell.medians.as_ref().map(|medians| medians.show(&CPU_PER_MESSAGE));
                [cell.show(notes, &P50), cpu.unwrap_or_default()]
            });
            rows.push([row.message.clone(), row.message_bytes.to_string()].into_iter().chain(cells).collect());
        }
        rows
    }

    /// The conditions of each contestant, and the notes on its runs.
    fn conditions(&self) -> Vec<String> {
        let of_one = |(place, name): (usize, &String)| {
            let cells = self.types.iter().filter_map(|row| row.cells.get(place));
            let first = cells.clone().find(|cell| cell.medians.is_some());
            let conditions = first.map(|cell| format!("{name}: {}", cell.conditions("")));
            conditions.into_iter().chain(notes_of(name, cells)).collect::<Vec<_>>()
        };
        self.contestants.iter().enumerate().flat_map(of_one).collect()
    }
}

fn kind(run: &RunOptions, contestant: &Contestant, message: &MessageChoice) -> Kind {
    let (label, name) = (&contestant.label, message.name);
    Kind {
        contestant: label.clone(),
        title: format!("{label} {name}"),
        log: folder("types", label).join(name),
        outputs: Outputs::default(),
        spec: contestant.spec(&with_message(run, message)),
    }
}
