//! Tests of the catalogue of figures, also with larger values than a real run can have.

use std::collections::BTreeSet;

use super::*;
use crate::{judge::requirement::Requirement, report::summary::tests::summary};

#[test]
fn every_compared_figure_has_its_name_in_requirements() {
    for figure in COMPARED {
        let bound = match figure.unit {
            Unit::Memory => "1KiB",
            Unit::Time => "1ns",
            _ => "1",
        };
        let requirement: Result<Requirement, String> = format!("{}<{bound}", figure.key).parse();
        assert!(requirement.is_ok(), "{requirement:?}");
    }
    let keys: BTreeSet<&str> = COMPARED.iter().map(|figure| figure.key).collect();
    assert!(keys.len() == COMPARED.len() && PRIMARY.iter().all(|primary| keys.contains(primary.key)));
}

#[test]
fn a_value_is_shown_with_the_unit_that_suits_it() {
    let shown = [(&P50, 1500.0), (&PEAK_MEMORY, 1536.0), (&THROUGHPUT, 4.194e6), (&THROUGHPUT, 419.4e6), (&CPU, 9.04)];
    let expected = ["1.5 µs", "1.5 MiB", "4.19 MB/s", "419 MB/s", "9.0"];
    assert_eq!(shown.map(|(figure, value)| figure.show(value)), expected);
    assert_eq!([0.0, 0.01234, 1.234].map(|value| LATE.show(value)), ["0 %", "0.0123 %", "1.23 %"]);
    let interval = Interval { low: 900.0, high: 1500.0, ..Interval::from_values(vec![1000.0]).unwrap() };
    assert_eq!(P50.show_median(&interval), "1.0 µs (900 ns to 1.5 µs)");
    assert_eq!(P50.show_interval(&interval).as_deref(), Some("[900 ns, 1.5 µs]"));
    let alike = Interval { low: 1100.0, ..interval };
    assert_eq!(P50.show_interval(&alike).as_deref(), Some("[1.1, 1.5 µs]"));
}

#[test]
fn several_runs_have_medians_and_sums_of_losses_and_copies() {
    let values = |p50_ns: f64, lost: f64| Values::known([(&P50, p50_ns), (&LOST, lost), (&COPIED, 1.0)]);
    let runs = [values(10.0, 1.0), values(20.0, 2.0), values(90.0, 4.0)];
    let together = Values::together(&runs.each_ref()).unwrap();
    assert_eq!(
        [&P50, &LOST, &COPIED, &P99].map(|figure| together.get(figure)),
        [Some(20.0), Some(7.0), Some(3.0), None]
    );
    assert_eq!(Values::together(&[]), None);
    let json = serde_json::to_value(&together).unwrap();
    assert_eq!((&json["p50_ns"], &json["lost"], &json["p99_ns"]), (&20.0.into(), &7.into(), &serde_json::Value::Null));
}

#[test]
fn numbers_that_no_run_has_are_sums_nevertheless() {
    let mut run = summary("", 1000);
    (run.total.sent.copied, run.total.received.copied, run.lost) = (u64::MAX, 1, u64::MAX);
    let values = Values::from_run(&run);
    let of_two = Values::together(&[&values, &values]).unwrap();
    let json = serde_json::to_value(&of_two).unwrap();
    assert_eq!((&json["lost"], &json["copied"]), (&u64::MAX.into(), &u64::MAX.into()));
}
