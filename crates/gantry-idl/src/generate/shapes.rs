//! What the shape of each message type is like, found once for all of them.

use std::collections::HashMap;

use crate::definitions::Definitions;
use crate::model::{BaseType, Count, FieldType, MessageDefinition};
use crate::name::TypeName;

/// What the shape of a message type is like.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Whether there is one: messages of the type differ in length.
    pub(super) exists: bool,
    /// Whether it holds references: to texts, or to shapes of a list's elements.
    pub(super) borrows: bool,
    /// Whether it can be had from an owned message without allocation: no list has elements with shapes of their own.
    pub(super) from_owned: bool,
    /// Whether it can be had from a view, too: texts are `&str` there, but wide ones are not.
    pub(super) from_view: bool,
}

/// Of a message of fixed size.
const NONE: Shape = Shape { exists: false, borrows: false, from_owned: true, from_view: true };

/// The shapes of all message types.
pub(super) struct Shapes<'a>(HashMap<&'a TypeName, Shape>);

impl<'a> Shapes<'a> {
    pub(super) fn new(definitions: &'a Definitions) -> Shapes<'a> {
        let mut shapes = Shapes(HashMap::new());
        for root in definitions.messages() {
            if shapes.0.contains_key(&root.name) {
                continue;
            }
            for message in definitions.nested_first(root) {
                let shape = shapes.of_fields(message);
                shapes.0.insert(&message.name, shape);
            }
        }
        shapes
    }

    pub(super) fn of(&self, name: &TypeName) -> Shape {
        self.0.get(name).copied().unwrap_or(NONE)
    }

    /// What is nested is known.
    fn of_fields(&self, message: &MessageDefinition) -> Shape {
        message.fields.iter().map(|field| self.of_field(&field.field_type)).fold(NONE, |all, field| Shape {
            exists: all.exists || field.exists,
            borrows: all.borrows || field.borrows,
            from_owned: all.from_owned && field.from_owned,
            from_view: all.from_view && field.from_view,
        })
    }

    fn of_field(&self, field: &FieldType) -> Shape {
        let one = field.count == Count::One;
        let element = match &field.base {
            BaseType::Primitive(_) => NONE,
            BaseType::String { .. } => Shape { exists: true, borrows: true, from_owned: true, from_view: true },
            BaseType::WString { .. } => Shape { exists: true, borrows: true, from_owned: true, from_view: false },
            BaseType::Message(name) => self.of(name),
        };
        if one {
            return element;
        }
        let from = !element.exists;
        Shape {
            exists: element.exists || matches!(field.count, Count::Sequence { .. }),
            borrows: element.exists,
            from_owned: from,
            from_view: from,
        }
    }
}
