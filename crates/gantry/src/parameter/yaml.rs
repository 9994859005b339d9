//! YAML values of parameters, read as rcl does (`rcl_yaml_param_parser/src/parse.c`): YAML 1.1's booleans, C's numbers,
//! and sequences whose elements have one type.

use super::{number, value::ParameterValue};
use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use std::borrow::Cow;

const TRUE: [&str; 11] = ["Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"];
const FALSE: [&str; 11] = ["N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"];

/// The events of a YAML text, without the events that rcl ignores. An error is a sentence with the line number.
pub(super) struct Events<'a>(Parser<'a, StrInput<'a>>);

impl<'a> Events<'a> {
    pub(super) fn new(text: &'a str) -> Events<'a> {
        Events(Parser::new_from_str(text))
    }

    /// The next YAML event with its line; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<(Event<'a>, usize)>, String> {
        loop {
            match self.0.next() {
                None => return Ok(None),
                Some(Err(error)) => return Err(format!("the text is not YAML: {error}")),
                Some(Ok((event, span))) => match event {
                    Event::Nothing
                    | Event::StreamStart
                    | Event::StreamEnd
                    | Event::DocumentStart(_)
                    | Event::DocumentEnd => {}
                    Event::Alias(_) => return Err(at(&span, "aliases (*name) are not supported, as in ROS 2")),
                    event => return Ok(Some((event, span.start.line()))),
                },
            }
        }
    }
}

fn at(span: &Span, why: &str) -> String {
    format!("line {}: {why}", span.start.line())
}

/// Reads one value, as in `-p name:=value`.
pub(super) fn value(text: &str) -> Result<ParameterValue, String> {
    let mut events = Events::new(text);
    let value = match events.next()? {
        Some((Event::Scalar(text, style, _, tag), line)) => scalar(&text, style, tag.as_ref(), line)?,
        Some((Event::SequenceStart(..), line)) => sequence(&mut events, line)?,
        Some(_) => return Err("a value is a scalar or a sequence; a mapping needs a parameter file".to_owned()),
        None => return Err("there is no value".to_owned()),
    };
    match events.next()? {
        None => Ok(value),
        Some((_, line)) => Err(format!("line {line}: there is more than one value")),
    }
}

/// Reads a scalar.
pub(super) fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Cow<'_, Tag>>,
    line: usize,
) -> Result<ParameterValue, String> {
    let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    if text.is_empty() && !is_quoted {
        return Err(format!("line {line}: there is no value; an empty text is ''"));
    }
    if is_quoted || tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str") {
        return Ok(ParameterValue::String(text.to_owned()));
    }
    Ok(match text {
        _ if TRUE.contains(&text) => ParameterValue::Bool(true),
        _ if FALSE.contains(&text) => ParameterValue::Bool(false),
        _ => match (number::integer(text), number::double(text)) {
            (Some(value), _) => ParameterValue::Integer(value),
            (None, Some(value)) => ParameterValue::Double(value),
            (None, None) => ParameterValue::String(text.to_owned()),
        },
    })
}

/// Reads the elements of a sequence that has begun.
pub(super) fn sequence(events: &mut Events<'_>, first_line: usize) -> Result<ParameterValue, String> {
    let mut array = None;
    loop {
        let (element, line) = match events.next()? {
            Some((Event::SequenceEnd, _)) => break,
            Some((Event::Scalar(text, style, _, tag), line)) => (scalar(&text, style, tag.as_ref(), line)?, line),
            Some((_, line)) => return Err(format!("line {line}: an element of a sequence is a scalar")),
            None => return Err(format!("line {first_line}: the sequence does not end")),
        };
        let given = element.parameter_type();
        match (&mut array, element) {
            (None, ParameterValue::Bool(value)) => array = Some(ParameterValue::BoolArray(vec![value])),
            (None, ParameterValue::Integer(value)) => array = Some(ParameterValue::IntegerArray(vec![value])),
            (None, ParameterValue::Double(value)) => array = Some(ParameterValue::DoubleArray(vec![value])),
            (None, ParameterValue::String(value)) => array = Some(ParameterValue::StringArray(vec![value])),
            (Some(ParameterValue::BoolArray(values)), ParameterValue::Bool(value)) => values.push(value),
            (Some(ParameterValue::IntegerArray(values)), ParameterValue::Integer(value)) => values.push(value),
            (Some(ParameterValue::DoubleArray(values)), ParameterValue::Double(value)) => values.push(value),
            (Some(ParameterValue::StringArray(values)), ParameterValue::String(value)) => values.push(value),
            (array, element) => {
                let array = array.as_ref().map(ParameterValue::parameter_type).unwrap_or_default();
                return Err(format!(
                    "line {line}: {element} is of type {given} and stands in a sequence of type {array}"
                ));
            }
        }
    }
    array
        .ok_or_else(|| format!("line {first_line}: an empty sequence has no type, so it is not a value of a parameter"))
}
