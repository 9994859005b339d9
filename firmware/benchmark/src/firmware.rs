//! The benchmark program on the board.

use crate::{
    parameters::HAS_SESSION,
    program::{self, Entities, SessionMemory},
};
use board::{Uart, stop};
use cortex_m_rt::entry;
use gantry_micro::transport::SerialTransport;

/// The line to the agent.
pub type Line = SerialTransport<Uart>;

#[entry]
fn main() -> ! {
    static mut MEMORY: SessionMemory = SessionMemory::new();
    static mut ENTITIES: Entities = Entities::new();
    let Some((uart, mut clock, mut sleep)) = board::start() else { stop() };
    if HAS_SESSION {
        program::run(SerialTransport::new(uart), MEMORY, ENTITIES, || clock.now(), || sleep.until_byte());
    }
    stop()
}
