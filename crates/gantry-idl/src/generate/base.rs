//! The parts of a field's Rust code that follow from its ROS 2 type.

use super::{scope::Scope, text};
use crate::model::{BaseType, Count};

/// The generated method that writes a field in place.
pub(super) enum Setter {
    /// No method, because a text does not change after the message is built.
    None,
    /// A setter for a number of this type.
    Set(&'static str),
    /// A method that borrows the field mutably and returns this type.
    BorrowMut(String),
}

/// The return type of a getter, with `{}` as a placeholder for its lifetime.
pub(super) struct GetterType(String);

impl GetterType {
    /// The return type with this lifetime. `&'_` is written as `&`.
    pub(super) fn with_lifetime(&self, lifetime: &str) -> String {
        let behind_reference = if lifetime == "'_" { "&".to_owned() } else { format!("&{lifetime} ") };
        self.0.replace("&{}", &behind_reference).replace("{}", lifetime)
    }
}

/// The Rust code for the type of a field's value, or for the type of an element of an array or a sequence.
pub(super) enum BaseCode {
    /// A number or boolean: its Rust type, and a literal for zero.
    Number(&'static str, &'static str),
    /// A text: its kind.
    Text { kind: String, wide: bool },
    /// A plain message: the path of its struct.
    Plain { path: String },
    /// Another message: the path of its struct, the type of its shape if it has one, and whether the shape has type
    /// parameters.
    Message { path: String, shape: Option<String>, is_generic: bool },
}

impl BaseCode {
    pub(super) fn new(base: &BaseType, scope: &Scope<'_>) -> BaseCode {
        let text_kind = |kind: &str, bound: Option<u32>| match bound {
            Some(bound) => format!("kind::{kind}<{bound}>"),
            None => format!("kind::{kind}"),
        };
        match base {
            BaseType::Primitive(primitive) => BaseCode::Number(text::primitive(*primitive), text::zero(*primitive)),
            BaseType::String { bound } => BaseCode::Text { kind: text_kind("Text", *bound), wide: false },
            BaseType::WString { bound } => BaseCode::Text { kind: text_kind("WideText", *bound), wide: true },
            BaseType::Message(name) if scope.definitions.is_plain(name) => BaseCode::Plain { path: scope.path(name) },
            BaseType::Message(name) => {
                let (path, its_shape) = (scope.path(name), scope.shape(name));
                let lifetime = if its_shape.borrows { "<'a>" } else { "" };
                let shape = its_shape.exists.then(|| format!("{path}Shape{lifetime}"));
                BaseCode::Message { path, shape, is_generic: its_shape.is_generic }
            }
        }
    }

    /// The Rust code for the kind of one element.
    pub(super) fn element(&self) -> String {
        match self {
            BaseCode::Number(number, _) => (*number).to_owned(),
            BaseCode::Text { kind, .. } => kind.clone(),
            BaseCode::Plain { path } | BaseCode::Message { path, .. } => path.clone(),
        }
    }

    /// Whether an array or sequence of this type can be a Rust slice in place.
    pub(super) fn is_flat(&self) -> bool {
        matches!(self, BaseCode::Number(..) | BaseCode::Plain { .. })
    }

    pub(super) fn kind(&self, count: Count) -> String {
        let element = self.element();
        let (sequence, array) = if self.is_flat() { ("Slice", "Array") } else { ("List", "FixedList") };
        match (self, count) {
            (BaseCode::Number(..), Count::One) => format!("kind::Number<{element}>"),
            (_, Count::One) => element,
            (_, Count::Array(length)) => format!("kind::{array}<{element}, {length}>"),
            (_, Count::Sequence { bound: None }) => format!("kind::{sequence}<{element}>"),
            (_, Count::Sequence { bound: Some(bound) }) => format!("kind::{sequence}<{element}, {bound}>"),
        }
    }

    fn owned(&self) -> String {
        match self {
            BaseCode::Text { .. } => "::gantry_cdr::alloc::string::String".to_owned(),
            _ => self.element(),
        }
    }

    pub(super) fn owned_of(&self, count: Count) -> String {
        match count {
            Count::One => self.owned(),
            Count::Array(length) => format!("[{}; {length}]", self.owned()),
            Count::Sequence { .. } => format!("::gantry_cdr::alloc::vec::Vec<{}>", self.owned()),
        }
    }

    pub(super) fn get(&self, count: Count) -> GetterType {
        GetterType(match (self, count) {
            (BaseCode::Number(number, _), Count::One) => (*number).to_owned(),
            (BaseCode::Text { wide: false, .. }, Count::One) => "&{}str".to_owned(),
            (BaseCode::Text { wide: true, .. }, Count::One) => "kind::WideRef<{}>".to_owned(),
            (BaseCode::Plain { path }, Count::One) => format!("&{{}}{path}"),
            (BaseCode::Message { path, .. }, Count::One) => format!("{path}Ref<{{}}>"),
            _ if self.is_flat() => format!("&{{}}[{}]", self.element()),
            _ => format!("kind::ListRef<{{}}, {}>", self.element()),
        })
    }

    pub(super) fn setter(&self, count: Count) -> Setter {
        match (self, count) {
            (BaseCode::Number(number, _), Count::One) => Setter::Set(number),
            (BaseCode::Text { .. }, _) => Setter::None,
            (BaseCode::Plain { path }, Count::One) => Setter::BorrowMut(format!("&mut {path}")),
            (BaseCode::Message { path, .. }, Count::One) => Setter::BorrowMut(format!("{path}View<&mut [u8]>")),
            _ if self.is_flat() => Setter::BorrowMut(format!("&mut [{}]", self.element())),
            _ => Setter::BorrowMut(format!("kind::ListMut<'_, {}>", self.element())),
        }
    }

    /// The type and the default value of one element in a shape; `None` if the element needs no shape.
    pub(super) fn shape(&self) -> Option<(String, String)> {
        match self {
            BaseCode::Number(..) | BaseCode::Plain { .. } | BaseCode::Message { shape: None, .. } => None,
            BaseCode::Text { .. } => Some(("&'a str".to_owned(), "\"\"".to_owned())),
            BaseCode::Message { path, shape: Some(shape), .. } => {
                Some((shape.clone(), format!("{path}Shape::DEFAULT")))
            }
        }
    }
}
