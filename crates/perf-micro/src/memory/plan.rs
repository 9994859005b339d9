//! The variants of the program that an experiment compares, in series.

use super::variant::{Kind, SUBSCRIPTION_DEPTH, Variant};
use crate::published::memory::HISTORY_TOTALS;
use perf_test::common::distinct;

/// The lengths of the strings that show how the message size affects the memory; the published throughput has the same
/// lengths.
const TEXT_BYTES: [u32; 4] = [10, 100, 200, 400];

/// The series of programs; a variant of the program may be in several series.
#[derive(Debug)]
pub struct Plan {
    /// For each kind of entity, the series over the number of such entities.
    pub kinds: Vec<(Kind, Series)>,
    /// The series over the history of the session.
    pub histories: Series,
    /// The series over the depth of a subscription's queue.
    pub depths: Series,
    /// The series for the published claims. The published page claims that a property, such as the message size, does
    /// not affect the memory. The programs of a series differ only in this property; the text is the reason why it
    /// matters for Gantry.
    pub claims: Vec<(Series, &'static str)>,
}

/// Programs that are compared with each other.
#[derive(Debug)]
pub struct Series {
    /// The property in which the programs differ.
    pub name: String,
    /// The programs. For a claim, the first program is the one with which the others are compared.
    pub programs: Vec<Program>,
}

/// A program of a series.
#[derive(Debug)]
pub struct Program {
    /// The name of the program in the series.
    pub name: String,
    /// The number by which the programs of the series differ; 0 in the series of a claim.
    pub number: u32,
    /// The variant of the program.
    pub variant: Variant,
    /// The published total memory for this number.
    pub published: Option<f64>,
}

impl Series {
    /// Creates a series over numbers, with the published total memory for some of these numbers.
    fn counted(name: &str, numbers: &[u32], totals: &[(u32, f64)], variant: impl Fn(u32) -> Variant) -> Series {
        let published = |number| totals.iter().find(|(of, _)| *of == number).map(|(_, bytes)| *bytes);
        let program = |&number: &u32| Program {
            name: number.to_string(),
            number,
            variant: variant(number),
            published: published(number),
        };
        Series { name: name.to_owned(), programs: numbers.iter().map(program).collect() }
    }

    /// Creates the series for a claim.
    fn claimed(name: &str, variants: impl IntoIterator<Item = (String, Variant)>) -> Series {
        let program = |(name, variant)| Program { name, number: 0, variant, published: None };
        Series { name: name.to_owned(), programs: variants.into_iter().map(program).collect() }
    }
}

impl Plan {
    /// The plan for these numbers of entities and these histories, both in ascending order.
    #[must_use]
    pub fn new(entities: &[u32], histories: &[u32]) -> Plan {
        let of_kind = |kind: Kind| {
            let (name, totals) = (format!("{}s", kind.name()), &kind.published().totals);
            (kind, Series::counted(&name, entities, totals, |count| Variant::with(kind, count)))
        };
        let with_history = |history| Variant { history, ..Variant::PAIR };
        // The depth is doubled. A queue is padded to a multiple of 8 bytes, and the lengths of four messages take 8
        // bytes, so the slope has no rounding error.
        let depths = [SUBSCRIPTION_DEPTH, 2 * SUBSCRIPTION_DEPTH];
        let with_depth = |subscription_depth| Variant { subscription_depth, ..Variant::PAIR };
        Plan {
            kinds: Kind::ALL.map(of_kind).into(),
            histories: Series::counted("history of the session", histories, &HISTORY_TOTALS, with_history),
            depths: Series::counted("places of a queue", &depths, &[], with_depth),
            claims: claims(entities.last().copied().unwrap_or(1)),
        }
    }

    /// All variants, without duplicates.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        let kinds = self.kinds.iter().map(|(_, series)| series);
        let claims = self.claims.iter().map(|(series, _)| series);
        let all = kinds.chain([&self.histories, &self.depths]).chain(claims).flat_map(|series| &series.programs);
        distinct([Variant::BASE, Variant::PAIR].into_iter().chain(all.map(|program| program.variant.clone())))
    }
}

/// The series for the claims. `most` is the largest number of entities.
fn claims(most: u32) -> Vec<(Series, &'static str)> {
    let text = |bytes| (format!("String, {bytes} letters"), Variant { text_bytes: Some(bytes), ..Variant::PAIR });
    let messages = [("Int32".to_owned(), Variant::PAIR)].into_iter().chain(TEXT_BYTES.map(text));
    let best_effort = Variant { is_reliable: false, ..Variant::PAIR };
    let reliabilities = [("reliable".to_owned(), Variant::PAIR), ("best effort".to_owned(), best_effort)];
    let topics = |kind| {
        let each = Variant::with(kind, most);
        let one = Variant { has_one_topic: true, ..each.clone() };
        let variants = [(each.title() + ", a topic each", each), (one.title(), one)];
        let reason = "the names of topics are constants, so this should not be";
        (Series::claimed("number of topics", variants), reason)
    };
    vec![
        (
            Series::claimed("size of the message", messages),
            "a subscription's queue has places of its message's size; in micro-ROS each message has slots of MTU × history, \
             whatever its size",
        ),
        (
            Series::claimed("reliability", reliabilities),
            "both reliabilities have their streams in each session, so this should not be",
        ),
        topics(Kind::Publisher),
        topics(Kind::Subscription),
    ]
}
