//! The memory layout of a struct whose bytes in memory are its CDR.

use super::structure::{Count, Element, Structure};

/// A struct of numbers whose offsets in memory are equal to their offsets in CDR, if the CDR begins at a multiple of 8.
/// The struct has no padding at its end.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub size_bytes: usize,
    /// The largest alignment of a number in the struct.
    pub alignment: usize,
    /// The alignment of the first number in the struct.
    first_alignment: usize,
    has_padding: bool,
    /// The offsets and lengths of the struct's booleans.
    pub bools: Vec<(usize, usize)>,
}

impl Shape {
    /// Returns the shape of a struct, or `None` if its bytes in memory differ from its CDR. They also differ if the
    /// struct has padding at its end: a struct of a `float64` and a `uint8` has 16 bytes, but its CDR has 9. A message
    /// from another node would be shorter than the struct that a reader expects.
    pub fn from_structure(structure: &Structure) -> Option<Shape> {
        let mut shape = Shape::default();
        shape.add(structure, 0)?;
        (shape.size_bytes == structure.size_bytes).then_some(shape)
    }

    /// True if the struct may be copied in one piece at any aligned position of a body. Such a struct has no padding,
    /// whose bytes would leak to other processes, and no booleans, which have to be checked.
    pub fn is_block(&self) -> bool {
        !self.has_padding && self.bools.is_empty() && self.first_alignment == self.alignment
    }

    fn add(&mut self, structure: &Structure, base: usize) -> Option<()> {
        for field in &structure.fields {
            let count = match field.count {
                Count::One => 1,
                Count::Array(count) => count,
                Count::Sequence(_) => return None,
            };
            let offset = base + field.offset;
            match &field.element {
                Element::Number(number) => {
                    self.number(offset, number.size_bytes, count)?;
                    if number.is_bool {
                        self.bools.push((offset, count));
                    }
                }
                Element::Text { .. } | Element::WideText { .. } => return None,
                Element::Message(nested) if count == 1 => self.add(nested, offset)?,
                Element::Message(nested) => {
                    let bools = self.bools.len();
                    self.add(nested, offset)?;
                    // Each element begins at a multiple of its alignment, so all elements have the same layout as the
                    // first one.
                    let has_same_stride = self.size_bytes == offset + nested.size_bytes;
                    if !has_same_stride || self.bools.len() > bools {
                        return None;
                    }
                    self.size_bytes = offset + nested.size_bytes.checked_mul(count)?;
                }
            }
        }
        Some(())
    }

    fn number(&mut self, offset: usize, alignment: usize, count: usize) -> Option<()> {
        let start = self.size_bytes.next_multiple_of(alignment);
        if start != offset {
            return None;
        }
        if self.alignment == 0 {
            self.first_alignment = alignment;
        }
        self.has_padding |= start != self.size_bytes;
        self.alignment = self.alignment.max(alignment);
        self.size_bytes = start.checked_add(alignment.checked_mul(count)?)?;
        Some(())
    }
}
