//! The memory of one more entity, and of one more slot of a history. A series of programs differs only in their number;
//! the cost is the slope of the memory over this number.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    plan::{Plan, Series},
    runs::Measured,
    variant::{Kind, SUBSCRIPTION_DEPTH, Variant},
};

/// The memory of a program, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Static variables, without the static variables of the program that only starts the board.
    pub static_bytes: f64,
    /// The greatest depth of the stack.
    pub stack_bytes: f64,
    /// The total of all allocations.
    pub heap_bytes: f64,
}

impl Memory {
    /// The sum of all three kinds of memory.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.static_bytes + self.stack_bytes + self.heap_bytes
    }
}

/// The memory of one more entity or slot, bytes. All entities and slots share one stack.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Static variables.
    pub static_bytes: f64,
    /// The total of all allocations.
    pub heap_bytes: f64,
    /// The smallest and the greatest stack of the programs in the series.
    pub stack_bytes: [f64; 2],
}

impl Cost {
    /// The memory of this entity or slot alone: static variables and heap, without the shared stack.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.static_bytes + self.heap_bytes
    }
}

/// The costs. A cost is null if fewer than two programs of its series gave results.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Costs {
    /// The cost of one more entity of each kind. A subscription includes its queue, a service the memory for one
    /// request, and a client the memory for one response.
    #[serde(flatten)]
    entities: BTreeMap<Kind, Option<Cost>>,
    /// The cost of one more subscription without its queue, in bytes.
    pub subscription_without_queue_bytes: Option<f64>,
    /// The cost of one more slot of the session's history.
    pub history_slot: Option<Cost>,
    /// The cost of one more place for a message in a subscription's queue.
    pub queue_place: Option<Cost>,
}

/// The memory of a program. `None` if the program did not run. Also `None` if the board alone, whose static variables
/// are subtracted, was not built.
#[must_use]
pub fn memory_of(programs: &[Measured], variant: &Variant) -> Option<Memory> {
    let find = |wanted: &Variant| programs.iter().find(|of| of.variant == *wanted);
    let statics = |of: &Measured| (of.sizes.data_bytes + of.sizes.bss_bytes) as f64;
    let (of, base) = (find(variant)?, find(&Variant::BASE)?);
    Some(Memory {
        static_bytes: statics(of) - statics(base),
        stack_bytes: of.stack_bytes? as f64,
        heap_bytes: of.heap_bytes? as f64,
    })
}

impl Costs {
    /// Computes the costs from the measured programs.
    #[must_use]
    pub fn of_programs(plan: &Plan, programs: &[Measured]) -> Costs {
        let slope = |series: &Series| {
            // Programs without an entity are left out: the first entity adds code that needs stack.
            let beside = series.programs.iter().filter(|of| of.number > 0);
            let points = beside.filter_map(|of| Some((f64::from(of.number), memory_of(programs, &of.variant)?)));
            slope_of(&points.collect::<Vec<_>>())
        };
        let entities: BTreeMap<Kind, Option<Cost>> =
            plan.kinds.iter().map(|(kind, series)| (*kind, slope(series))).collect();
        let subscription = entities.get(&Kind::Subscription).copied().flatten();
        let queue_place = slope(&plan.depths);
        let queue = |place: Cost| f64::from(SUBSCRIPTION_DEPTH) * place.total();
        Costs {
            entities,
            subscription_without_queue_bytes: subscription
                .zip(queue_place)
                .map(|(all, place)| all.total() - queue(place)),
            history_slot: slope(&plan.histories),
            queue_place,
        }
    }

    /// The cost of an entity.
    #[must_use]
    pub fn entity(&self, kind: Kind) -> Option<Cost> {
        *self.entities.get(&kind)?
    }
}

impl super::Memory {
    /// All figures, except the figures of programs that did not run.
    pub(super) fn figures(&self) -> Vec<(String, String)> {
        let pair = self.program(&Variant::PAIR);
        let total = |cost: Option<Cost>| cost.map(|cost| cost.total());
        let count = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        let costs = &self.costs;
        let all = [
            ("publisher-bytes", total(costs.entity(Kind::Publisher))),
            ("subscription-bytes", total(costs.entity(Kind::Subscription))),
            ("subscription-without-queue-bytes", costs.subscription_without_queue_bytes),
            ("service-bytes", total(costs.entity(Kind::Service))),
            ("client-bytes", total(costs.entity(Kind::Client))),
            ("history-slot-bytes", total(costs.history_slot)),
            ("queue-place-bytes", total(costs.queue_place)),
            ("text-bytes", count(pair.map(|of| of.sizes.text_bytes))),
            ("static-bytes", memory_of(&self.programs, &Variant::PAIR).map(|of| of.static_bytes)),
            ("stack-bytes", count(pair.and_then(|of| of.stack_bytes))),
            ("heap-bytes", count(pair.and_then(|of| of.heap_bytes))),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), one_decimal(value?).to_string()))).collect()
    }
}

/// Rounds a slope to one decimal; further decimals have no meaning. Adding 0 turns a negative zero into 0.
pub fn one_decimal(bytes: f64) -> f64 {
    (bytes * 10.0).round() / 10.0 + 0.0
}

/// The slopes of a least-squares fit; `None` if all x are equal.
fn slope_of(points: &[(f64, Memory)]) -> Option<Cost> {
    let slope = |value: fn(&Memory) -> f64| {
        let n = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, Memory)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(&|(x, _)| *x), mean(&|(_, memory)| value(memory)));
        let variance = mean(&|(at, _)| (at - x).powi(2));
        let covariance = mean(&|(at, memory)| (at - x) * (value(memory) - y));
        (variance > 0.0).then(|| covariance / variance)
    };
    let stacks = || points.iter().map(|(_, memory)| memory.stack_bytes);
    Some(Cost {
        static_bytes: slope(|of| of.static_bytes)?,
        heap_bytes: slope(|of| of.heap_bytes)?,
        stack_bytes: [stacks().fold(f64::INFINITY, f64::min), stacks().fold(0.0, f64::max)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(static_bytes: f64, stack_bytes: f64) -> Memory {
        Memory { static_bytes, stack_bytes, heap_bytes: 0.0 }
    }

    #[test]
    fn a_cost_is_the_slope_of_least_squares() {
        let points = [(1.0, memory(164.0, 900.0)), (5.0, memory(420.0, 900.0)), (10.0, memory(740.0, 932.0))];
        let cost = Cost { static_bytes: 64.0, heap_bytes: 0.0, stack_bytes: [900.0, 932.0] };
        assert_eq!(slope_of(&points), Some(cost));
        assert_eq!(slope_of(&points[..1]), None);
        assert_eq!(slope_of(&[]), None);
    }
}
