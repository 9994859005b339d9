//! The variants of an experiment.

use super::variant::{Kind, SUBSCRIPTION_DEPTH, Variant};

/// Letters of the texts that show the effect of the message's size, as in the published throughput.
const TEXT_BYTES: [u32; 4] = [10, 100, 200, 400];

/// The series of variants; a variant may be in several.
#[derive(Debug)]
pub struct Plan {
    /// For each kind, numbers of entities.
    pub kinds: Vec<(Kind, Vec<Variant>)>,
    /// Histories of the session.
    pub histories: Vec<Variant>,
    /// Places of a subscription's queue.
    pub depths: Vec<Variant>,
    /// Pairs that the published page says have the same memory.
    pub claims: Vec<Claim>,
}

/// A claim of the published page: something does not matter.
#[derive(Debug)]
pub struct Claim {
    /// The property that does not matter by the published page.
    pub name: &'static str,
    /// The reason why it matters here.
    pub reason: &'static str,
    /// Variants that differ in it, with their values. The first one is the one to compare with.
    pub variants: Vec<(String, Variant)>,
}

impl Plan {
    /// The plan for these numbers of entities and these histories, both in ascending order.
    #[must_use]
    pub fn new(entities: &[u32], histories: &[u32]) -> Plan {
        let of_kind = |kind| (kind, entities.iter().map(|count| Variant::with(kind, *count)).collect());
        // Twice as many: a queue is padded to 8 bytes, and four lengths have 8.
        let depths = [SUBSCRIPTION_DEPTH, 2 * SUBSCRIPTION_DEPTH];
        Plan {
            kinds: Kind::ALL.map(of_kind).into(),
            histories: histories.iter().map(|history| Variant { history: *history, ..Variant::PAIR }).collect(),
            depths: depths.map(|depth| Variant { subscription_depth: depth, ..Variant::PAIR }).into(),
            claims: claims(entities.last().copied().unwrap_or(1)),
        }
    }

    /// All variants, each once.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        let mut all = vec![Variant::BASE, Variant::PAIR];
        let kinds = self.kinds.iter().flat_map(|(_, variants)| variants);
        let claims = self.claims.iter().flat_map(|claim| &claim.variants).map(|(_, variant)| variant);
        for variant in kinds.chain(&self.histories).chain(&self.depths).chain(claims) {
            if !all.contains(variant) {
                all.push(variant.clone());
            }
        }
        all
    }
}

/// `most` is the largest number of entities.
fn claims(most: u32) -> Vec<Claim> {
    let text = |bytes| (format!("String, {bytes} letters"), Variant { text_bytes: Some(bytes), ..Variant::PAIR });
    let mut messages = vec![("Int32".to_owned(), Variant::PAIR)];
    messages.extend(TEXT_BYTES.map(text));
    let best_effort = Variant { is_reliable: false, ..Variant::PAIR };
    let topics = |kind| {
        let each = Variant::with(kind, most);
        let one = Variant { has_one_topic: true, ..each.clone() };
        Claim {
            name: "number of topics",
            reason: "the names of topics are constants, so this should not be",
            variants: vec![(each.title() + ", a topic each", each), (one.title(), one)],
        }
    };
    vec![
        Claim {
            name: "size of the message",
            reason: "a subscription's queue has places of its message's size; in micro-ROS each message has slots of MTU × history, \
                     whatever its size",
            variants: messages,
        },
        Claim {
            name: "reliability",
            reason: "both reliabilities have their streams in each session, so this should not be",
            variants: vec![("reliable".to_owned(), Variant::PAIR), ("best effort".to_owned(), best_effort)],
        },
        topics(Kind::Publisher),
        topics(Kind::Subscription),
    ]
}
