//! Generates the views of a message that is not plain. A view gives access to a message in place, with a getter for
//! each field.
//!
//! The borrowed view (`Ref<'a>`) refers to memory with the lifetime `'a`. Its getters return values with this lifetime,
//! so that `sample.header().frame_id()` may outlive the temporary `header()`. The owning view (`View<B>`) owns its
//! memory `B`: a slice, a sample or a loan. Its getters borrow from the view. If `B` is writable, it also has setters.

use super::{base::Setter, field::FieldCode, text};
use crate::name::TypeName;
use std::fmt::Write as _;

/// Generates the layout, the view structs, and their getters and setters.
pub(super) fn code(type_name: &TypeName, fields: &[FieldCode<'_>], has_shape: bool) -> String {
    let name = &text::type_name(&type_name.name);
    let default = if has_shape { "" } else { ", Default" };
    let mut code = format!(
        "/// The positions of the fields of [`{name}`](struct@{name}).\n#[doc(hidden)]\n#[derive(Clone, Copy, Debug, PartialEq{default})]\n\
         pub struct {name}Layout {{\n    pub start_: u32,\n"
    );
    // The layout of a message of fixed size has no fields, because all positions follow from the start of the message.
    for field in fields.iter().filter(|_| has_shape) {
        let _ = writeln!(code, "    {}: kind::Layout<{}>,", field.identifier, field.kind);
    }
    let _ = write!(
        code,
        "}}\n\n/// [`{name}`](struct@{name}) in place, borrowed.\n#[derive(Clone, Copy)]\npub struct {name}Ref<'a> {{\n    memory: &'a [u8],\n    \
         layout: {name}Layout,\n}}\n\n\
         /// [`{name}`](struct@{name}) in place, in memory `B_`: read, and written if `B_` is writable.\n\
         pub struct {name}View<B_> {{\n    memory: B_,\n    layout: {name}Layout,\n}}\n\n\
         ::gantry_cdr::view!({name}Ref, {name}View of {name});\n\n"
    );
    let borrowed = |field: &FieldCode<'_>| {
        let FieldCode { identifier, documentation, get, kind, layout, .. } = field;
        let get = get.with_lifetime("'a");
        format!(
            "{}    #[inline]\n    pub fn {identifier}(self) -> {get} {{\n        \
             <{kind}>::get(self.memory, {layout})\n    }}\n\n",
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
        fields.iter().map(|field| setter(field, fields, type_name)).collect(),
    );
    code
}

fn push_impl(code: &mut String, head: &str, functions: String) {
    if !functions.is_empty() {
        let _ = write!(code, "{head} {{\n{}\n}}\n\n", functions.trim_end());
    }
}

fn getter(field: &FieldCode<'_>) -> String {
    let FieldCode { identifier, documentation, get, kind, layout, .. } = field;
    // The getters access the memory directly and do not call the borrowed view. A call would copy the layout, and for
    // thousands of fields the compiler would need minutes.
    format!(
        "{}    #[inline]\n    pub fn {identifier}(&self) -> {} {{\n        \
         <{kind}>::get(self.memory.as_ref(), {layout})\n    }}\n\n",
        text::indented(documentation, 4),
        get.with_lifetime("'_")
    )
}

fn setter(field: &FieldCode<'_>, fields: &[FieldCode<'_>], type_name: &TypeName) -> String {
    // An underscore is added to a method that has the name of a field. No field's name ends with one.
    let free = |name: String| if fields.iter().any(|field| field.name == name) { name + "_" } else { name };
    let FieldCode { name, identifier, documentation, kind, layout, .. } = field;
    let (signature, statement) = match &field.setter {
        Setter::None => return String::new(),
        Setter::Set(number) => {
            (format!("{}(&mut self, {identifier}: {number})", free(format!("set_{name}"))), format!("= {identifier};"))
        }
        Setter::BorrowMut(target) => (format!("{}(&mut self) -> {target}", free(format!("{name}_mut"))), String::new()),
    };
    let list = match &field.setter {
        Setter::BorrowMut(target) if target.starts_with("kind::ListMut") => {
            format!(".named(\"{name}\", \"{type_name}\")")
        }
        _ => String::new(),
    };
    let target = format!("<{kind}>::get_mut(self.memory.as_mut(), layout_){list}");
    let body = if statement.is_empty() { target } else { format!("*{target} {statement}") };
    format!(
        "{}    #[inline]\n    pub fn {signature} {{\n        let layout_ = {layout};\n        {body}\n    }}\n\n",
        text::indented(documentation, 4)
    )
}
