//! The memory of a client's session.

use gantry_xrce::{
    session::{ClientSession, Link},
    stream::{ArraySlots, Record, Slots, Storage},
};

/// The session of a client. The type is independent of the sizes of the memory, so that its code is compiled only once.
pub(crate) type Session<'a> = ClientSession<Slots<'a>, Slots<'a>, &'a mut [u8], Slots<'a>>;

/// The memory of a client's session. `MTU` is the largest message of the transport in bytes. `HISTORY` is the number of
/// messages that can wait for an acknowledgement, from 1 to 16.
///
/// The memory has `2 × HISTORY + 3` buffers of `MTU` bytes, each with 8 more bytes. There are `HISTORY` buffers for
/// reliable output and `HISTORY` buffers for reliable input. The other three are for best-effort output, the message
/// that is being received, and the message that is being sent. All bytes are zero at first, so that a static is in
/// `.bss`.
///
/// A reliable message to send may have up to `HISTORY × (MTU - 12) - 8` bytes. A received message may have three
/// quarters of `HISTORY × MTU` bytes, because the last quarter of the slots holds messages that arrive out of order.
#[derive(Debug)]
pub struct Memory<const MTU: usize = 512, const HISTORY: usize = 4> {
    output: ArraySlots<MTU, HISTORY>,
    best_effort: ArraySlots<MTU, 1>,
    input: [[u8; MTU]; HISTORY],
    records: [Record; HISTORY],
    incoming: [u8; MTU],
    outgoing: [u8; MTU],
}

/// The parts of the memory, in types without sizes.
pub(crate) struct Parts<'a> {
    pub link: Link<Slots<'a>, Slots<'a>, &'a mut [u8], Slots<'a>>,
    pub incoming: &'a mut [u8],
    pub outgoing: &'a mut [u8],
    pub mtu_bytes: u16,
}

impl<const MTU: usize, const HISTORY: usize> Memory<MTU, HISTORY> {
    /// Makes the memory, which is all zeros.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(HISTORY >= 1, "a session needs a slot for reliable messages") };
        const { assert!(MTU >= 63, "the messages that open a session have up to 63 bytes") };
        Self {
            output: ArraySlots::new(),
            best_effort: ArraySlots::new(),
            input: [[0; MTU]; HISTORY],
            records: [Record::EMPTY; HISTORY],
            incoming: [0; MTU],
            outgoing: [0; MTU],
        }
    }

    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let Self { output, best_effort, input, records, incoming, outgoing } = self;
        let early = HISTORY / 4;
        let (early_bytes, assembly) = input.as_flattened_mut().split_at_mut(early * MTU);
        let early_records = records.get_mut(..early).unwrap_or_default();
        Parts {
            link: Link::new(output.slots(), Slots::new(early_records, early_bytes), assembly, best_effort.slots()),
            incoming,
            outgoing,
            mtu_bytes: MTU as u16,
        }
    }
}

impl<const MTU: usize, const HISTORY: usize> Default for Memory<MTU, HISTORY> {
    fn default() -> Self {
        Self::new()
    }
}
