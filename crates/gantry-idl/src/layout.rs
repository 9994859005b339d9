//! Sizes and layouts of messages: the largest serialised size of a message, and the C struct of a plain message.
//!
//! Sizes follow XCDR1. A number is aligned to its own size. A string has a length, its bytes and a zero. A wide string
//! has a length and four bytes for each UTF-16 unit, as ROS 2 writes it. A sequence has a length and its elements.

use crate::{
    definitions::Definitions,
    error::{Errors, Location},
    model::{BaseType, Count, Field, FieldType, MessageDefinition, Primitive},
    name::TypeName,
};
use std::collections::HashMap;

/// The largest alignment. It is also the number of possible residues of an offset.
const ALIGNMENTS: usize = 8;

/// The largest length of a part of a message, for each residue (offset modulo 8) at which the part can end; `None` if
/// it cannot end there. The length of padding depends only on the residue, so these eight numbers are enough to
/// continue exactly.
type MaxLengths = [Option<u64>; ALIGNMENTS];
/// The `MaxLengths` of a part, for each residue of the offset at which the part begins.
type LengthTable = [MaxLengths; ALIGNMENTS];

/// The C struct of a plain message. Its size is a multiple of its alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainStruct {
    /// The size of the struct.
    pub size_bytes: u64,
    /// The largest alignment of a number in the struct.
    pub alignment_bytes: u64,
    /// Whether the memory of the struct is its CDR at every offset of a body. This is so if the first number has the
    /// largest alignment: the padding before this number then aligns all other numbers as well.
    pub fits_anywhere: bool,
}

impl Definitions {
    /// The largest size of the message's serialised body in bytes (XCDR1, without the encapsulation header). The size
    /// is exact and includes all padding. `None` if the size is unbounded or there is no such message.
    pub fn max_size_bytes(&self, name: &TypeName) -> Option<usize> {
        let message = self.messages.get(name)?;
        let mut known = HashMap::new();
        for message in self.nested_first(message) {
            known.insert(&message.name, message_lengths(message, &known)?);
        }
        let part = known.get(name)?;
        let longest = part[0].iter().flatten().max()?;
        // `u64::MAX` means unbounded, because lengths saturate.
        if *longest == u64::MAX { None } else { usize::try_from(*longest).ok() }
    }

    /// Whether the CDR of the message has the bytes of a C struct with the same fields, at every offset of a body. This
    /// is so if the message consists of numbers, without padding before, between or after them.
    pub fn is_plain(&self, name: &TypeName) -> bool {
        self.plain(name).is_some_and(|plain| plain.fits_anywhere)
    }

    /// Whether the CDR of the message has the bytes of a C struct, at least at the start of a body (an offset that is a
    /// multiple of 8).
    pub fn is_plain_body(&self, name: &TypeName) -> bool {
        self.plain(name).is_some()
    }

    /// Whether all messages of this type have the same length, because they contain no text and no sequence.
    pub(crate) fn is_fixed_size(&self, name: &TypeName) -> bool {
        let is_fixed = |Field { field_type: FieldType { base, count }, .. }: &Field| {
            let is_text = matches!(base, BaseType::String { .. } | BaseType::WString { .. });
            !is_text && !matches!(count, Count::Sequence { .. })
        };
        let messages = self.messages.get(name).map(|root| self.nested_first(root)).unwrap_or_default();
        messages.iter().flat_map(|message| &message.fields).all(is_fixed)
    }

    fn plain(&self, name: &TypeName) -> Option<PlainStruct> {
        self.with_nested(name).ok()?.pop()?.1
    }

    /// The message `name` and all messages nested in it. Each occurs once, after the messages that it contains, and has
    /// its C struct if it is plain.
    ///
    /// # Errors
    /// The message is not among the definitions.
    pub fn with_nested(&self, name: &TypeName) -> Result<Vec<(&MessageDefinition, Option<PlainStruct>)>, Errors> {
        let Some(root) = self.message(name) else {
            let sentence = format!("the message `{name}` is not among the definitions");
            return Err(Location::default().error(sentence).into());
        };
        let mut known = HashMap::new();
        let mut messages = Vec::new();
        for message in self.nested_first(root) {
            let plain = plain(message, &known);
            known.extend(plain.map(|plain| (&message.name, plain)));
            messages.push((message, plain));
        }
        Ok(messages)
    }

    /// The offsets of the fields of a fixed-size message, from its start. Padding depends on where the message starts.
    /// So each field has eight offsets, indexed by the message's start in the CDR body modulo 8.
    ///
    /// An offset includes the padding before a number, an array of numbers or a plain message. It excludes the padding
    /// before any other nested message, because such a message skips its own padding. The result is `None` if the
    /// message contains a string or a sequence, or is too long for `u32`.
    pub(crate) fn field_offsets(&self, name: &TypeName) -> Option<Vec<[u32; ALIGNMENTS]>> {
        let message = self.messages.get(name)?;
        let mut known = HashMap::new();
        for message in self.nested_first(message) {
            let is_fixed = message.fields.iter().all(|field| {
                let text = matches!(field.field_type.base, BaseType::String { .. } | BaseType::WString { .. });
                !text && !matches!(field.field_type.count, Count::Sequence { .. })
            });
            known.insert(&message.name, message_lengths(message, &known).filter(|_| is_fixed)?);
        }
        let (mut offsets, mut before) = (Vec::new(), bytes(0));
        for Field { field_type, .. } in &message.fields {
            let align = match &field_type.base {
                BaseType::Primitive(primitive) => primitive.size_bytes(),
                BaseType::Message(nested) => self
                    .plain(nested)
                    .filter(|plain| plain.fits_anywhere)
                    .map_or(1, |plain| plain.alignment_bytes as usize),
                BaseType::String { .. } | BaseType::WString { .. } => return None,
            };
            let start = then(&before, &aligned(align));
            let mut by_start = [0; ALIGNMENTS];
            for (offset, ends) in by_start.iter_mut().zip(&start) {
                *offset = u32::try_from(ends.iter().flatten().copied().next()?).ok()?;
            }
            offsets.push(by_start);
            before = then(&before, &field_lengths(field_type, &known)?);
        }
        Some(offsets)
    }
}

/// The lengths of a message. `known` must have the lengths of all messages nested in it.
fn message_lengths(message: &MessageDefinition, known: &HashMap<&TypeName, LengthTable>) -> Option<LengthTable> {
    if message.fields.is_empty() {
        return Some(bytes(1));
    }
    let mut fields = message.fields.iter().map(|field| field_lengths(&field.field_type, known));
    fields.try_fold(bytes(0), |before, field| Some(then(&before, &field?)))
}

fn field_lengths(field_type: &FieldType, known: &HashMap<&TypeName, LengthTable>) -> Option<LengthTable> {
    let length = || then(&aligned(4), &bytes(4));
    let element = match &field_type.base {
        BaseType::Primitive(primitive) => {
            let size = primitive.size_bytes();
            then(&aligned(size), &bytes(size as u64))
        }
        BaseType::String { bound } => then(&length(), &then(&repeated(&bytes(1), (*bound)?, true), &bytes(1))),
        BaseType::WString { bound } => then(&length(), &repeated(&bytes(4), (*bound)?, true)),
        BaseType::Message(name) => *known.get(name)?,
    };
    Some(match field_type.count {
        Count::One => element,
        Count::Array(count) => repeated(&element, count, false),
        Count::Sequence { bound } => then(&length(), &repeated(&element, bound?, true)),
    })
}

/// The message's C struct, if the message is plain. `known` must have the structs of all plain messages nested in it.
fn plain(message: &MessageDefinition, known: &HashMap<&TypeName, PlainStruct>) -> Option<PlainStruct> {
    let mut whole = PlainStruct { size_bytes: 0, alignment_bytes: 1, fits_anywhere: true };
    let mut first_alignment_bytes = 1;
    for (index, field) in message.fields.iter().enumerate() {
        let element = match &field.field_type.base {
            BaseType::Primitive(Primitive::Bool) | BaseType::String { .. } | BaseType::WString { .. } => return None,
            BaseType::Primitive(primitive) => {
                let size = primitive.size_bytes() as u64;
                PlainStruct { size_bytes: size, alignment_bytes: size, fits_anywhere: true }
            }
            BaseType::Message(name) => *known.get(name)?,
        };
        let count = match field.field_type.count {
            Count::One => 1,
            Count::Array(count) => count,
            Count::Sequence { .. } => return None,
        };
        if index == 0 {
            first_alignment_bytes = element.alignment_bytes;
            whole.fits_anywhere = element.fits_anywhere;
        }
        if !whole.size_bytes.is_multiple_of(element.alignment_bytes) {
            return None;
        }
        whole.alignment_bytes = whole.alignment_bytes.max(element.alignment_bytes);
        whole.size_bytes = whole.size_bytes.checked_add(element.size_bytes.checked_mul(count.into())?)?;
    }
    whole.size_bytes = whole.size_bytes.max(1);
    whole.fits_anywhere &= first_alignment_bytes == whole.alignment_bytes;
    whole.size_bytes.is_multiple_of(whole.alignment_bytes).then_some(whole)
}

const IMPOSSIBLE: LengthTable = [[None; ALIGNMENTS]; ALIGNMENTS];

/// The table for a part of `length` bytes. A part of length 0 ends where it begins.
fn bytes(length: u64) -> LengthTable {
    from_lengths(|_| length)
}

/// The table for the padding up to the next multiple of `alignment`.
fn aligned(alignment: usize) -> LengthTable {
    from_lengths(|start| (start.next_multiple_of(alignment) - start) as u64)
}

fn from_lengths(length: impl Fn(usize) -> u64) -> LengthTable {
    let mut part = IMPOSSIBLE;
    for (start, ends) in part.iter_mut().enumerate() {
        let length = length(start);
        #[expect(clippy::cast_possible_truncation, reason = "less than eight")]
        let end = ((start as u64 + length) % ALIGNMENTS as u64) as usize;
        ends[end] = Some(length);
    }
    part
}

/// The table for the part `first` followed by the part `second`.
fn then(first: &LengthTable, second: &LengthTable) -> LengthTable {
    let mut both = IMPOSSIBLE;
    for (ends, first_ends) in both.iter_mut().zip(first) {
        for (first_length, second_ends) in first_ends.iter().zip(second) {
            let Some(first_length) = first_length else { continue };
            for (longest, second_length) in ends.iter_mut().zip(second_ends) {
                // `None` is less than any length, so `max` works.
                *longest = (*longest).max(second_length.map(|length| first_length.saturating_add(length)));
            }
        }
    }
    both
}

/// The table for `element` repeated `count` times. If `or_fewer` is set, any smaller number of repetitions is included.
fn repeated(element: &LengthTable, count: u32, or_fewer: bool) -> LengthTable {
    let mut once = *element;
    if or_fewer {
        for (longest, nothing) in once.iter_mut().flatten().zip(bytes(0).iter().flatten()) {
            *longest = (*longest).max(*nothing);
        }
    }
    let (mut all, mut power, mut rest) = (bytes(0), once, count);
    while rest > 0 {
        if rest % 2 == 1 {
            all = then(&all, &power);
        }
        rest /= 2;
        power = then(&power, &power);
    }
    all
}
