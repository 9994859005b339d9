//! CRC-16/ARC: polynomial 0x8005, reflected, initially 0, no final exclusive-or.
//!
//! The table has an entry for each value of half a byte, so it takes 32 bytes of a microcontroller's memory. A table
//! for whole bytes would take 512.

/// The CRC remainder of each of the sixteen values of half a byte.
const TABLE: [u16; 16] = table();

const fn table() -> [u16; 16] {
    let mut table = [0; 16];
    let mut value = 0;
    while value < 16 {
        let mut remainder = value as u16;
        let mut bit = 0;
        while bit < 4 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ 0xa001 } else { remainder >> 1 };
            bit += 1;
        }
        table[value] = remainder;
        value += 1;
    }
    table
}

/// The checksum after one more byte; `crc` is the checksum of the bytes before.
pub(super) fn update(crc: u16, byte: u8) -> u16 {
    let crc = crc ^ u16::from(byte);
    let crc = crc >> 4 ^ TABLE[usize::from(crc & 0xf)];
    crc >> 4 ^ TABLE[usize::from(crc & 0xf)]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_catalogue() {
        // https://reveng.sourceforge.io/crc-catalogue/16.htm#crc.cat.crc-16-arc
        assert_eq!(b"123456789".iter().fold(0, |crc, &byte| super::update(crc, byte)), 0xbb3d);
    }
}
