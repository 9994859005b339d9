//! Content filters: the filter expressions of DDS (the SQL subset in annex B of the specification), applied to views of
//! messages.

mod condition;
mod error;
mod field;
mod literal;
mod operator;
mod parser;
mod pattern;
mod token;

pub use error::FilterError;

use self::condition::Condition;
use crate::{message::DynamicMessage, message_type::MessageType};

/// A filter for the messages of one type. It is compiled once.
///
/// ```
/// use gantry_cdr::ByteOrder::LittleEndian;
/// use gantry_dynamic::{Filter, MessageType};
/// use gantry_idl::Definitions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let name = "my_robot/msg/Range".parse()?;
/// let range = MessageType::new(&Definitions::from_text(&name, "uint8 sensor\nfloat32[] ranges_m")?, &name)?;
/// let filter = Filter::new(&range, "sensor = %0 AND ranges_m[0] < 0.75", &["7"])?;
///
/// let near = [7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x3f];
/// assert!(filter.matches(&range.view(&near, LittleEndian)?));
/// let error = Filter::new(&range, "sensors = 7", &[""; 0]).unwrap_err().to_string();
/// assert!(error.starts_with("column 1 of the filter, at `sensors = 7`: my_robot/msg/Range has no field `sensors`; "));
/// # Ok(()) }
/// ```
///
/// # Expressions
/// - A predicate compares a field with a value, a parameter or another field: `=`, `<>` (or `!=`), `<`, `<=`, `>`,
///   `>=`; `x BETWEEN 1 AND 2`; `name LIKE 'front%'` with the wildcards `%` and `_`. A pattern may also use `*` and
///   `?`, as in Fast DDS.
/// - `NOT` binds more tightly than `AND`, and `AND` more tightly than `OR`. Keywords may be written in any case.
/// - A field is a path, such as `pose.position.x` or `ranges[3]`. A list or a message cannot be compared.
/// - A value is an integer, a float, `TRUE`, `FALSE` or a text in single quotes, in which `''` means one quote. In a
///   comparison with an 8-bit integer, a single character means its code. In a comparison with a `float32`, a number is
///   rounded to `float32`.
/// - `%0` to `%99` are parameters. The text of a parameter is a value in the same syntax; if it is a text, it needs
///   single quotes.
/// - A predicate about a list element that the message does not have is false. For NaN, only `<>` is true.
#[derive(Clone, Debug)]
pub struct Filter {
    condition: Condition,
}

impl Filter {
    /// Compiles a filter from its expression.
    ///
    /// # Errors
    /// The expression is not well-formed; the type has no such field; values cannot be compared; or a parameter is
    /// missing or is not a value. The error states the position.
    pub fn new(
        message_type: &MessageType,
        expression: &str,
        parameters: &[impl AsRef<str>],
    ) -> Result<Self, FilterError> {
        Ok(Self { condition: parser::condition(message_type, expression, parameters)? })
    }

    /// Whether a message of the filter's type passes the filter. Allocates nothing. For each compared field, the fields
    /// before it are skipped one by one.
    pub fn matches(&self, message: &DynamicMessage<'_>) -> bool {
        self.condition.holds(message)
    }
}
