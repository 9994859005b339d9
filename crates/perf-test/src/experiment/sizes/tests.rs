use super::*;
use crate::batch::{Shortfall, ShortfallKind};
use crate::figures::{RECEIVED, Values};
use crate::system::cpu;

fn run(options: &str) -> RunOptions {
    crate::cli::parse(format!("perf_test {options}").split_whitespace().map(Into::into)).unwrap().options
}

fn one(list: &str) -> Contestant {
    contestants(list).unwrap().remove(0)
}

fn names(options: &str, list: &str) -> Vec<String> {
    ways(&run(options), &one(list)).iter().map(Way::name).collect()
}

fn cell(p50_ns: f64) -> Cell {
    let figures = Values::known([(&P50, p50_ns), (&RECEIVED, 990.0)]);
    Cell { medians: Some(figures), due: Some(1000), ..Cell::default() }
}

fn cache(name: &str, kib: u64) -> Cache {
    Cache { name: name.to_owned(), bytes: kib * 1024 }
}

#[test]
fn every_way_is_measured_unless_an_option_chooses() {
    let all = ["inter-process, sync", "inter-process, async", "intra-process, sync", "intra-process, async"];
    assert_eq!(names("", "Gantry"), all);
    assert_eq!(names("--publishing async", "Gantry"), ["inter-process", "intra-process"]);
    assert_eq!(names("-e INTER_THREAD", "Gantry:publishing=sync"), ["intra-process"]);
    assert_eq!(names("", "Mock"), ["inter-process", "intra-process"]);
    let way = &ways(&run(""), &one("Gantry"))[3];
    let message = messages::find("Array1k", Default::default(), 0).unwrap();
    let kind = kind(&run(""), &one("Gantry"), way, &message);
    let spec = kind.spec.unwrap();
    assert_eq!((spec.strategy, spec.settings["publishing"].as_str()), (Strategy::InterThread, "async"));
    assert_eq!(kind.log.to_str(), Some("sizes/gantry/Array1k-intra-process-async"));
}

#[test]
fn the_messages_are_the_arrays_from_1_kb_to_8_mb() {
    let found: Vec<&str> = arrays(&run("")).map(|message| message.name).collect();
    assert_eq!((found.first(), found.last(), found.len()), (Some(&"Array1k"), Some(&"Array8m"), 11));
}

#[test]
fn the_table_has_the_caches_between_the_sizes_and_the_text_the_knee() {
    let caches = vec![cache("L1d", 32), cache("L2", 300), cache("L3", 32_768)];
    let messages: Vec<MessageChoice> = arrays(&run("")).collect();
    let latency = |bytes: usize| if bytes < 262_144 { 30e3 } else { 30e3 * bytes as f64 / 262_144.0 };
    let points = messages.iter().map(|message| Point::new(message, cell(latency(message.bytes)))).collect();
    let way = ways(&run("-e INTER_PROCESS"), &one("Mock")).remove(0);
    let series = Series::new("mock", &way, points, &caches);
    assert_eq!(series.nearest_cache, Some(cache("L2", 300)), "{:?}", series.knee);
    let sizes = Sizes { schema: SCHEMA, rounds: 1, rate_hz: 1000, caches, series: vec![series] };
    let text = sizes.tables()[0].lines().join("\n");
    for words in ["| received of 1000 |", "| 30.0 µs ", "| 990 ", "inter-process: knee at ", "cache is L2 with 300 KiB"]
    {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let first: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let place = |name: &str| first.iter().position(|cell| cell.trim() == name).unwrap();
    assert!(place("Array256k") < place("--- L2 ---") && place("--- L2 ---") < place("Array1m"), "{first:?}");
    assert!(place("--- L3 ---") > place("Array8m"), "{first:?}");
    assert!(sizes::draw(&sizes.charts()).unwrap().contains("inter-process"));
}

#[test]
fn a_refusal_is_a_cell_with_a_footnote() {
    let shortfall = Shortfall {
        contestant: "x".to_owned(),
        title: String::new(),
        log: String::new(),
        kind: ShortfallKind::Refused,
        sentence: "x has no threads".to_owned(),
    };
    let message = messages::find("Array1k", Default::default(), 0).unwrap();
    let point = || Point::new(&message, Cell { shortfall: Some(shortfall.clone()), ..Cell::default() });
    let way = ways(&run("-e INTER_PROCESS"), &one("Mock")).remove(0);
    let series = vec![Series::new("x", &way, vec![point()], &[]), Series::new("x", &way, vec![point()], &[])];
    let sizes = Sizes { schema: SCHEMA, rounds: 1, rate_hz: 1000, caches: Vec::new(), series };
    let text = sizes.tables()[0].markdown().join("\n");
    assert_eq!(
        (text.matches("| refused [1] |").count(), text.matches("[1] x has no threads").count()),
        (2, 1),
        "{text}"
    );
    assert!(!text.contains("knee"), "{text}");
}

#[test]
fn caches_for_instructions_are_no_lines() {
    let of = |level, kind: &str, size_kib| cpu::Cache { level, kind: kind.to_owned(), size_kib, count: 1 };
    let caches_of =
        Cpu { caches: vec![of(1, "Instruction", 64), of(1, "Data", 32), of(2, "Unified", 512)], ..Cpu::default() };
    assert_eq!(caches(&caches_of), [cache("L1d", 32), cache("L2", 512)]);
}
