//! Definitions as one text: a message, then all messages nested in it. Bags and MCAP files have this format
//! ("ros2msg").
//!
//! The text is written in a canonical form: first constants, then fields, one per line, without comments, and with the
//! packages of nested types. When a text is read, limits apply, because it may come from another process.

use crate::{
    definitions::Definitions,
    error::{Errors, Location, Report},
    literal,
    model::MessageDefinition,
    name::{Namespace, TypeName, is_part_of_service},
    parser::{Line, Parser, lines},
    resolve,
};
use std::fmt::Write;

/// The number of `=` in the line between two definitions.
const SEPARATOR_LENGTH: usize = 80;
/// The largest length of a text. The largest known definitions have a tenth of this length.
const LENGTH_LIMIT_BYTES: usize = 1 << 20;
const TYPE_LIMIT: usize = 1000;
/// The largest number of reported errors. Further errors would not help the reader.
const ERROR_LIMIT: usize = 20;

impl Definitions {
    /// Reads a message (or service) and the messages nested in it from an untrusted text in the format of
    /// [`Definitions::definition_text`]. Work and memory are bounded.
    ///
    /// # Errors
    /// The errors in the text, up to a limit.
    pub fn from_text(name: &TypeName, text: &str) -> Result<Self, Errors> {
        let path = name.to_string();
        if text.len() > LENGTH_LIMIT_BYTES {
            let sentence = format!("its definition is {} bytes long, and {LENGTH_LIMIT_BYTES} are allowed", text.len());
            return Err(Location::file(&path).error(sentence).into());
        }
        let mut report = Report::new(ERROR_LIMIT);
        let mut references = Vec::new();
        let mut definitions = Self::default();
        let lines = lines(text);
        let mut parser = Parser { path: &path, report: &mut report, references: &mut references };
        for (index, section) in lines.split(is_separator).enumerate() {
            if index == TYPE_LIMIT {
                let sentence = format!("its definition has more than {TYPE_LIMIT} types");
                parser.report.push(Location::file(&path).error(sentence));
                break;
            }
            if index == 0 {
                definitions.parse_interface(&mut parser, name, section);
                continue;
            }
            let title = section.first().map_or("", |line| &line.text);
            let number = section.first().map_or(0, |line| line.number);
            let mut reject = |sentence: String| {
                parser.report.push(Location::in_line(&path, number, title, 0..title.len()).error(sentence));
            };
            let Some(nested) = title.strip_prefix("MSG: ").and_then(|name| name.trim().parse::<TypeName>().ok()) else {
                reject(
                    "below a line of `=` there must be the name of a message, as in `MSG: std_msgs/Header`".to_owned(),
                );
                continue;
            };
            if definitions.messages.contains_key(&nested) {
                reject(format!("`{nested}` is defined twice"));
            } else if nested.namespace != Namespace::Msg {
                reject(format!("`{nested}` belongs to a service, and only messages can be nested"));
            } else {
                definitions.parse_interface(&mut parser, &nested, &section[1..]);
            }
        }
        resolve::check(&definitions, &references, &mut report);
        report.into_result().map(|()| definitions)
    }

    /// Reads several texts like [`Definitions::from_text`] into one set with all their types. If two definitions have
    /// the same name, the first one counts.
    ///
    /// # Errors
    /// The errors in the first defective text; or the texts together define a message that contains itself.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = (&'a TypeName, &'a str)>) -> Result<Self, Errors> {
        let (mut definitions, mut references) = (Self::default(), Vec::new());
        for (name, text) in texts {
            definitions.add_missing(&Self::from_text(name, text)?, &mut references);
        }
        let mut report = Report::new(ERROR_LIMIT);
        resolve::check(&definitions, &references, &mut report);
        report.into_result().map(|()| definitions)
    }

    /// The definition of the message (or service) and of all messages nested in it, in the format of bags and MCAP
    /// files ("ros2msg"); `None` if there is no such type.
    pub fn definition_text(&self, name: &TypeName) -> Option<String> {
        let (mut text, roots) = match self.services.get(name) {
            Some(service) => {
                let text = format!("{}---\n{}", own_text(&service.request), own_text(&service.response));
                (text, vec![&service.request, &service.response])
            }
            None => {
                let message = self.messages.get(name)?;
                (own_text(message), vec![message])
            }
        };
        for nested in self.needed_by(&roots) {
            // Writing to a `String` cannot fail.
            let _ =
                write!(text, "{}\nMSG: {}/{}\n", "=".repeat(SEPARATOR_LENGTH), nested.name.package, nested.name.name);
            text.push_str(&own_text(nested));
        }
        Some(text)
    }

    /// Reads the lines of one definition. Returns `false` if a definition with this name exists already.
    pub(crate) fn parse_interface(&mut self, parser: &mut Parser<'_>, name: &TypeName, lines: &[Line]) -> bool {
        if name.namespace == Namespace::Srv && !is_part_of_service(&name.name) {
            if self.services.contains_key(name) {
                return false;
            }
            let service = parser.service(name.clone(), lines);
            for part in [&service.request, &service.response] {
                self.messages.insert(part.name.clone(), part.clone());
            }
            self.services.insert(name.clone(), service);
        } else {
            if self.messages.contains_key(name) {
                return false;
            }
            self.messages.insert(name.clone(), parser.message(name.clone(), lines));
        }
        true
    }
}

fn is_separator(line: &Line) -> bool {
    line.text.len() == SEPARATOR_LENGTH && line.text.bytes().all(|byte| byte == b'=')
}

fn own_text(message: &MessageDefinition) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    for constant in &message.constants {
        let _ = writeln!(text, "{} {}={}", constant.primitive, constant.name, literal::write(&constant.value));
    }
    for field in &message.fields {
        let _ = write!(text, "{} {}", field.field_type, field.name);
        if let Some(default) = &field.default {
            let _ = write!(text, " {}", literal::write(default));
        }
        text.push('\n');
    }
    text
}
