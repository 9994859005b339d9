//! The properties of the shapes of all message types, which are computed once.

use crate::{
    definitions::Definitions,
    model::{BaseType, Count, FieldType, MessageDefinition},
    name::TypeName,
};
use std::collections::HashMap;

/// The properties of a message type's shape.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Whether the type has a shape, because its messages differ in length.
    pub(super) exists: bool,
    /// Whether the shape borrows texts, so that its type has a lifetime.
    pub(super) borrows: bool,
    /// Whether the shape has type parameters. This is so if the message has a list of elements with shapes, which may
    /// come from any iterator.
    pub(super) is_generic: bool,
    /// Whether a view can be converted to the shape. An owned message always can. A view with wide texts cannot,
    /// because they are no `&str`.
    pub(super) from_view: bool,
}

/// The properties for a message of fixed size, which has no shape.
const NONE: Shape = Shape { exists: false, borrows: false, is_generic: false, from_view: true };

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
                let shape = shapes.fields_shape(message);
                shapes.0.insert(&message.name, shape);
            }
        }
        shapes
    }

    pub(super) fn shape(&self, name: &TypeName) -> Shape {
        self.0.get(name).copied().unwrap_or(NONE)
    }

    /// The properties for a message. Its nested messages must be in the map already.
    fn fields_shape(&self, message: &MessageDefinition) -> Shape {
        message.fields.iter().map(|field| self.field_shape(&field.field_type)).fold(NONE, |all, field| Shape {
            exists: all.exists || field.exists,
            borrows: all.borrows || field.borrows,
            is_generic: all.is_generic || field.is_generic,
            from_view: all.from_view && field.from_view,
        })
    }

    fn field_shape(&self, field: &FieldType) -> Shape {
        let one = field.count == Count::One;
        let element = match &field.base {
            BaseType::Primitive(_) => NONE,
            BaseType::String { .. } => Shape { exists: true, borrows: true, ..NONE },
            BaseType::WString { .. } => Shape { exists: true, borrows: true, from_view: false, ..NONE },
            BaseType::Message(name) => self.shape(name),
        };
        let is_generic = element.is_generic || (element.exists && !one);
        Shape {
            exists: element.exists || matches!(field.count, Count::Sequence { .. }),
            // The references of a generic field belong to the type parameter, so the shape itself borrows nothing.
            borrows: element.borrows && !is_generic,
            is_generic,
            from_view: element.from_view && !is_generic,
        }
    }
}
