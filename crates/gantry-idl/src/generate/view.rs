//! The view: a message in place, with a getter for each field, and with setters where its memory can be written.

use std::fmt::Write as _;

use super::field::{FieldCode, Write};
use super::text;

/// Layout, struct, getters and setters.
pub(super) fn code(name: &str, fields: &[FieldCode<'_>]) -> String {
    let mut code = format!(
        "/// Where the fields of a [`{name}`] are.\n#[doc(hidden)]\n#[derive(Clone, Copy, Debug, PartialEq)]\n\
         pub struct {name}Layout {{\n    start: u32,\n"
    );
    for field in fields {
        let _ = writeln!(code, "    {}: kind::Layout<{}>,", field.identifier, field.kind);
    }
    let _ = write!(
        code,
        "}}\n\n/// A [`{name}`] in place, in memory `B`: looked at, and written if `B` can be.\n\
         pub struct {name}View<B> {{\n    memory: B,\n    layout: {name}Layout,\n}}\n\n\
         ::gantry_cdr::view!({name}View of {name});\n\nimpl<B: AsRef<[u8]>> {name}View<B> {{\n"
    );
    for field in fields {
        let FieldCode { identifier, documentation, get, kind, .. } = field;
        let _ = write!(
            code,
            "{}    #[inline]\n    pub fn {identifier}(&self) -> {get} {{\n        \
             <{kind}>::get(self.memory.as_ref(), self.layout.{identifier})\n    }}\n\n",
            text::indented(documentation, 4)
        );
    }
    let setters: String = fields.iter().map(setter).collect();
    if setters.is_empty() {
        return code.trim_end().to_owned() + "\n}\n\n";
    }
    let _ = write!(code, "}}\n\nimpl<B: AsRef<[u8]> + AsMut<[u8]>> {name}View<B> {{\n{}\n}}\n\n", setters.trim_end());
    code.replace("\n\n}\n\nimpl", "\n}\n\nimpl")
}

fn setter(field: &FieldCode<'_>) -> String {
    let FieldCode { identifier, documentation, kind, .. } = field;
    let bare = identifier.trim_start_matches("r#");
    let (signature, statement) = match &field.write {
        Write::Never => return String::new(),
        Write::Set(number) => (format!("set_{bare}(&mut self, {identifier}: {number})"), format!("= {identifier};")),
        Write::Borrow(target) => (format!("{bare}_mut(&mut self) -> {target}"), String::new()),
    };
    let target = format!("<{kind}>::get_mut(self.memory.as_mut(), self.layout.{identifier})");
    let body = if statement.is_empty() { target } else { format!("*{target} {statement}") };
    format!("{}    #[inline]\n    pub fn {signature} {{\n        {body}\n    }}\n\n", text::indented(documentation, 4))
}
