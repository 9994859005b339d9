//! Tests of the agent's clock.

use crate::world::{Line, World};
use gantry_micro::Memory;

#[test]
fn the_agents_time_is_known_after_an_exchange() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let mut world = World::new(&line, &mut memory);
    assert!(world.client.time(world.now()).is_none());
    world.client.synchronise();
    world.until("the clock is known", |world| world.has_event("Clock("));
    // The client and the agent have the same simulated clock, and the answer takes one step of simulated time.
    let expected_ns = 1_700_000_000_000_000_000 + world.now_us as i64 * 1000;
    let error_ns = world.client.time(world.now()).unwrap().as_ns().abs_diff(expected_ns);
    assert!(error_ns <= world.client.clock().unwrap().error_ns(world.now()), "{error_ns} ns");
    assert!(error_ns <= 1_000_000);
    world.agent.restart();
    world.until("the session ends", |world| world.has_event("reason: Unknown"));
    assert!(world.client.time(world.now()).is_none());
}
