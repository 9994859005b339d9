//! The parser of one `.msg` or `.srv` file. Each line is a field, a constant or a comment.
//!
//! The parser accepts all that ROS 2's `rosidl_adapter` accepts, and reads it in the same way: for example, a `#`
//! begins a comment even inside a text. It also accepts `package/msg/Name`, and comments that end with a backslash,
//! which ROS 2 refuses. It records each nested type as a [`Reference`], which `resolve` checks later. It continues
//! after an error, so that all errors are found at once.

use crate::{
    comment::Comment,
    error::{Error, Location, Problem, Report},
    field_type, literal,
    model::{BaseType, Constant, Count, Field, MessageDefinition, ServiceDefinition},
    name::{TypeName, check_constant, check_field},
    token::Token,
};
use std::collections::HashSet;

/// A field of `owner` that contains the message `target`.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) owner: TypeName,
    pub(crate) target: TypeName,
    /// The type as it is written in the file, without brackets.
    pub(crate) written: String,
    pub(crate) location: Location,
}

/// A line and its number in the file, starting at 1. As in ROS 2, tabs are replaced by spaces.
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) text: String,
}

pub(crate) fn lines(text: &str) -> Vec<Line> {
    let text_of = |line: &str| line.trim_end().replace('\t', " ");
    text.lines().enumerate().map(|(index, line)| Line { number: index + 1, text: text_of(line) }).collect()
}

/// The parser of the file `path`.
pub(crate) struct Parser<'a> {
    pub(crate) path: &'a str,
    pub(crate) report: &'a mut Report,
    pub(crate) references: &'a mut Vec<Reference>,
}

/// A message of which some lines have been read.
struct MessageBuilder {
    name: TypeName,
    fields: Vec<(Field, Comment)>,
    constants: Vec<(Constant, Comment)>,
    /// Comments above the next field or constant, to which they belong.
    comment_above: Comment,
    comment_target: CommentTarget,
    names: HashSet<String>,
}

/// The item to which an indented comment belongs, which is the item that was read last.
enum CommentTarget {
    Nothing,
    Field,
    Constant,
}

const SEPARATOR: &str = "---";

impl Parser<'_> {
    pub(crate) fn message(&mut self, name: TypeName, lines: &[Line]) -> MessageDefinition {
        let (comment, lines) = split_top_comment(lines);
        let mut builder = MessageBuilder {
            name,
            fields: Vec::new(),
            constants: Vec::new(),
            comment_above: Comment::default(),
            comment_target: CommentTarget::Nothing,
            names: HashSet::new(),
        };
        for line in lines {
            if self.report.is_full() {
                break;
            }
            if let Err(problem) = self.line(&mut builder, line) {
                self.report.push(self.error(line, problem));
            }
        }
        MessageDefinition {
            name: builder.name,
            fields: builder
                .fields
                .into_iter()
                .map(|(field, comment)| Field { comment: comment.into_text(), ..field })
                .collect(),
            constants: builder
                .constants
                .into_iter()
                .map(|(constant, comment)| Constant { comment: comment.into_text(), ..constant })
                .collect(),
            comment,
        }
    }

    /// Parses a service. The comment at the top of the file belongs to the service. The comment below the separator
    /// belongs to the response.
    pub(crate) fn service(&mut self, name: TypeName, lines: &[Line]) -> ServiceDefinition {
        let (comment, lines) = split_top_comment(lines);
        let mut separators =
            lines.iter().enumerate().filter(|(_, line)| line.text == SEPARATOR).map(|(index, _)| index);
        let middle = separators.next();
        if let Some(index) = separators.next() {
            let problem = line_token(&lines[index]).problem("a service has one `---`, and this is the second");
            self.report.push(self.error(&lines[index], problem));
        } else if middle.is_none() {
            let sentence = "a service needs a line `---` between its request and its response";
            self.report.push(Location::file(self.path).error(sentence.to_owned()));
        }
        let (request, response) = lines.split_at(middle.unwrap_or(lines.len()));
        let mut part = |end: &str, lines: &[Line]| {
            let part_name = TypeName { name: format!("{}{end}", name.name), ..name.clone() };
            self.message(part_name, lines)
        };
        let request = part("_Request", request);
        let response = part("_Response", response.get(1..).unwrap_or_default());
        ServiceDefinition { name, request, response, comment }
    }

    fn line(&mut self, builder: &mut MessageBuilder, line: &Line) -> Result<(), Problem> {
        let content = &line.text[..line.text.find('#').unwrap_or(line.text.len())];
        let comment = &line.text[content.len()..];
        if content.trim().is_empty() {
            match comment {
                "" => builder.comment_above.add_gap(),
                comment if content.is_empty() => builder.comment_above.add(comment),
                comment => builder.add_below(comment),
            }
            return Ok(());
        }
        let content = Token { text: content.trim_end(), start: 0 };
        check_characters(content)?;
        let (written_type, rest) = content.split_before(|c| c == ' ');
        let (name, rest) = rest.trim().split_before(|c| c == ' ' || c == '=');
        if written_type.text.is_empty() {
            return Err(content.trim().problem("a field begins at the beginning of its line"));
        } else if name.text.is_empty() {
            return Err(content.problem("a field needs a type and a name, as in `float64 range_m`"));
        }
        let mut documentation = std::mem::take(&mut builder.comment_above);
        if !comment.is_empty() {
            documentation.add(comment);
        }
        let rest = rest.trim();
        match rest.strip_prefix("=") {
            Some(value) => {
                let constant = constant(written_type, name, value.trim())?;
                builder.constants.push((constant, documentation));
                builder.comment_target = CommentTarget::Constant;
            }
            None => {
                let field = self.field(builder, line, written_type, name, rest)?;
                builder.fields.push((field, documentation));
                builder.comment_target = CommentTarget::Field;
            }
        }
        if !builder.names.insert(name.text.to_owned()) {
            return Err(name.problem(format!("there is already a `{}` in this message", name.text)));
        }
        Ok(())
    }

    fn field(
        &mut self,
        builder: &MessageBuilder,
        line: &Line,
        written_type: Token<'_>,
        name: Token<'_>,
        default: Token<'_>,
    ) -> Result<Field, Problem> {
        let field_type = field_type::parse(written_type, &builder.name.package)?;
        check_field(name.text).map_err(|why| name.problem(why))?;
        if let BaseType::Message(target) = &field_type.base {
            let (written, _) = written_type.split_before(|c| c == '[');
            self.references.push(Reference {
                owner: builder.name.clone(),
                target: target.clone(),
                written: written.text.to_owned(),
                location: Location::in_line(self.path, line.number, &line.text, written.problem("").range),
            });
        }
        let default = match default.text {
            "" => None,
            _ => Some(literal::parse(&field_type, default)?),
        };
        Ok(Field { name: name.text.to_owned(), field_type, default, comment: String::new() })
    }

    fn error(&self, line: &Line, problem: Problem) -> Error {
        Location::in_line(self.path, line.number, &line.text, problem.range).error(problem.sentence)
    }
}

impl MessageBuilder {
    fn add_below(&mut self, comment: &str) {
        let documentation = match self.comment_target {
            CommentTarget::Nothing => None,
            CommentTarget::Field => self.fields.last_mut().map(|(_, comment)| comment),
            CommentTarget::Constant => self.constants.last_mut().map(|(_, comment)| comment),
        };
        if let Some(documentation) = documentation {
            documentation.add(comment);
        }
    }
}

fn constant(written_type: Token<'_>, name: Token<'_>, value: Token<'_>) -> Result<Constant, Problem> {
    let field_type = field_type::parse(written_type, "constant")?;
    let is_simple = match &field_type.base {
        BaseType::Primitive(_) => true,
        BaseType::String { bound } | BaseType::WString { bound } => bound.is_none(),
        BaseType::Message(_) => false,
    };
    if !is_simple || field_type.count != Count::One {
        let sentence = "a constant is a number, a `bool`, a `string` or a `wstring`, and not a list of them";
        return Err(written_type.problem(sentence));
    }
    check_constant(name.text).map_err(|why| match check_field(name.text) {
        Ok(()) => name.problem(format!("{why}; a field's default is written without `=`")),
        Err(_) => name.problem(why),
    })?;
    let value = literal::parse(&field_type, value)?;
    Ok(Constant { name: name.text.to_owned(), primitive: field_type.base, value, comment: String::new() })
}

/// Splits off the comment of the whole file, which must begin in the first line. Returns the comment and the remaining
/// lines.
fn split_top_comment(lines: &[Line]) -> (String, &[Line]) {
    let length = lines.iter().take_while(|line| line.text.starts_with('#')).count();
    let mut comment = Comment::default();
    lines[..length].iter().for_each(|line| comment.add(&line.text));
    (comment.into_text(), &lines[length..])
}

fn line_token(line: &Line) -> Token<'_> {
    Token { text: &line.text, start: 0 }
}

fn check_characters(content: Token<'_>) -> Result<(), Problem> {
    if content.text == SEPARATOR {
        return Err(
            content.problem("`---` separates the request and the response of a service, and cannot be in a message")
        );
    }
    if let Some((index, control)) = content.text.char_indices().find(|(_, c)| c.is_control()) {
        let (_, rest) = content.split_at(index);
        let sentence = format!("the character U+{:04X} does not belong here", u32::from(control));
        return Err(rest.split_at(control.len_utf8()).0.problem(sentence));
    }
    Ok(())
}
