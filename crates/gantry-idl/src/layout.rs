//! How many bytes a message can take, and whether it is a plain struct.
//!
//! Used for the size of slots, by the generator and by `dynamic`. Sizes are those of XCDR1: a number is aligned to its own
//! size, a string is a length, its bytes and a zero, a wide string a length and four bytes for each UTF-16 unit (as ROS 2
//! writes it), a sequence a length and its elements.

use std::collections::HashMap;

use crate::definitions::Definitions;
use crate::error::{Errors, Place};
use crate::model::{BaseType, Count, Field, FieldType, MessageDefinition, Primitive};
use crate::name::TypeName;

/// The greatest alignment.
const ALIGNMENTS: usize = 8;

/// Where a body can end, given where it begins: for each of the eight places relative to the greatest alignment, the
/// greatest length that ends there. Padding depends on nothing but that, so that the longest body at each place is all
/// that has to be known to go on exactly.
type Ends = [Option<u64>; ALIGNMENTS];
/// `Ends` for each of the eight places where a part of a message can begin.
type Part = [Ends; ALIGNMENTS];

/// A plain message's C struct; its size is a multiple of its alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainStruct {
    /// The struct's size.
    pub size_bytes: u64,
    /// The largest alignment of its numbers.
    pub alignment_bytes: u64,
    /// Whether its first number has that alignment, so that no other message's field can put it where it does not belong.
    pub fits_anywhere: bool,
}

impl Definitions {
    /// The greatest size of the message's serialised body in bytes (XCDR1, without the encapsulation header), if there is
    /// one: exactly, with all padding.
    pub fn max_size_bytes(&self, name: &TypeName) -> Option<usize> {
        let message = self.messages.get(name)?;
        let mut known = HashMap::new();
        for message in self.nested_first(message) {
            known.insert(&message.name, message_part(message, &known)?);
        }
        let part = known.get(name)?;
        let longest = part[0].iter().flatten().max()?;
        // Lengths saturate.
        if *longest == u64::MAX { None } else { usize::try_from(*longest).ok() }
    }

    /// Whether the message's bytes are those of a C struct with the same fields, wherever it stands: it consists of
    /// numbers, and there is no padding in it, before it or at its end.
    pub fn is_plain(&self, name: &TypeName) -> bool {
        self.plain(name).is_some_and(|plain| plain.fits_anywhere)
    }

    /// Whether that is so at least where a body begins, which is a multiple of 8.
    pub fn is_plain_body(&self, name: &TypeName) -> bool {
        self.plain(name).is_some()
    }

    fn plain(&self, name: &TypeName) -> Option<PlainStruct> {
        self.with_nested(name).ok()?.pop()?.1
    }

    /// The message `name` and all messages that are nested in it, each once and behind those that it needs, with its C struct
    /// if it is plain.
    ///
    /// # Errors
    /// The message is not among the definitions.
    pub fn with_nested(&self, name: &TypeName) -> Result<Vec<(&MessageDefinition, Option<PlainStruct>)>, Errors> {
        let Some(root) = self.message(name) else {
            let sentence = format!("the message `{name}` is not among the definitions");
            return Err(Place::default().error(sentence).into());
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

    /// How far the fields of a message of fixed size are behind its beginning: eight numbers for each field, by where the message
    /// begins, modulo 8. The padding before a number or a list of them counts, that before a nested message does not: it is its
    /// own. None if messages of the type differ in length.
    pub(crate) fn field_offsets(&self, name: &TypeName) -> Option<Vec<[u32; ALIGNMENTS]>> {
        let message = self.messages.get(name)?;
        let mut known = HashMap::new();
        for message in self.nested_first(message) {
            let is_fixed = message.fields.iter().all(|field| {
                let text = matches!(field.field_type.base, BaseType::String { .. } | BaseType::WString { .. });
                !text && !matches!(field.field_type.count, Count::Sequence { .. })
            });
            known.insert(&message.name, message_part(message, &known).filter(|_| is_fixed)?);
        }
        let (mut offsets, mut before) = (Vec::new(), NOTHING);
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
            before = then(&before, &field_part(field_type, &known)?);
        }
        Some(offsets)
    }
}

/// All that is nested in it is known.
fn message_part(message: &MessageDefinition, known: &HashMap<&TypeName, Part>) -> Option<Part> {
    if message.fields.is_empty() {
        return Some(bytes(1));
    }
    let mut fields = message.fields.iter().map(|field| field_part(&field.field_type, known));
    fields.try_fold(NOTHING, |before, field| Some(then(&before, &field?)))
}

fn field_part(field_type: &FieldType, known: &HashMap<&TypeName, Part>) -> Option<Part> {
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

/// The message's C struct, if it is plain. All plain messages that are nested in it are known.
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

const IMPOSSIBLE: Part = [[None; ALIGNMENTS]; ALIGNMENTS];

/// Ends where it begins.
const NOTHING: Part = {
    let mut part = IMPOSSIBLE;
    let mut place = 0;
    while place < ALIGNMENTS {
        part[place][place] = Some(0);
        place += 1;
    }
    part
};

/// So many bytes.
fn bytes(length: u64) -> Part {
    from_lengths(|_| length)
}

/// The padding up to a multiple of `alignment`.
fn aligned(alignment: usize) -> Part {
    from_lengths(|start| (start.next_multiple_of(alignment) - start) as u64)
}

fn from_lengths(length: impl Fn(usize) -> u64) -> Part {
    let mut part = IMPOSSIBLE;
    for (start, ends) in part.iter_mut().enumerate() {
        let length = length(start);
        #[expect(clippy::cast_possible_truncation, reason = "less than eight")]
        let end = ((start as u64 + length) % ALIGNMENTS as u64) as usize;
        ends[end] = Some(length);
    }
    part
}

/// One after the other.
fn then(first: &Part, second: &Part) -> Part {
    let mut both = IMPOSSIBLE;
    for (ends, first_ends) in both.iter_mut().zip(first) {
        for (first_length, second_ends) in first_ends.iter().zip(second) {
            let Some(first_length) = first_length else { continue };
            for (longest, second_length) in ends.iter_mut().zip(second_ends) {
                // No length is less than any.
                *longest = (*longest).max(second_length.map(|length| first_length.saturating_add(length)));
            }
        }
    }
    both
}

/// `count` times, or any number up to that.
fn repeated(element: &Part, count: u32, or_fewer: bool) -> Part {
    let mut once = *element;
    if or_fewer {
        for (longest, nothing) in once.iter_mut().flatten().zip(NOTHING.iter().flatten()) {
            *longest = (*longest).max(*nothing);
        }
    }
    let (mut all, mut power, mut rest) = (NOTHING, once, count);
    while rest > 0 {
        if rest % 2 == 1 {
            all = then(&all, &power);
        }
        rest /= 2;
        power = then(&power, &power);
    }
    all
}
