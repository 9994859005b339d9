//! Reads one `.msg` or `.srv` file, line by line: a line is a field, a constant or a comment.
//!
//! Accepts what ROS 2's `rosidl_adapter` accepts, and `package/msg/Name` besides. Whether nested types exist is not known
//! yet: each is put down as a [`Reference`] for `resolve`. Goes on after an error, so that all are found at once.

use std::collections::HashSet;

use crate::comment::Comment;
use crate::error::{Error, Place, Problem, Report};
use crate::model::{BaseType, Constant, Count, Field, MessageDefinition, ServiceDefinition};
use crate::name::{TypeName, check_constant, check_field};
use crate::token::Token;
use crate::{field_type, literal};

/// A field of `owner` needs the message `target`.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) owner: TypeName,
    pub(crate) target: TypeName,
    /// As the file says it, without brackets.
    pub(crate) written: String,
    pub(crate) place: Place,
}

/// A line and its number in the file, from 1. Tabs are spaces, as in ROS 2.
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) text: String,
}

pub(crate) fn lines(text: &str) -> Vec<Line> {
    let text_of = |line: &str| line.trim_end().replace('\t', " ");
    text.lines().enumerate().map(|(index, line)| Line { number: index + 1, text: text_of(line) }).collect()
}

/// Reads what stands in the file `path`.
pub(crate) struct Parser<'a> {
    pub(crate) path: &'a str,
    pub(crate) report: &'a mut Report,
    pub(crate) references: &'a mut Vec<Reference>,
}

/// A message of which some lines are read.
struct Draft {
    name: TypeName,
    fields: Vec<(Field, Comment)>,
    constants: Vec<(Constant, Comment)>,
    /// Comments that belong to what follows.
    above: Comment,
    last: Last,
    names: HashSet<String>,
}

/// What an indented comment belongs to.
enum Last {
    Nothing,
    Field,
    Constant,
}

const SEPARATOR: &str = "---";

impl Parser<'_> {
    pub(crate) fn message(&mut self, name: TypeName, lines: &[Line]) -> MessageDefinition {
        let (comment, lines) = split_top_comment(lines);
        let mut draft = Draft {
            name,
            fields: Vec::new(),
            constants: Vec::new(),
            above: Comment::default(),
            last: Last::Nothing,
            names: HashSet::new(),
        };
        for line in lines {
            if self.report.is_full() {
                break;
            }
            if let Err(problem) = self.line(&mut draft, line) {
                self.report.push(self.error(line, problem));
            }
        }
        MessageDefinition {
            name: draft.name,
            fields: draft
                .fields
                .into_iter()
                .map(|(field, comment)| Field { comment: comment.into_text(), ..field })
                .collect(),
            constants: draft
                .constants
                .into_iter()
                .map(|(constant, comment)| Constant { comment: comment.into_text(), ..constant })
                .collect(),
            comment,
        }
    }

    /// The comment at the top is the service's, one below the separator the response's.
    pub(crate) fn service(&mut self, name: TypeName, lines: &[Line]) -> ServiceDefinition {
        let (comment, lines) = split_top_comment(lines);
        let mut separators =
            lines.iter().enumerate().filter(|(_, line)| line.text == SEPARATOR).map(|(index, _)| index);
        let middle = separators.next();
        if let Some(index) = separators.next() {
            let problem = whole(&lines[index]).problem("a service has one `---`, and this is the second");
            self.report.push(self.error(&lines[index], problem));
        } else if middle.is_none() {
            let sentence = "a service needs a line `---` between its request and its response";
            self.report.push(Place::whole(self.path).error(sentence.to_owned()));
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

    fn line(&mut self, draft: &mut Draft, line: &Line) -> Result<(), Problem> {
        let content = &line.text[..line.text.find('#').unwrap_or(line.text.len())];
        let comment = &line.text[content.len()..];
        if content.trim().is_empty() {
            match comment {
                "" => draft.above.add_gap(),
                comment if content.is_empty() => draft.above.add(comment),
                comment => draft.add_below(comment),
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
        let mut documentation = std::mem::take(&mut draft.above);
        if !comment.is_empty() {
            documentation.add(comment);
        }
        let rest = rest.trim();
        match rest.strip_prefix("=") {
            Some(value) => {
                check_comment(value.trim(), comment)?;
                let constant = constant(written_type, name, value.trim())?;
                draft.constants.push((constant, documentation));
                draft.last = Last::Constant;
            }
            None => {
                check_comment(rest, comment)?;
                let field = self.field(draft, line, written_type, name, rest)?;
                draft.fields.push((field, documentation));
                draft.last = Last::Field;
            }
        }
        if !draft.names.insert(name.text.to_owned()) {
            return Err(name.problem(format!("there is already a `{}` in this message", name.text)));
        }
        Ok(())
    }

    fn field(
        &mut self,
        draft: &Draft,
        line: &Line,
        written_type: Token<'_>,
        name: Token<'_>,
        default: Token<'_>,
    ) -> Result<Field, Problem> {
        let field_type = field_type::parse(written_type, &draft.name.package)?;
        check_field(name.text).map_err(|why| name.problem(why))?;
        if let BaseType::Message(target) = &field_type.base {
            let (written, _) = written_type.split_before(|c| c == '[');
            self.references.push(Reference {
                owner: draft.name.clone(),
                target: target.clone(),
                written: written.text.to_owned(),
                place: Place::in_line(self.path, line.number, &line.text, written.problem("").range),
            });
        }
        let default = match default.text {
            "" => None,
            _ => Some(literal::parse(&field_type, default)?),
        };
        Ok(Field { name: name.text.to_owned(), field_type, default, comment: String::new() })
    }

    fn error(&self, line: &Line, problem: Problem) -> Error {
        Place::in_line(self.path, line.number, &line.text, problem.range).error(problem.sentence)
    }
}

impl Draft {
    fn add_below(&mut self, comment: &str) {
        let documentation = match self.last {
            Last::Nothing => None,
            Last::Field => self.fields.last_mut().map(|(_, comment)| comment),
            Last::Constant => self.constants.last_mut().map(|(_, comment)| comment),
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

/// The comment in a file's first lines, if its first line is one, is that of the whole file.
fn split_top_comment(lines: &[Line]) -> (String, &[Line]) {
    let length = lines.iter().take_while(|line| line.text.starts_with('#')).count();
    let mut comment = Comment::default();
    lines[..length].iter().for_each(|line| comment.add(&line.text));
    (comment.into_text(), &lines[length..])
}

fn whole(line: &Line) -> Token<'_> {
    Token { text: &line.text, start: 0 }
}

fn check_characters(content: Token<'_>) -> Result<(), Problem> {
    if content.text == SEPARATOR {
        return Err(content.problem("`---` stands between the request and the response of a service, not in a message"));
    }
    if let Some((index, control)) = content.text.char_indices().find(|(_, c)| c.is_control()) {
        let (_, rest) = content.split_at(index);
        let sentence = format!("the character U+{:04X} does not belong here", u32::from(control));
        return Err(rest.split_at(control.len_utf8()).0.problem(sentence));
    }
    Ok(())
}

/// A text that is closed only in the comment behind it was not meant to end there.
fn check_comment(value: Token<'_>, comment: &str) -> Result<(), Problem> {
    let is_cut =
        |quote: char| value.text.starts_with(quote) && !value.text[1..].ends_with(quote) && comment.contains(quote);
    if ['"', '\''].into_iter().any(is_cut) {
        return Err(value.problem("a `#` begins a comment in ROS 2, even in a text; write it as `\\x23` there"));
    }
    Ok(())
}
