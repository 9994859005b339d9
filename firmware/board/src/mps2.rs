//! The devices of the board: serial port, clock and sleep. Only this file accesses device registers.
//!
//! The registers are described in Arm's Cortex-M System Design Kit, technical reference manual (APB UART and APB
//! timer).

use core::convert::Infallible;
use cortex_m::peripheral::{Peripherals, SCB, syst::SystClkSource};
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use gantry_micro::Instant;

const CLOCK_HZ: u32 = 25_000_000;
const TICKS_PER_US: u32 = CLOCK_HZ / 1_000_000;
const BAUD_BITS_PER_S: u32 = 460_800;
/// The frequency of the tick interrupt. It ends a sleep after at most a millisecond.
const TICK_HZ: u32 = 1_000;

/// A register of a peripheral.
#[derive(Clone, Copy)]
struct Register(usize);

impl Register {
    fn read(self) -> u32 {
        // SAFETY: the constants below are the addresses of registers of this board. These registers always exist and
        // are readable.
        unsafe { core::ptr::with_exposed_provenance::<u32>(self.0).read_volatile() }
    }

    fn write(self, value: u32) {
        // SAFETY: the address is valid as in `read`. A write to these registers does not change memory.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(self.0).write_volatile(value) }
    }
}

const UART_DATA: Register = Register(0x4000_4000);
const UART_STATE: Register = Register(0x4000_4004);
const UART_CONTROL: Register = Register(0x4000_4008);
const UART_CLEAR: Register = Register(0x4000_400c);
const UART_DIVIDER: Register = Register(0x4000_4010);
const TRANSMIT_FULL: u32 = 1;
const RECEIVE_FULL: u32 = 2;
/// The bits that enable the transmitter, the receiver and the receiver's interrupt.
const ENABLE: u32 = 1 | 2 | 8;
const RECEIVED: u32 = 2;

const TIMER_CONTROL: Register = Register(0x4000_0000);
const TIMER_VALUE: Register = Register(0x4000_0004);
const TIMER_RELOAD: Register = Register(0x4000_0008);

/// Two registers of the interrupt controller: the first enables interrupts, the second clears pending ones. The
/// receiver's interrupt has number 0.
const INTERRUPTS_ENABLED: Register = Register(0xe000_e100);
const INTERRUPTS_CLEARED: Register = Register(0xe000_e280);
const RECEIVER: u32 = 1;

/// The serial port.
pub struct Uart(());

/// The time since the start.
pub struct Clock {
    now_us: u64,
    value: u32,
}

/// A token for sleeping until a byte arrives, but at most a millisecond.
///
/// Interrupts only become pending, which is enough to end the sleep. No handler runs.
pub struct Sleep(());

/// Starts the board. Returns `None` if it was started before.
pub fn start() -> Option<(Uart, Clock, Sleep)> {
    let mut timer = Peripherals::take()?.SYST;
    cortex_m::interrupt::disable();
    UART_DIVIDER.write(CLOCK_HZ / BAUD_BITS_PER_S);
    UART_CONTROL.write(ENABLE);
    INTERRUPTS_ENABLED.write(RECEIVER);
    TIMER_RELOAD.write(u32::MAX);
    TIMER_VALUE.write(u32::MAX);
    TIMER_CONTROL.write(1);
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(CLOCK_HZ / TICK_HZ - 1);
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
    Some((Uart(()), Clock { now_us: 0, value: TIMER_VALUE.read() }, Sleep(())))
}

impl Clock {
    /// The time since the start. The caller must call this at least every 171 s, because the timer then wraps around.
    pub fn now(&mut self) -> Instant {
        // The timer counts down, so the new value is subtracted from the old one.
        let elapsed_us = self.value.wrapping_sub(TIMER_VALUE.read()) / TICKS_PER_US;
        self.value = self.value.wrapping_sub(elapsed_us * TICKS_PER_US);
        self.now_us += u64::from(elapsed_us);
        Instant::from_us(self.now_us)
    }
}

impl Sleep {
    /// Sleeps until a byte arrives, but at most a millisecond. Returns at once if a byte has arrived since the last
    /// call.
    pub fn until_byte(&mut self) {
        cortex_m::asm::wfi();
        UART_CLEAR.write(RECEIVED);
        INTERRUPTS_CLEARED.write(RECEIVER);
        SCB::clear_pendst();
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(UART_STATE.read() & RECEIVE_FULL != 0)
    }
}

impl Read for Uart {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut length = 0;
        for byte in bytes {
            while length == 0 && !self.read_ready()? {}
            if !self.read_ready()? {
                break;
            }
            *byte = UART_DATA.read() as u8;
            length += 1;
        }
        Ok(length)
    }
}

impl WriteReady for Uart {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(UART_STATE.read() & TRANSMIT_FULL == 0)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let mut length = 0;
        for &byte in bytes {
            while length == 0 && !self.write_ready()? {}
            if !self.write_ready()? {
                break;
            }
            UART_DATA.write(byte.into());
            length += 1;
        }
        Ok(length)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        while !self.write_ready()? {}
        Ok(())
    }
}
