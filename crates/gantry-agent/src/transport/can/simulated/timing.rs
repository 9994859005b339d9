//! The bit timing of a CAN FD bus: the duration of a frame, according to ISO 11898-1:2015.

use crate::error::{Error, Result};
use gantry_xrce::framing::{can_fd, socket_can::Frame};
use std::{ops::RangeInclusive, time::Duration};

/// The bit rates of a CAN FD bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanTiming {
    nominal_bits_per_s: u32,
    data_bits_per_s: u32,
}

/// The numbers of bits of a frame on the bus, including stuff bits. They count from the start of frame to the end of
/// the intermission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanFrameBits {
    /// The number of bits at the nominal bit rate.
    pub nominal: u32,
    /// The number of bits at the data bit rate; 0 in a frame without a bit rate switch.
    pub data: u32,
}

/// The bits of the acknowledgement slot, its delimiter, and the end of frame.
const END_BITS: u32 = 1 + 1 + 7;
/// The number of bits between a frame and the next one.
const INTERMISSION_BITS: u32 = 3;
const DELIMITER_BITS: u32 = 1;
/// The largest number of data bytes with a checksum of 17 bits; longer data has a checksum of 21 bits.
const MAX_CRC17_DATA_BYTES: usize = 16;
/// The bits of the stuff count and of the checksum, and one fixed stuff bit before every four of these bits.
const CRC17_BITS: u32 = 4 + 17 + 6;
const CRC21_BITS: u32 = 4 + 21 + 7;
/// The number of equal bits after which a stuff bit follows.
const MAX_EQUAL_BITS: u32 = 5;

const NANOSECONDS: u64 = 1_000_000_000;

impl CanTiming {
    /// The range of nominal bit rates of CAN FD, in bits per second.
    pub const NOMINAL_BITS_PER_S: RangeInclusive<u32> = 10_000..=1_000_000;
    /// The largest data bit rate, in bits per second.
    pub const MAX_DATA_BITS_PER_S: u32 = 8_000_000;

    /// Makes the timing of a bus with these bit rates, in bits per second. If both are equal, frames have no bit rate
    /// switch.
    ///
    /// # Errors
    /// A bit rate is out of its range, or the data bit rate is less than the nominal one.
    pub fn new(nominal_bits_per_s: u32, data_bits_per_s: u32) -> Result<Self> {
        let is_possible = Self::NOMINAL_BITS_PER_S.contains(&nominal_bits_per_s)
            && (nominal_bits_per_s..=Self::MAX_DATA_BITS_PER_S).contains(&data_bits_per_s);
        let timing = Self { nominal_bits_per_s, data_bits_per_s };
        if is_possible {
            return Ok(timing);
        }
        Err(Error::BitRates {
            nominal_bits_per_s,
            data_bits_per_s,
            allowed_nominal: Self::NOMINAL_BITS_PER_S,
            max_data_bits_per_s: Self::MAX_DATA_BITS_PER_S,
        })
    }

    /// The bit rate of arbitration, in bits per second.
    #[must_use]
    pub fn nominal_bits_per_s(self) -> u32 {
        self.nominal_bits_per_s
    }

    /// The bit rate of the data field, in bits per second.
    #[must_use]
    pub fn data_bits_per_s(self) -> u32 {
        self.data_bits_per_s
    }

    /// Whether the two bit rates differ.
    #[must_use]
    pub fn has_bit_rate_switch(self) -> bool {
        self.nominal_bits_per_s != self.data_bits_per_s
    }

    /// The numbers of bits of a frame. The data is padded with zeros to a length that CAN FD allows.
    #[must_use]
    pub fn frame_bits(self, frame: &Frame<'_>) -> CanFrameBits {
        let Frame { identifier, data, has_bit_rate_switch } = *frame;
        let is_switched = has_bit_rate_switch && self.has_bit_rate_switch();
        let code = can_fd::FRAME_LENGTHS.iter().position(|&length| usize::from(length) >= data.len());
        let code = code.unwrap_or(can_fd::FRAME_LENGTHS.len() - 1);
        let length = can_fd::FRAME_LENGTHS.get(code).copied().map_or(data.len(), usize::from);
        let mut stuffing = Stuffing::default();
        // The fields: start of frame; the base of the identifier; SRR and IDE; the rest of the identifier; RRS, FDF and
        // res; BRS.
        let fields = [(0, 1), (identifier >> 18, 11), (0b11, 2), (identifier, 18), (0b010, 3), (is_switched.into(), 1)];
        let arbitration: u32 = fields.into_iter().map(|(value, bits)| stuffing.field(value, bits)).sum();
        let control = stuffing.field(0, 1) + stuffing.field(code as u32, 4); // ESI (0), then the length code
        let bytes = data.iter().copied().chain(std::iter::repeat(0)).take(length);
        let payload: u32 = bytes.map(|byte| stuffing.field(byte.into(), 8)).sum();
        let checksum = if length <= MAX_CRC17_DATA_BYTES { CRC17_BITS } else { CRC21_BITS };
        // The bit rate changes at the sample points of BRS and of the checksum's delimiter. These two bits together
        // take one nominal and one data bit time, for any sample point.
        let (nominal, data) =
            (arbitration + END_BITS + INTERMISSION_BITS, control + payload + checksum + DELIMITER_BITS);
        if is_switched { CanFrameBits { nominal, data } } else { CanFrameBits { nominal: nominal + data, data: 0 } }
    }

    /// The duration of a frame, from its start to the earliest start of the next frame.
    #[must_use]
    pub fn frame_time(self, frame: &Frame<'_>) -> Duration {
        let CanFrameBits { nominal, data } = self.frame_bits(frame);
        bit_time(nominal, self.nominal_bits_per_s) + bit_time(data, self.data_bits_per_s)
    }

    /// The time between the end of a frame and the earliest start of the next one.
    pub(super) fn intermission(self) -> Duration {
        bit_time(INTERMISSION_BITS, self.nominal_bits_per_s)
    }
}

fn bit_time(bits: u32, bits_per_s: u32) -> Duration {
    Duration::from_nanos(u64::from(bits) * NANOSECONDS / u64::from(bits_per_s.max(1)))
}

/// Counts bits and the dynamic stuff bits between them. A stuff bit has the bit rate of the next bit. After the last
/// bit of the data field, there is no dynamic stuff bit, because a fixed stuff bit follows.
#[derive(Default)]
struct Stuffing {
    last: bool,
    /// The number of equal bits in a row, including `last`.
    equal: u32,
}

impl Stuffing {
    /// The number of bits of a field, including its stuff bits. The highest bit of the field comes first.
    fn field(&mut self, value: u32, bits: u32) -> u32 {
        (0..bits).rev().map(|index| self.bit((value >> index) & 1 == 1)).sum()
    }

    fn bit(&mut self, bit: bool) -> u32 {
        let is_stuffed = self.equal == MAX_EQUAL_BITS;
        if is_stuffed {
            (self.last, self.equal) = (!self.last, 1);
        }
        self.equal = if bit == self.last { self.equal + 1 } else { 1 };
        self.last = bit;
        1 + u32::from(is_stuffed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCHED: CanTiming = CanTiming { nominal_bits_per_s: 500_000, data_bits_per_s: 2_000_000 };
    const PLAIN: CanTiming = CanTiming { nominal_bits_per_s: 500_000, data_bits_per_s: 500_000 };
    /// An identifier of alternating bits: it causes no stuff bits in the arbitration field.
    const ALTERNATING: u32 = 0x1555_5555;

    fn frame(identifier: u32, data: &[u8]) -> Frame<'_> {
        Frame { identifier, has_bit_rate_switch: true, data }
    }

    fn switched(identifier: u32, data: &[u8]) -> (u32, u32) {
        let CanFrameBits { nominal, data } = SWITCHED.frame_bits(&frame(identifier, data));
        (nominal, data)
    }

    // The expected numbers were counted by hand. A frame with a bit rate switch has 36 bits up to BRS, and 12 bits from
    // the delimiter of the checksum on.

    #[test]
    fn an_empty_frame_without_a_switch_has_one_stuff_bit() {
        // 41 bits up to the length code; one stuff bit in the seven zeros of res, BRS, ESI and the length code; 27 bits
        // of the checksum, 1 of its delimiter, and 12 of the end and the intermission.
        assert_eq!(PLAIN.frame_bits(&frame(ALTERNATING, &[])), CanFrameBits { nominal: 82, data: 0 });
        assert_eq!(PLAIN.frame_time(&frame(ALTERNATING, &[])), Duration::from_micros(164));
        let unswitched = Frame { has_bit_rate_switch: false, ..frame(ALTERNATING, &[]) };
        assert_eq!(SWITCHED.frame_bits(&unswitched), CanFrameBits { nominal: 82, data: 0 });
    }

    #[test]
    fn the_fixed_stuff_bit_takes_the_place_of_a_dynamic_one() {
        // ESI and the length code are five zeros; the stuff count follows: 5 + 27 + 1.
        assert_eq!(switched(ALTERNATING, &[]), (48, 33));
        assert_eq!(SWITCHED.frame_time(&frame(ALTERNATING, &[])), Duration::from_nanos(96_000 + 16_500));
    }

    #[test]
    fn zeros_are_stuffed_after_every_five() {
        // Stuffed fields: twelve zeros (2 stuff bits); SRR and IDE; nineteen zeros up to RRS (3 stuff bits); the length
        // code 1111; 512 zeros (102 stuff bits); CRC21.
        assert_eq!(switched(0, &[0; 64]), (48 + 2 + 3, 5 + 512 + 102 + 32 + 1));
    }

    #[test]
    fn a_stuff_bit_counts_among_the_equal_bits() {
        // The length code 0010 and the data 0000 1111: a stuff bit 1 follows the five zeros, and a stuff bit 0 follows
        // this 1 and the four ones.
        assert_eq!(switched(ALTERNATING, &[0x0f, 0x55]), (48, 5 + 16 + 2 + 27 + 1));
        // The length code 0001 and the data 1111 0000: a stuff bit 0 follows the five ones, and the fixed stuff bit
        // follows this 0 and the four zeros.
        assert_eq!(switched(ALTERNATING, &[0xf0]), (48, 5 + 8 + 1 + 27 + 1));
    }

    #[test]
    fn ones_before_and_after_the_arbitration_field_are_stuffed() {
        // The frame starts with a zero. Eleven ones, SRR, IDE and eighteen ones are 31 equal bits, with a stuff bit
        // after every five of them, six in all. BRS needs no stuff bit.
        assert_eq!(switched(0x1fff_ffff, &[]), (48 + 6, 33));
    }

    #[test]
    fn data_is_filled_up_to_a_length_of_can_fd() {
        let bits = |bytes: usize| switched(ALTERNATING, &[0x55; 64][..bytes]).1;
        for (from, to) in [(9, 12), (13, 16), (17, 20), (21, 24), (25, 32), (33, 48), (49, 64)] {
            let filled: Vec<u8> = (0..to).map(|index| if index < from { 0x55 } else { 0 }).collect();
            assert_eq!(bits(from), switched(ALTERNATING, &filled).1);
            assert!(bits(from) > bits(from - 1));
        }
        // The length code 1010 and alternating data bits: the checksum has 17 bits for up to 16 bytes, then 21 bits.
        assert_eq!(bits(16), 5 + 128 + 27 + 1);
        assert_eq!(bits(20), 5 + 160 + 32 + 1);
    }

    #[test]
    fn rates_that_can_fd_does_not_have_are_refused() {
        for (nominal, data) in
            [(0, 0), (9_999, 20_000), (1_000_001, 2_000_000), (500_000, 499_999), (500_000, 8_000_001)]
        {
            let error = CanTiming::new(nominal, data).unwrap_err().to_string();
            assert!(error.contains(&nominal.to_string()) && error.contains(&data.to_string()), "{error}");
        }
        assert!(CanTiming::new(1_000_000, 8_000_000).is_ok_and(CanTiming::has_bit_rate_switch));
        assert!(CanTiming::new(10_000, 10_000).is_ok_and(|timing| !timing.has_bit_rate_switch()));
    }
}
