//! An estimate of the agent's clock, from exchanges of time stamps.

use crate::{time::Instant, wire::Time};

/// The assumed drift between two clocks: 2⁻⁴ ns per µs (62.5 parts per million), a little more than the drift of
/// ordinary quartz crystals. The error bound of an estimate grows by this drift. The value is a number of bits to shift
/// by, because a shift needs less code than a division.
const DRIFT_SHIFT: u32 = 4;

/// The estimated offset of the agent's clock. It comes from the exchange of time stamps that now has the smallest error
/// bound.
///
/// The error bound of an exchange is half of its round trip at first. The bound grows with the age of the exchange, by
/// the assumed drift between two quartz clocks.
#[derive(Clone, Copy, Debug)]
pub struct AgentClock {
    /// The agent's time minus the local time.
    offset_ns: i64,
    error_ns: u64,
    measured_at: Instant,
}

/// The four time stamps of an exchange. The client's clock gives the first and the last one, the agent's clock the
/// other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The time at which the client sent the request.
    pub sent: Instant,
    /// The time at which the agent received the request.
    pub agent_received: Time,
    /// The time at which the agent sent the reply.
    pub agent_sent: Time,
    /// The time at which the client received the reply.
    pub received: Instant,
}

impl AgentClock {
    /// Makes an estimate from one exchange.
    #[must_use]
    pub fn measured(exchange: Exchange) -> Self {
        let (sent_ns, received_ns) = (nanoseconds_of(exchange.sent), nanoseconds_of(exchange.received));
        let (agent_received_ns, agent_sent_ns) = (exchange.agent_received.as_ns(), exchange.agent_sent.as_ns());
        let agent_ns = agent_sent_ns.wrapping_sub(agent_received_ns).max(0);
        let round_trip_ns = received_ns.wrapping_sub(sent_ns).saturating_sub(agent_ns).max(0);
        let outward_ns = agent_received_ns.wrapping_sub(sent_ns);
        let homeward_ns = agent_sent_ns.wrapping_sub(received_ns);
        // The mean of two numbers, computed without their sum, which may overflow. A shift halves the number, because a
        // 64-bit division costs a microcontroller a kilobyte of code.
        let offset_ns = outward_ns.wrapping_add(homeward_ns.wrapping_sub(outward_ns) >> 1);
        Self { offset_ns, error_ns: round_trip_ns as u64 / 2, measured_at: exchange.received }
    }

    /// Replaces this estimate by a newer one, unless the present error bound is smaller at the time of the newer
    /// measurement. Returns whether the estimate was replaced.
    pub fn improve(&mut self, newer: Self) -> bool {
        let is_better = newer.error_ns <= self.error_ns(newer.measured_at);
        if is_better {
            *self = newer;
        }
        is_better
    }

    /// The agent's time at a given local time.
    #[must_use]
    pub fn time_at(&self, now: Instant) -> Time {
        Time::from_ns(nanoseconds_of(now).wrapping_add(self.offset_ns))
    }

    /// The agent's time minus the local time, in nanoseconds.
    #[must_use]
    pub fn offset_ns(&self) -> i64 {
        self.offset_ns
    }

    /// The bound of the error of [`Self::time_at`], in nanoseconds.
    #[must_use]
    pub fn error_ns(&self, now: Instant) -> u64 {
        let age_us = now.as_us().saturating_sub(self.measured_at.as_us());
        self.error_ns.saturating_add(age_us >> DRIFT_SHIFT)
    }
}

fn nanoseconds_of(instant: Instant) -> i64 {
    instant.as_us().wrapping_mul(1000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH_NS: i64 = 1_700_000_000_000_000_000;

    /// An exchange with an agent whose clock is `EPOCH_NS` ahead, and which takes 5 µs to answer.
    fn exchange(sent_us: u64, outward_us: u64, homeward_us: u64) -> Exchange {
        let agent = |us: u64| Time::from_ns(EPOCH_NS + (us * 1000) as i64);
        let arrival = sent_us + outward_us;
        Exchange {
            sent: Instant::from_us(sent_us),
            agent_received: agent(arrival),
            agent_sent: agent(arrival + 5),
            received: Instant::from_us(arrival + 5 + homeward_us),
        }
    }

    #[test]
    fn the_error_bound_holds_the_true_offset() {
        for (outward_us, homeward_us) in [(10, 10), (500, 1200), (3, 9000), (9000, 3)] {
            let clock = AgentClock::measured(exchange(70, outward_us, homeward_us));
            let error_ns = clock.offset_ns().abs_diff(EPOCH_NS);
            assert!(error_ns <= clock.error_ns(Instant::from_us(70)), "{error_ns} ns, {clock:?}");
            assert_eq!(error_ns, outward_us.abs_diff(homeward_us) * 500);
        }
    }

    #[test]
    fn a_slow_exchange_is_taken_once_the_drift_outweighs_it() {
        let mut clock = AgentClock::measured(exchange(0, 100, 100));
        assert!(!clock.improve(AgentClock::measured(exchange(1_000_000, 100, 700))));
        assert_eq!(clock.offset_ns(), EPOCH_NS);
        // 20 s at 62.5 ppm are 1.25 ms.
        assert!(clock.improve(AgentClock::measured(exchange(20_000_000, 100, 700))));
    }

    #[test]
    fn any_stamps_are_taken() {
        let extremes =
            [Time { seconds: i32::MIN, nanoseconds: u32::MAX }, Time { seconds: i32::MAX, nanoseconds: u32::MAX }];
        for agent_received in extremes {
            for agent_sent in extremes {
                let (sent, received) = (Instant::from_us(u64::MAX), Instant::from_us(0));
                let clock = AgentClock::measured(Exchange { sent, agent_received, agent_sent, received });
                let _ = clock.time_at(Instant::from_us(u64::MAX));
            }
        }
    }
}
