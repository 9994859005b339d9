//! The pairs of contestants for which ratios are shown. In each pair a contestant is compared with the base.
//!
//! The base is Gantry; without Gantry, it is the first middleware. A baseline (a contestant that is no middleware, such
//! as `memcpy`) is the base only if all contestants are baselines. A contestant with default settings is compared with
//! the base's defaults, and a contestant with `best` with the base's `best`. If a contestant has only one of these
//! forms, it is compared with both forms of the base.

use super::CaseResults;
use crate::{
    communicator::is_baseline,
    experiments::{
        batch::{BEST, middleware_of},
        results_file::{CPU, Compared, LATENCY, MEMORY, Ratio, RunResults, TAIL},
    },
};

/// The preferred base, used if it is among the contestants.
const BASE: &str = "gantry";

fn ratio(base: &RunResults, other: &RunResults, case: Option<&str>, figure: Compared) -> Option<Ratio> {
    Ratio::new((&base.contestant, &base.rounds), (&other.contestant, &other.rounds), case, figure)
}

/// The ratios of all pairs in all cases, ordered by contestant.
pub fn ratios(cases: &[CaseResults]) -> Vec<Ratio> {
    let Some(first) = cases.first() else { return Vec::new() };
    let mut ratios = Vec::new();
    for (base, other) in pairs(&first.rows) {
        for case in cases {
            if let (Some(base), Some(other)) = (case.rows.get(base), case.rows.get(other)) {
                let of_case = |figure| ratio(base, other, Some(&case.case.name), figure);
                ratios.extend([LATENCY, TAIL, CPU].into_iter().filter_map(of_case));
            }
        }
        if let (Some(base), Some(other)) = (first.rows.get(base), first.rows.get(other)) {
            ratios.extend(ratio(base, other, None, MEMORY));
        }
    }
    ratios
}

/// The pairs of the base and a contestant, as indices into `rows`.
fn pairs(rows: &[RunResults]) -> Vec<(usize, usize)> {
    let Some(first) = rows.first() else { return Vec::new() };
    let first = rows.iter().find(|row| !is_baseline(&row.contestant)).unwrap_or(first);
    let base = if rows.iter().any(|row| middleware(row) == BASE) { BASE } else { middleware(first) };
    let of_base: Vec<usize> =
        (0..).zip(rows).filter(|(_, row)| middleware(row) == base).map(|(index, _)| index).collect();
    let others: Vec<(usize, &RunResults)> = (0..).zip(rows).filter(|(_, row)| middleware(row) != base).collect();
    if others.is_empty() {
        return of_base.iter().skip(1).map(|other| (of_base.first().copied().unwrap_or(0), *other)).collect();
    }
    let mut pairs = Vec::new();
    for (index, other) in &others {
        let has_one_form = others.iter().filter(|(_, row)| middleware(row) == middleware(other)).count() == 1;
        let bases = |alike: &dyn Fn(&RunResults) -> bool| -> Vec<usize> {
            of_base.iter().filter(|base| rows.get(**base).is_some_and(alike)).copied().collect()
        };
        let mut found = bases(&|base| has_one_form || form(base) == form(other));
        if found.is_empty() {
            found = bases(&|base| is_best(base) == is_best(other));
        }
        let bases = if found.is_empty() { of_base.clone() } else { found };
        pairs.extend(bases.into_iter().map(|base| (base, *index)));
    }
    pairs
}

fn middleware(row: &RunResults) -> &str {
    middleware_of(&row.contestant)
}

/// The part of a contestant's text after the middleware, such as `:best`.
fn form(row: &RunResults) -> &str {
    row.contestant.strip_prefix(middleware(row)).unwrap_or_default()
}

fn is_best(row: &RunResults) -> bool {
    form(row).split(':').any(|part| part == BEST)
}
