//! The list of steps that write and read a message of one type.
//!
//! Neighbouring numbers form one step if their memory has the same layout as their CDR, even if they belong to
//! different nested messages.

use super::{
    sequence::Sequence,
    shape::Shape,
    structure::{Count, Element, Field, Structure},
    text::Language,
};

/// The steps for the messages of one type.
#[derive(Debug)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    /// The least CDR length of such a message, wherever it begins in the body.
    pub min_bytes: usize,
}

/// One step of a program.
#[derive(Debug)]
pub(super) struct Step {
    /// The offset of the field from the start of the struct.
    pub offset: usize,
    /// The path of the step's first field, for error texts.
    pub path: Box<str>,
    pub action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    /// Copies `length` bytes, which are aligned to `alignment` in CDR.
    Bytes { length: usize, alignment: usize },
    /// Checks `count` booleans that the previous step copied. `back` is the distance in bytes from the first boolean to
    /// the end of the copied bytes. The offset of this step is the offset of the first boolean in the struct.
    Bools { back: usize, count: usize },
    /// A string or a nested message.
    One(Item),
    /// An array of strings or nested messages.
    Array { count: usize, item: Item, stride: usize },
    /// A sequence.
    Sequence { sequence: Sequence, item: Item, stride: usize },
}

/// A string, a nested message, or the elements of a sequence of numbers.
#[derive(Debug)]
pub(super) enum Item {
    /// The elements of a sequence of numbers or plain structs, which are copied together.
    Block {
        alignment: usize,
        is_bool: bool,
    },
    Text {
        language: Language,
        bound: usize,
    },
    WideText {
        language: Language,
        bound: usize,
    },
    Message(Program),
}

impl Item {
    /// The least CDR length of an element.
    pub fn min_bytes(&self, stride: usize) -> usize {
        match self {
            Item::Block { .. } => stride,
            Item::Text { .. } | Item::WideText { .. } => size_of::<u32>(),
            Item::Message(program) => program.min_bytes,
        }
    }

    fn new(element: &Element) -> Item {
        match element {
            Element::Number(number) => Item::Block { alignment: number.size_bytes, is_bool: number.is_bool },
            Element::Text { language, bound } => Item::Text { language: *language, bound: *bound },
            Element::WideText { language, bound } => Item::WideText { language: *language, bound: *bound },
            Element::Message(structure) => match block(structure) {
                Some(shape) => Item::Block { alignment: shape.alignment, is_bool: false },
                None => Item::Message(Program::new(structure, 1)),
            },
        }
    }
}

impl Program {
    /// Makes the program of a struct whose position in CDR is a multiple of `alignment`.
    pub fn new(structure: &Structure, alignment: usize) -> Program {
        let steps = Vec::with_capacity(structure.fields.len());
        let program = Program { steps, min_bytes: 0 };
        let mut builder = Builder { program, known: Known { modulus: alignment, residue: 0 } };
        builder.structure(structure, 0, "");
        builder.program
    }
}

fn block(structure: &Structure) -> Option<Shape> {
    Shape::from_structure(structure).filter(Shape::is_block)
}

/// Partial knowledge of a position in CDR: its residue modulo a power of two.
#[derive(Clone, Copy)]
struct Known {
    /// One of 1, 2, 4 and 8.
    modulus: usize,
    residue: usize,
}

impl Known {
    /// Moves the position to the next multiple of `alignment`. Returns the padding before that multiple, if it is
    /// known.
    fn align(&mut self, alignment: usize) -> Option<usize> {
        if self.modulus < alignment {
            *self = Known { modulus: alignment, residue: 0 };
            return None;
        }
        let padding = self.residue.next_multiple_of(alignment) - self.residue;
        self.advance(padding);
        Some(padding)
    }

    fn advance(&mut self, length: usize) {
        self.residue = self.residue.wrapping_add(length) % self.modulus;
    }
}

struct Builder {
    program: Program,
    known: Known,
}

impl Builder {
    fn structure(&mut self, structure: &Structure, base: usize, path: &str) {
        for field in &structure.fields {
            let dot = if path.is_empty() { "" } else { "." };
            self.field(field, base + field.offset, &format!("{path}{dot}{}", field.name));
        }
    }

    fn field(&mut self, field: &Field, offset: usize, path: &str) {
        let stride = field.element.size_bytes();
        match (field.count, &field.element) {
            (Count::Sequence(sequence), element) => self.sequence(sequence, Item::new(element), stride, offset, path),
            (Count::One, Element::Message(nested)) => self.structure(nested, offset, path),
            (Count::One, Element::Number(number)) => {
                self.bytes(offset, stride, stride, number.is_bool.then_some(1), path);
            }
            (Count::Array(count), Element::Number(number)) => {
                self.bytes(offset, stride * count, stride, number.is_bool.then_some(count), path);
            }
            (Count::Array(count), Element::Message(nested)) if block(nested).is_some() => {
                let alignment = block(nested).map_or(1, |shape| shape.alignment);
                self.bytes(offset, stride * count, alignment, None, path);
            }
            (Count::One, element) => self.push(offset, path, Action::One(Item::new(element)), 1, stride),
            (Count::Array(count), element) => {
                let item = Item::new(element);
                self.push(offset, path, Action::Array { count, item, stride }, count, stride);
            }
        }
    }

    /// Adds a step of variable length, after which the position in CDR is unknown.
    fn push(&mut self, offset: usize, path: &str, action: Action, count: usize, stride: usize) {
        self.known = Known { modulus: 1, residue: 0 };
        if let Action::One(item) | Action::Array { item, .. } = &action {
            self.program.min_bytes =
                self.program.min_bytes.saturating_add(item.min_bytes(stride).saturating_mul(count));
        }
        self.program.steps.push(Step { offset, path: path.into(), action });
    }

    fn sequence(&mut self, sequence: Sequence, item: Item, stride: usize, offset: usize, path: &str) {
        // The position after a sequence is a multiple of 4 if its elements have 4 or 8 bytes: an empty sequence ends
        // after its length field of 4 bytes.
        let modulus = match &item {
            Item::Block { .. } => 1 << stride.trailing_zeros().min(2),
            _ => 1,
        };
        self.push(offset, path, Action::Sequence { sequence, item, stride }, 1, stride);
        self.program.min_bytes = self.program.min_bytes.saturating_add(size_of::<u32>());
        self.known = Known { modulus, residue: 0 };
    }

    /// Adds bytes to copy. The previous step copies them as well if they directly follow its bytes in memory and in
    /// CDR. `bools` is the number of booleans if the bytes are booleans.
    fn bytes(&mut self, offset: usize, length: usize, alignment: usize, bools: Option<usize>, path: &str) {
        let padding = self.known.align(alignment);
        self.known.advance(length);
        self.program.min_bytes = self.program.min_bytes.saturating_add(length);
        let steps = &mut self.program.steps;
        // A check of booleans counts back from the end of the previous step's bytes, so no further bytes may be added
        // to that step.
        match steps.last_mut() {
            Some(Step { offset: start, action: Action::Bytes { length: before, .. }, .. })
                if padding == Some(0) && *start + *before == offset =>
            {
                *before += length;
            }
            _ => steps.push(Step { offset, path: path.into(), action: Action::Bytes { length, alignment } }),
        }
        if let Some(count) = bools {
            steps.push(Step { offset, path: path.into(), action: Action::Bools { back: count, count } });
        }
    }
}
