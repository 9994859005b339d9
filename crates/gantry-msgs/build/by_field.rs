//! Generates code for tests. The code builds every message in place, as a user's program does, and compares it field by
//! field.
//!
//! The generated code is not part of the library, and uses only public items of the library: shapes, setters and
//! getters. Its traits are in `tests/every/by_field.rs`.

use gantry_idl::{BaseType, Count, Definitions, EMPTY_MESSAGE_FIELD, Field, MessageDefinition, Primitive, TypeName};
use std::fmt::Write as _;

/// Generates an `impl ByField` for every message, and the list `SERVICES`. Each root is a set of definitions, with the
/// path of the module that has their generated code.
pub fn code(roots: &[(&Definitions, &str)]) -> String {
    let (mut code, mut services) = (String::new(), String::new());
    for (definitions, root) in roots {
        let writer = CodeWriter { definitions, root };
        definitions.messages().for_each(|message| code.push_str(&writer.message(message)));
        for service in definitions.services() {
            let _ = writeln!(services, "    service::<{}>(\"{root}\"),", writer.path(&service.name));
        }
    }
    let _ = writeln!(code, "#[allow(dead_code)]\npub static SERVICES: &[ServiceEntry] = &[\n{services}];");
    code
}

/// Writes the code for one root.
struct CodeWriter<'a> {
    definitions: &'a Definitions,
    root: &'a str,
}

impl CodeWriter<'_> {
    fn path(&self, name: &TypeName) -> String {
        format!("{}::{}::{}::{}", self.root, name.package, name.namespace, name.name)
    }

    fn is_flat(&self, base: &BaseType) -> bool {
        match base {
            BaseType::Primitive(_) => true,
            BaseType::String { .. } | BaseType::WString { .. } => false,
            BaseType::Message(name) => self.definitions.is_plain(name),
        }
    }

    fn has_shape(&self, name: &TypeName) -> bool {
        self.definitions.message(name).is_some_and(|message| message.fields.iter().any(|field| self.is_shaped(field)))
    }

    fn is_shaped(&self, field: &Field) -> bool {
        matches!(field.field_type.count, Count::Sequence { .. })
            || match &field.field_type.base {
                BaseType::Primitive(_) => false,
                BaseType::String { .. } | BaseType::WString { .. } => true,
                BaseType::Message(name) => self.has_shape(name),
            }
    }

    fn message(&self, message: &MessageDefinition) -> String {
        let path = self.path(&message.name);
        let plain = self.definitions.is_plain(&message.name);
        let shape = if self.has_shape(&message.name) { self.shape(message, "self") } else { "()".to_owned() };
        let (fill, mut same) = if plain {
            (
                "target.as_mut_bytes().copy_from_slice(self.as_bytes());".to_owned(),
                "view.as_bytes() == self.as_bytes()".to_owned(),
            )
        } else {
            let fill: String = message.fields.iter().map(|field| self.fill(field)).collect();
            let same: Vec<String> = message.fields.iter().map(|field| self.same(field)).collect();
            (fill, same.join("\n            && "))
        };
        if same.is_empty() {
            same = format!("same_bytes(&view.{EMPTY_MESSAGE_FIELD}(), &self.{EMPTY_MESSAGE_FIELD})");
        }
        // Because of alignment, some messages have the layout of their struct only at the start of a body. A body is
        // then viewed as the struct, but a field of such a type has getters.
        let (view, same_in_place) = if self.definitions.is_plain_body(&message.name) {
            ("&**view", "view.as_bytes() == self.as_bytes()".to_owned())
        } else {
            ("view", same.clone())
        };
        format!(
            "impl ByField for {path} {{
    fn shape(&self) -> impl Shape<Self> {{
        {shape}
    }}
    #[allow(unused_variables, unused_mut)]
    fn fill(&self, mut target: <Self as Kind>::Mut<'_>) {{
        {fill}
    }}
    fn same(&self, view: <Self as Kind>::Ref<'_>) -> bool {{
        {same}
    }}
    fn same_view<B: AsRef<[u8]>>(&self, view: &<Self as Message>::View<B>) -> bool {{
        let view = {view};
        {same_in_place}
    }}
    fn print<B: AsRef<[u8]>>(view: &<Self as Message>::View<B>, out: &mut dyn std::fmt::Write) -> std::fmt::Result {{
        write!(out, \"{{view:?}}\")
    }}
}}\n\n"
        )
    }

    /// The expression for the shape of the message `value`.
    fn shape(&self, message: &MessageDefinition, value: &str) -> String {
        let shaped = message.fields.iter().filter(|field| self.is_shaped(field));
        let fields: String =
            shaped.map(|field| format!("r#{}: {}, ", field.name, self.field_shape(field, value))).collect();
        format!("{}Shape {{ {fields}}}", self.path(&message.name))
    }

    /// The expression for a field's part of the shape of the message `value`.
    fn field_shape(&self, field: &Field, value: &str) -> String {
        let name = format!("{value}.r#{}", field.name);
        let each = match (&field.field_type.base, field.field_type.count) {
            (BaseType::Message(nested), Count::One) => {
                return self.definitions.message(nested).map_or_else(String::new, |nested| self.shape(nested, &name));
            }
            (BaseType::Message(nested), _) if self.has_shape(nested) => ".shape()",
            (BaseType::String { .. } | BaseType::WString { .. }, _) => ".as_str()",
            // A sequence whose elements have no shapes: its shape is its length.
            _ => return format!("{name}.len()"),
        };
        match field.field_type.count {
            Count::One => format!("{name}{each}"),
            Count::Array(_) => format!("{name}.each_ref().map(|each| each{each})"),
            Count::Sequence { .. } => format!("{name}.iter().map(|each| each{each})"),
        }
    }

    /// Generates code that writes the parts of a field that the shape does not determine.
    fn fill(&self, field: &Field) -> String {
        let name = &field.name;
        let flat = self.is_flat(&field.field_type.base);
        match (&field.field_type.base, field.field_type.count) {
            (BaseType::String { .. } | BaseType::WString { .. }, _) => String::new(),
            (BaseType::Primitive(_), Count::One) => format!("target.set_{name}(self.r#{name});\n        "),
            (_, Count::One) => format!("self.r#{name}.fill(target.{name}_mut());\n        "),
            (BaseType::Primitive(Primitive::Bool), _) => {
                format!("target.{name}_mut().copy_from_slice(&self.r#{name}[..]);\n        ")
            }
            _ if flat => {
                format!("target.{name}_mut().as_mut_bytes().copy_from_slice(self.r#{name}.as_bytes());\n        ")
            }
            // The code writes the first half of the elements one by one, and the rest by a single call, so that both
            // ways are tested.
            _ => format!(
                "{{
            let (first, rest) = self.r#{name}.split_at(self.r#{name}.len() / 2);
            let mut list = target.{name}_mut();
            first.iter().for_each(|each| each.fill(list.next().unwrap()));
            list.assign(rest).unwrap();
            assert!(list.is_empty() && list.next().is_none());
        }}
        "
            ),
        }
    }

    /// Generates code that compares the result of the field's getter with the field of the owned message.
    fn same(&self, field: &Field) -> String {
        let name = &field.name;
        let flat = self.is_flat(&field.field_type.base);
        let (got, owned) = (format!("view.r#{name}()"), format!("self.r#{name}"));
        let each = |got: &str, owned: &str| match &field.field_type.base {
            BaseType::Message(_) => format!("{owned}.same({got})"),
            BaseType::WString { .. } => format!("{got} == *{owned}.as_str()"),
            _ => format!("{got} == {owned}.as_str()"),
        };
        match (&field.field_type.base, field.field_type.count) {
            (BaseType::Primitive(_), Count::One) => format!("same_bytes(&{got}, &{owned})"),
            (_, Count::One) => each(&got, &owned),
            _ if flat => format!("same_bytes({got}, &{owned}[..])"),
            _ => format!("same_list({got}, &{owned}, |got, owned| {})", each("got", "owned")),
        }
    }
}
