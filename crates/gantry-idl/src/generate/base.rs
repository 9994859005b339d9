//! What a field has one or many of: the Rust types that follow from it.

use super::message::Names;
use super::text;
use crate::model::{BaseType, Count};

/// Plain messages up to this size start with their default when a message is built in place; larger ones are left as they are.
const SMALL_BYTES: usize = 1024;

/// How a field is written in place.
pub(super) enum Write {
    /// Not at all: a text is fixed when the message is built.
    Never,
    /// A setter for a number of this type.
    Set(&'static str),
    /// Something to write to, of this type.
    Borrow(String),
}

/// What a getter returns: a type, with `{}` where a lifetime stands.
pub(super) struct Get(String);

impl Get {
    /// The type with that lifetime; `'_` is left out behind a `&`.
    pub(super) fn of(&self, lifetime: &str) -> String {
        let behind_reference = if lifetime == "'_" { "&".to_owned() } else { format!("&{lifetime} ") };
        self.0.replace("&{}", &behind_reference).replace("{}", lifetime)
    }
}

/// What a field has one or many of.
pub(super) enum Base {
    /// The Rust type, and zero.
    Number(&'static str, &'static str),
    /// The kind.
    Text { kind: String, wide: bool },
    /// The path of the struct, and whether it is small.
    Plain { path: String, small: bool },
    /// The path of the struct, and the type of its shape with its default.
    Message { path: String, shape: Option<String>, shape_from: bool },
}

impl Base {
    pub(super) fn new(base: &BaseType, names: &Names<'_>) -> Base {
        let text_kind = |kind: &str, bound: Option<u32>| match bound {
            Some(bound) => format!("kind::{kind}<{bound}>"),
            None => format!("kind::{kind}"),
        };
        match base {
            BaseType::Primitive(primitive) => Base::Number(text::primitive(*primitive), text::zero(*primitive)),
            BaseType::String { bound } => Base::Text { kind: text_kind("Text", *bound), wide: false },
            BaseType::WString { bound } => Base::Text { kind: text_kind("WideText", *bound), wide: true },
            BaseType::Message(name) if names.definitions.is_plain(name) => Base::Plain {
                path: names.path(name),
                small: names.definitions.max_size_bytes(name).is_some_and(|bytes| bytes <= SMALL_BYTES),
            },
            BaseType::Message(name) => {
                let (path, its_shape) = (names.path(name), names.shape(name));
                let lifetime = if its_shape.borrows { "<'a>" } else { "" };
                let shape = its_shape.exists.then(|| format!("{path}Shape{lifetime}"));
                Base::Message { path, shape, shape_from: its_shape.from_owned }
            }
        }
    }

    /// One element's kind.
    pub(super) fn element(&self) -> String {
        match self {
            Base::Number(number, _) => (*number).to_owned(),
            Base::Text { kind, .. } => kind.clone(),
            Base::Plain { path, .. } | Base::Message { path, .. } => path.clone(),
        }
    }

    /// Whether its elements lie one after the other as in a Rust slice.
    pub(super) fn is_flat(&self) -> bool {
        matches!(self, Base::Number(..) | Base::Plain { .. })
    }

    pub(super) fn kind(&self, count: Count) -> String {
        let element = self.element();
        let (sequence, array) = if self.is_flat() { ("Slice", "Array") } else { ("List", "Row") };
        match (self, count) {
            (Base::Number(..), Count::One) => format!("kind::Number<{element}>"),
            (_, Count::One) => element,
            (_, Count::Array(length)) => format!("kind::{array}<{element}, {length}>"),
            (_, Count::Sequence { bound: None }) => format!("kind::{sequence}<{element}>"),
            (_, Count::Sequence { bound: Some(bound) }) => format!("kind::{sequence}<{element}, {bound}>"),
        }
    }

    fn owned(&self) -> String {
        match self {
            Base::Text { .. } => "::gantry_cdr::alloc::string::String".to_owned(),
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

    pub(super) fn get(&self, count: Count) -> Get {
        Get(match (self, count) {
            (Base::Number(number, _), Count::One) => (*number).to_owned(),
            (Base::Text { wide: false, .. }, Count::One) => "&{}str".to_owned(),
            (Base::Text { wide: true, .. }, Count::One) => "kind::WideRef<{}>".to_owned(),
            (Base::Plain { path, .. }, Count::One) => format!("&{{}}{path}"),
            (Base::Message { path, .. }, Count::One) => format!("{path}Ref<{{}}>"),
            _ if self.is_flat() => format!("&{{}}[{}]", self.element()),
            _ => format!("kind::ListRef<{{}}, {}>", self.element()),
        })
    }

    pub(super) fn write(&self, count: Count) -> Write {
        match (self, count) {
            (Base::Number(number, _), Count::One) => Write::Set(number),
            (Base::Text { .. }, _) => Write::Never,
            (Base::Plain { path, .. }, Count::One) => Write::Borrow(format!("&mut {path}")),
            (Base::Message { path, .. }, Count::One) => Write::Borrow(format!("{path}View<&mut [u8]>")),
            _ if self.is_flat() => Write::Borrow(format!("&mut [{}]", self.element())),
            _ => Write::Borrow(format!("kind::ListMut<'_, {}>", self.element())),
        }
    }

    /// One element's type in a shape, and its default, if it has one.
    pub(super) fn shape(&self) -> Option<(String, String)> {
        match self {
            Base::Number(..) | Base::Plain { .. } | Base::Message { shape: None, .. } => None,
            Base::Text { .. } => Some(("&'a str".to_owned(), "\"\"".to_owned())),
            Base::Message { path, shape: Some(shape), .. } => Some((shape.clone(), format!("{path}Shape::DEFAULT"))),
        }
    }
}
