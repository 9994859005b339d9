//! Tests of requirements on runs with known figures.

use super::*;
use crate::common::warning::Warning;
use crate::report::summary::tests::{summary, times};

fn verdict(text: &str, run: &Summary) -> (bool, String) {
    let verdict = text.parse::<Requirement>().unwrap_or_else(|sentence| panic!("{text}: {sentence}")).judge(run);
    (verdict.met, verdict.to_string())
}

/// A run of 3000 samples, each with a latency of 1 ms.
fn run() -> Summary {
    let mut run = summary("", 1_000_000);
    run.lost = 12;
    let received = &mut run.total.received;
    (received.late, received.too_late, received.duplicates, received.reordered) = (30, 3, 2, 1);
    run.total.send_lateness = times(1, 2_000_000);
    run.total.response = times(3000, 3_000_000);
    run.warnings = vec![Warning::new(WarningKind::Load, "other programs used the CPUs", "")];
    run
}

#[test]
fn every_metric_is_compared_in_its_unit() {
    let run = run();
    let warnings = run.warnings.len();
    let [warnings, doubts] =
        ["warnings", "doubts"].map(|name| [format!("{name}={warnings}"), format!("{name}>{warnings}")]);
    for (met, not_met) in [
        ("min>=1ms", "min>1.001ms"),
        ("mean<1100us", "mean<900us"),
        ("p50<1.1ms", "p50<0.9ms"),
        ("p90 < 1.1 ms", "p90 < 900 µs"),
        ("latency.p99<0.01s", "latency.p99<500us"),
        ("max<=1000000ns", "max<999999ns"),
        ("response.mean=3ms", "response.max<2ms"),
        ("lateness.max<3ms", "lateness.mean<1ms"),
        ("lost<=12", "lost=0"),
        ("lost%<0.4", "lost%<0.39%"),
        ("late%<=1%", "late%<1"),
        ("too_late%<=0.1%", "too_late%=0"),
        ("duplicates=2", "duplicates<2"),
        ("reordered<2", "reordered=0"),
        ("received>=3000", "received>3000"),
        ("rate>99.5", "rate>101Hz"),
        ("cpu<10%", "cpu<8"),
        ("cpu_per_message<901us", "cpu_per_message<899us"),
        ("rss<118MiB", "rss<=119999KiB"),
        (warnings[0].as_str(), warnings[1].as_str()),
        (doubts[0].as_str(), doubts[1].as_str()),
    ] {
        let (is_met, line) = verdict(met, &run);
        assert!(is_met && line.starts_with(&format!("met      {met}: ")), "{line}");
        let (is_met, line) = verdict(not_met, &run);
        assert!(!is_met && line.starts_with(&format!("NOT met  {not_met}: ")), "{line}");
    }
    assert_eq!(verdict("p99<500us", &run).1, "NOT met  p99<500us: 1.00 ms");
    assert_eq!(verdict("lost=0", &run).1, "NOT met  lost=0: 12");
    assert_eq!(verdict("rss<1MiB", &run).1, "NOT met  rss<1MiB: 117.2 MiB");
}

#[test]
fn a_percentile_of_too_few_samples_is_not_met_and_says_why() {
    let (met, line) = verdict("p99.9<2ms", &run());
    assert!(!met, "{line}");
    assert!(
        line.ends_with("1.00 ms, but fewer than 10 of 3000 samples lie beyond it: run for 10000 samples"),
        "{line}"
    );
    // 3000 samples suffice for p99; the maximum needs no number of samples.
    assert!(verdict("p99<2ms", &run()).0 && verdict("max<2ms", &run()).0);
}

#[test]
fn a_requirement_on_an_unknown_value_is_not_met() {
    let mut nothing = Summary { cpu_per_message_ns: None, ..summary("-p 0", 1) };
    nothing.total.received = Default::default();
    (nothing.total.latency, nothing.total.response) = (times(0, 0), times(0, 0));
    nothing.publishers.clear();
    for requirement in ["max<1s", "response.p50<1s", "lateness.max<1s", "late%<1", "rate>=0", "cpu_per_message<1s"] {
        let (met, line) = verdict(requirement, &nothing);
        assert!(!met && line.contains("not known: "), "{line}");
    }
    let (met, line) = verdict("lost=0", &nothing);
    assert!(!met && line.ends_with("not known: no message was received"), "{line}");
}

#[test]
fn an_invalid_requirement_is_refused_with_the_valid_ones() {
    for text in ["p99", "p95<1ms", "p99.<1ms", "sent.p99<1ms", "lateness<1ms", "Lost=0", "<1ms", "late<1"] {
        let sentence = text.parse::<Requirement>().unwrap_err();
        assert!(sentence.contains("cpu_per_message"), "{text}: {sentence}");
        for figure in REQUIRED {
            assert!(sentence.contains(figure.key), "{}: {sentence}", figure.key);
        }
    }
    for (text, words) in [
        ("p99<500", "with ns, us, ms or s"),
        ("p99==5us", "with ns, us, ms or s"),
        ("p99<5%", "with ns, us, ms or s"),
        ("rss<5", "with KiB or MiB"),
        ("rss<5MB", "with KiB or MiB"),
        ("lost=0%", "give a number"),
        ("lost=", "give a number"),
        ("lost<nan", "give a number"),
        ("late%<1ms", "give percent"),
        ("rate>5/s", "per second"),
    ] {
        let sentence = text.parse::<Requirement>().unwrap_err();
        assert!(sentence.contains(words), "{text}: {sentence}");
    }
}
