//! A library for the board `mps2-an385`, Arm's Cortex-M3, which QEMU emulates: a serial port, a clock and sleep.
//!
//! A program with this library has no heap, runs no interrupt handlers, and stops if it panics.

#![no_std]

mod memory_functions;
mod mps2;
mod no_heap;
mod vectors;

pub use mps2::{Clock, Sleep, Uart, start};

/// Ends the program: sleeps forever.
pub fn stop() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    stop()
}
