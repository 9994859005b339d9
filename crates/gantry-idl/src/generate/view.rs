//! The views: a message in place, with a getter for each field, and with setters where its memory can be written.
//!
//! A borrowed one gives what lives as long as its memory, so that `sample.header().frame_id()` can be kept; the other owns its
//! memory, or a loan of it.

use std::fmt::Write as _;

use super::base::Write;
use super::field::FieldCode;
use super::text;

/// Layout, structs, getters and setters.
pub(super) fn code(name: &str, fields: &[FieldCode<'_>], has_shape: bool) -> String {
    let default = if has_shape { "" } else { ", Default" };
    let mut code = format!(
        "/// Where the fields of [`{name}`](struct@{name}) are.\n#[doc(hidden)]\n#[derive(Clone, Copy, Debug, PartialEq{default})]\n\
         pub struct {name}Layout {{\n    pub start_: u32,\n"
    );
    // In a message of fixed size all else follows from the start.
    for field in fields.iter().filter(|_| has_shape) {
        let _ = writeln!(code, "    {}: kind::Layout<{}>,", field.identifier, field.kind);
    }
    let _ = write!(
        code,
        "}}\n\n/// [`{name}`](struct@{name}) in place, borrowed.\n#[derive(Clone, Copy)]\npub struct {name}Ref<'a> {{\n    memory: &'a [u8],\n    \
         layout: {name}Layout,\n}}\n\n\
         /// [`{name}`](struct@{name}) in place, in memory `B_`: looked at, and written if `B_` can be.\n\
         pub struct {name}View<B_> {{\n    memory: B_,\n    layout: {name}Layout,\n}}\n\n\
         ::gantry_cdr::view!({name}Ref, {name}View of {name});\n\n"
    );
    let borrowed = |field: &FieldCode<'_>| {
        let FieldCode { identifier, documentation, get, kind, place, .. } = field;
        let get = get.of("'a");
        format!(
            "{}    #[inline]\n    pub fn {identifier}(self) -> {get} {{\n        \
             <{kind}>::get(self.memory, {place})\n    }}\n\n",
            text::indented(documentation, 4)
        )
    };
    push_impl(&mut code, &format!("impl<'a> {name}Ref<'a>"), fields.iter().map(borrowed).collect());
    push_impl(
        &mut code,
        &format!("impl<B_: ::core::convert::AsRef<[u8]>> {name}View<B_>"),
        fields.iter().map(getter).collect(),
    );
    push_impl(
        &mut code,
        &format!("impl<B_: ::core::convert::AsRef<[u8]> + ::core::convert::AsMut<[u8]>> {name}View<B_>"),
        fields.iter().map(|field| setter(field, fields)).collect(),
    );
    code
}

fn push_impl(code: &mut String, head: &str, functions: String) {
    if !functions.is_empty() {
        let _ = write!(code, "{head} {{\n{}\n}}\n\n", functions.trim_end());
    }
}

fn getter(field: &FieldCode<'_>) -> String {
    let FieldCode { identifier, documentation, get, kind, place, .. } = field;
    // Not by way of the borrowed view: the compiler takes minutes over copies of a layout of thousands of fields.
    format!(
        "{}    #[inline]\n    pub fn {identifier}(&self) -> {} {{\n        \
         <{kind}>::get(self.memory.as_ref(), {place})\n    }}\n\n",
        text::indented(documentation, 4),
        get.of("'_")
    )
}

fn setter(field: &FieldCode<'_>, fields: &[FieldCode<'_>]) -> String {
    // No field's name ends with an underscore.
    let free = |name: String| if fields.iter().any(|field| field.name == name) { name + "_" } else { name };
    let FieldCode { name, identifier, documentation, kind, place, .. } = field;
    let (signature, statement) = match &field.write {
        Write::Never => return String::new(),
        Write::Set(number) => {
            (format!("{}(&mut self, {identifier}: {number})", free(format!("set_{name}"))), format!("= {identifier};"))
        }
        Write::Borrow(target) => (format!("{}(&mut self) -> {target}", free(format!("{name}_mut"))), String::new()),
    };
    let target = format!("<{kind}>::get_mut(self.memory.as_mut(), {place})");
    let body = if statement.is_empty() { target } else { format!("*{target} {statement}") };
    format!("{}    #[inline]\n    pub fn {signature} {{\n        {body}\n    }}\n\n", text::indented(documentation, 4))
}
