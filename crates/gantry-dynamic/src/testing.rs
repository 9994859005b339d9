//! Random messages of any type, for tests. The same seed yields the same message.

use crate::message_type::MessageType;
use fastrand::Rng;
use gantry_cdr::ByteOrder;
use gantry_idl::{BaseType, Count, FieldType, Primitive};

/// The length of a body from which on all further sequences are empty. Otherwise, nested sequences would multiply the
/// length.
const LENGTH_LIMIT_BYTES: usize = 4096;

/// The body (CDR without encapsulation header) of a random message. Lengths are within their bounds, and many values
/// are at the limits of their ranges. Padding is zero. The message has no NaN, which is not equal to itself, and no 0
/// in texts, which C strings cannot contain.
pub fn random_body(message_type: &MessageType, rng: &mut Rng, order: ByteOrder) -> Vec<u8> {
    let mut writer = Writer { types: message_type, body: Vec::new(), rng, order };
    writer.message(message_type.root_index());
    writer.body
}

struct Writer<'a> {
    types: &'a MessageType,
    body: Vec<u8>,
    rng: &'a mut Rng,
    order: ByteOrder,
}

impl Writer<'_> {
    fn message(&mut self, index: usize) {
        let types = self.types;
        let structure = types.structure(index);
        if structure.definition.fields.is_empty() {
            self.body.push(0);
        }
        for (field, nested) in structure.fields() {
            self.field(&field.field_type, nested);
        }
    }

    fn field(&mut self, field_type: &FieldType, nested: usize) {
        let count = match field_type.count {
            Count::One => 1,
            Count::Array(count) => count,
            Count::Sequence { bound } => {
                let count = if self.body.len() < LENGTH_LIMIT_BYTES { self.length(bound) } else { 0 };
                self.number(count.into(), 4);
                count
            }
        };
        for _ in 0..count {
            match &field_type.base {
                BaseType::Primitive(primitive) => {
                    let bits = self.bits(*primitive);
                    self.number(bits, primitive.size_bytes());
                }
                BaseType::String { bound } => self.text(*bound),
                BaseType::WString { bound } => self.wide_text(*bound),
                BaseType::Message(_) => self.message(nested),
            }
        }
    }

    /// A random length. Often it is 0 or the largest allowed length.
    fn length(&mut self, bound: Option<u32>) -> u32 {
        let most = bound.unwrap_or(40);
        match self.rng.u8(..8) {
            0 => 0,
            1 => most.min(1000),
            _ => self.rng.u32(..=most.min(10)),
        }
    }

    fn text(&mut self, bound: Option<u32>) {
        let length = self.length(bound) as usize;
        let mut text = String::new();
        while text.len() < length {
            let char = self.char();
            text.push(if text.len() + char.len_utf8() <= length { char } else { 'x' });
        }
        self.number(text.len() as u64 + 1, 4);
        self.body.extend_from_slice(text.as_bytes());
        self.body.push(0);
    }

    fn wide_text(&mut self, bound: Option<u32>) {
        let length = self.length(bound) as usize;
        let mut units = Vec::new();
        while units.len() < length {
            let char = self.char();
            let char = if units.len() + char.len_utf16() <= length { char } else { 'x' };
            units.extend_from_slice(char.encode_utf16(&mut [0; 2]));
        }
        self.number(units.len() as u64, 4);
        units.into_iter().for_each(|unit| self.number(unit.into(), 4));
    }

    fn char(&mut self) -> char {
        match self.rng.u8(..10) {
            0 => self.rng.char('\u{1}'..),
            1 => *self.rng.choice(&['\n', ' ', '\'', '"', '\\', ':', '#', '-']).unwrap_or(&'-'),
            2 => self.rng.char('\u{80}'..'\u{800}'),
            3 => self.rng.char('\u{10000}'..),
            _ => self.rng.alphanumeric(),
        }
    }

    fn bits(&mut self, primitive: Primitive) -> u64 {
        let (random, edge) = (self.rng.u64(..), self.rng.usize(..12));
        match primitive {
            Primitive::Bool => random & 1,
            Primitive::Float32 => {
                const EDGES: [f32; 6] = [0.0, -0.0, f32::INFINITY, f32::MIN, f32::MIN_POSITIVE, f32::EPSILON];
                let value = EDGES.get(edge).copied().unwrap_or(f32::from_bits(random as u32));
                (if value.is_nan() { 1.5 } else { value }).to_bits().into()
            }
            Primitive::Float64 => {
                const EDGES: [f64; 6] = [0.0, -0.0, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, f64::EPSILON];
                let value = EDGES.get(edge).copied().unwrap_or(f64::from_bits(random));
                (if value.is_nan() { -1e300 } else { value }).to_bits()
            }
            integer => {
                let (least, greatest) = integer.integer_range().unwrap_or_default();
                [0, 1, least, greatest].get(edge).map_or(random, |edge| *edge as u64)
            }
        }
    }

    /// Writes the lowest `size_bytes` bytes of `bits` at an aligned offset.
    fn number(&mut self, bits: u64, size_bytes: usize) {
        self.body.resize(self.body.len().next_multiple_of(size_bytes), 0);
        let bytes = bits.to_le_bytes();
        match self.order {
            ByteOrder::LittleEndian => self.body.extend(&bytes[..size_bytes]),
            ByteOrder::BigEndian => self.body.extend(bytes[..size_bytes].iter().rev()),
        }
    }
}
