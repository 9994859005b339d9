use super::*;
use crate::experiments::batch::{Shortfall, ShortfallKind};
use crate::log::figures::{CPU_PER_MESSAGE, LOST, P50, P99, PEAK_MEMORY, PSS, Values};

/// The results of a contestant with these median latencies in its rounds.
fn row(contestant: &str, p50s_ns: &[Option<f64>]) -> RunResults {
    let figures = |p50_ns: f64| {
        let [tail, cpu] = [(&P99, 4.0 * p50_ns), (&CPU_PER_MESSAGE, 2.0 * p50_ns)];
        Values::known([(&P50, p50_ns), tail, cpu, (&PEAK_MEMORY, 1024.0)])
    };
    let rounds: Vec<Option<Values>> = p50s_ns.iter().map(|p50_ns| p50_ns.map(figures)).collect();
    RunResults {
        contestant: contestant.to_owned(),
        wait: "block".to_owned(),
        medians: Values::together(&rounds.iter().flatten().collect::<Vec<_>>()),
        rounds,
        path: "copied",
        ..RunResults::default()
    }
}

fn versus(rows: Vec<RunResults>) -> Versus {
    let rounds = rows[0].rounds.len() as u32;
    let case = cases(&crate::cli::RunOptions::default()).remove(0);
    let cases = vec![CaseResults { case, rows }];
    let ratios = ratios(&cases);
    Versus { rounds, cases, ratios }
}

fn six(p50_ns: f64) -> [Option<f64>; 6] {
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|drift| Some(p50_ns * drift))
}

fn lines(rows: Vec<RunResults>) -> Vec<String> {
    versus(rows).ratios.iter().map(ToString::to_string).collect()
}

#[test]
fn a_ratio_says_as_plainly_where_the_base_loses_as_where_it_wins() {
    // The machine's speed changes by a factor of 6 over the rounds, but the ratio is the same in each round.
    let found = lines(vec![row("gantry", &six(10.0)), row("slow", &six(20.0)), row("fast", &six(8.0))]);
    let expected = [
        "ratio gantry/slow-4MB-latency 0.500 [0.500, 0.500] gantry is better",
        "ratio gantry/slow-4MB-p99 0.500 [0.500, 0.500] gantry is better",
        "ratio gantry/slow-4MB-cpu 0.500 [0.500, 0.500] gantry is better",
        "ratio gantry/slow-rss 1.000 [1.000, 1.000] no difference shown",
        "ratio gantry/fast-4MB-latency 1.250 [1.250, 1.250] gantry is worse",
        "ratio gantry/fast-4MB-p99 1.250 [1.250, 1.250] gantry is worse",
        "ratio gantry/fast-4MB-cpu 1.250 [1.250, 1.250] gantry is worse",
        "ratio gantry/fast-rss 1.000 [1.000, 1.000] no difference shown",
    ];
    assert_eq!(found, expected);
}

#[test]
fn defaults_are_compared_with_defaults_and_one_form_with_both() {
    let names = ["gantry", "gantry:best", "zenoh", "zenoh:best", "udp"];
    let found = lines(names.map(|name| row(name, &six(10.0))).into());
    let pairs: Vec<&str> =
        found.iter().filter_map(|line| line.strip_prefix("ratio ")?.split_once("-rss")).map(|(pair, _)| pair).collect();
    assert_eq!(pairs, ["gantry/zenoh", "gantry:best/zenoh:best", "gantry/udp", "gantry:best/udp"]);
    let raw = ["gantry", "gantry:raw", "zenoh", "zenoh:raw", "zenoh:best"].map(|name| row(name, &six(10.0)));
    let found = lines(raw.into());
    let latencies: Vec<&String> = found.iter().filter(|line| line.contains("latency")).collect();
    assert_eq!(latencies.len(), 4, "{found:?}");
    assert!(latencies[1].starts_with("ratio gantry:raw/zenoh:raw-"), "{found:?}");
    // Without Gantry, the first contestant is the base. If all contestants are the same middleware, they are compared
    // with the first one.
    assert!(lines(vec![row("zenoh", &six(1.0)), row("udp", &six(1.0))])[0].starts_with("ratio zenoh/udp-4MB-latency"));
    let forms = lines(vec![row("gantry", &six(1.0)), row("gantry:best", &six(1.0))]);
    assert!(forms[0].starts_with("ratio gantry/gantry:best-4MB-latency"), "{forms:?}");
}

#[test]
fn a_round_without_figures_leaves_the_other_rounds() {
    let with_gap = [Some(20.0), None, Some(60.0)];
    let found = lines(vec![row("gantry", &[Some(10.0), Some(1e9), Some(30.0)]), row("zenoh", &with_gap)]);
    assert_eq!(found[0], "ratio gantry/zenoh-4MB-latency 0.500 [0.500, 0.500] too few rounds to say");
    let one = lines(vec![row("gantry", &[Some(10.0)]), row("zenoh", &[Some(20.0)])]);
    assert_eq!(one[0], "ratio gantry/zenoh-4MB-latency 0.500 (one round has no interval)");
    assert!(lines(vec![row("gantry", &[Some(10.0)]), row("zenoh", &[None])]).is_empty());
}

#[test]
fn a_contestant_without_figures_is_a_row_in_tables_and_picture() {
    let shortfall = Shortfall {
        contestant: "zenoh".to_owned(),
        title: String::new(),
        log: String::new(),
        kind: ShortfallKind::Hung,
        sentence: "publisher 0 did not finish within 10 s".to_owned(),
    };
    let silent = RunResults { shortfall: Some(shortfall.clone()), ..row("zenoh", &[None; 6]) };
    let mut rounds = six(20.0);
    rounds[..2].fill(None);
    let seldom = RunResults { shortfall: Some(shortfall), ..row("ecal", &rounds) };
    let versus = versus(vec![row("gantry", &six(10.0)), silent, seldom]);
    let text = versus.file().lines().join("\n");
    for words in [
        "medians of 6 rounds",
        "gantry / contestant",
        "| zenoh      | copied | block | hung [1]           |                      |      |",
        "[1] publisher 0 did not finish within 10 s",
        "ecal: 2 runs have no figures; it hung: publisher 0 did not finish within 10 s",
        "with 87.5 % or more; 6 rounds or more make it 95 %.",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    let markdown = versus.file().markdown("Contestants");
    assert!(
        markdown.contains("| zenoh | copied | block | hung [1] |") && markdown.contains("- ecal: 2 runs"),
        "{markdown}"
    );
    let picture = dots::draw(&versus.panels()).unwrap();
    assert!(
        ["gantry", "zenoh", "hung", "4MB: median latency"].iter().all(|words| picture.contains(words)),
        "{picture}"
    );
}

#[test]
fn a_baseline_is_marked_and_no_line_ranks_it() {
    let found = versus(vec![row("memcpy", &six(1.0)), row("zenoh", &six(20.0)), row("ecal:best", &six(10.0))]);
    let text = found.file().lines().join("\n");
    assert!(text.contains("| memcpy (baseline) | copied |") && text.contains("| zenoh / contestant |"), "{text}");
    let lines: Vec<String> = found.ratios.iter().map(ToString::to_string).collect();
    assert_eq!(lines[0], "ratio zenoh/memcpy-4MB-latency 20.000 [20.000, 20.000] (a baseline is no middleware)");
    assert!(lines.iter().any(|line| line.contains("zenoh is worse")), "{lines:?}");
    let picture = dots::draw(&found.panels()).unwrap();
    assert!(picture.contains("memcpy (baseline)"));
}

#[test]
fn the_number_of_ratios_is_said_with_what_a_correction_needs() {
    let rows = ["gantry", "zenoh", "ecal", "iceoryx"].map(|name| row(name, &six(10.0)));
    let text = versus(rows.into()).file().lines().join("\n");
    let words = "If none of these 12 ratios differed, 0.4 of them would still be shown as different, on average. There is \
        no correction for their number, unlike in `perf_test compare logs` (Holm's): with it, fewer than 9 rounds show no \
        difference.";
    assert!(text.contains(words), "{text}");
    let one = versus(vec![row("gantry", &[Some(1.0)]), row("zenoh", &[Some(1.0)])]).file().lines().join("\n");
    assert!(!one.contains("by chance"), "{one}");
}

#[test]
fn tail_losses_and_pss_stand_beside_the_medians_with_the_range_of_the_rounds() {
    let figures = |factor: f64| {
        let figures = [(&P50, 1e4), (&P99, 2e4), (&CPU_PER_MESSAGE, 3e4), (&PEAK_MEMORY, 2048.0), (&PSS, 1024.0)];
        Values::known(figures.map(|(figure, value)| (figure, value * factor)).into_iter().chain([(&LOST, 7.0)]))
    };
    let rounds: Vec<Option<Values>> = [1.0, 2.0, 4.0].map(|factor| Some(figures(factor))).into();
    let medians = Values::together(&rounds.iter().flatten().collect::<Vec<_>>());
    let found = versus(vec![RunResults { medians, rounds, ..row("gantry", &[]) }]);
    let file = found.file();
    let cell = |table: usize, heading: &str| {
        let rows = &file.tables[table].rows;
        rows[1][rows[0].iter().position(|head| head == heading).unwrap()].clone()
    };
    assert_eq!(cell(0, "p50"), "20.0 µs [10.0, 40.0 µs]");
    assert_eq!(cell(0, "p99"), "40.0 µs [20.0, 80.0 µs]");
    assert_eq!(cell(0, "lost"), "21");
    assert_eq!(cell(1, "CPU/message"), "60.0 µs [30.0, 120.0 µs]");
    assert_eq!([cell(1, "memory"), cell(1, "PSS")], ["4.0 MiB [2.0, 8.0 MiB]", "2.0 MiB [1.0, 4.0 MiB]"]);
    assert_eq!(serde_json::to_value(&file.runs[0]).unwrap()["medians"]["pss_kib"], 2048.0);
    assert!(file.lines().iter().any(|line| line.contains("The interval in brackets")));
}

#[test]
fn the_cases_are_two_or_the_one_that_is_named() {
    let names = |options: &str| -> Vec<(String, Option<u32>)> {
        let line = format!("perf_test {options}");
        let options = crate::cli::parse(line.split_whitespace().map(Into::into)).unwrap().options;
        cases(&options).into_iter().map(|case| (case.name, case.options.time.rate)).collect()
    };
    let case = |name: &str, rate_hz| (name.to_owned(), Some(rate_hz));
    assert_eq!(names(""), [case("4MB", 100), case("256B", 2000)]);
    assert_eq!(names("-m array256"), [case("256B", 2000)]);
    assert_eq!(names("-r 100"), [case("4MB", 100)]);
    assert_eq!(names("-m Array64k -r 500"), [case("Array64k", 500)]);
    assert_eq!(names("-m UnboundedSequence --unbounded-msg-size 70"), [case("UnboundedSequence70", 100)]);
}

#[test]
fn options_of_single_runs_are_refused_with_the_alternative() {
    for (options, words) in [
        ("--runs 3", "give --rounds"),
        ("-o csv", "give --results DIR"),
        ("--full-logfile a.json", "give --results DIR"),
        ("--require lost=0", "--require applies to single runs"),
        ("--max-runtime 0", "give --max-runtime 1"),
        ("-s 0", "-p and -s of at least 1"),
    ] {
        let line = format!("perf_test {options}");
        let options = crate::cli::parse(line.split_whitespace().map(Into::into)).unwrap().options;
        let sentence = refuse(&options, "compare middlewares").err().unwrap_or_default();
        assert!(sentence.contains(words), "{words}: {sentence}");
    }
}

#[test]
fn a_contestant_beside_two_forms_of_the_base_has_both_ratios() {
    let found = versus(vec![row("gantry", &six(10.0)), row("gantry:best", &six(5.0)), row("udp", &six(20.0))]);
    let text = found.file().lines().join("\n");
    for words in
        ["gantry / contestant", "| udp (baseline)      | 0.500", "gantry:best / contestant", "| 0.250 [0.250, 0.250] |"]
    {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}
