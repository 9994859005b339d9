//! The parser of expressions: the SQL subset of the DDS specification, annex B.
//!
//! ```text
//! condition   = conjunction { OR conjunction }
//! conjunction = negation { AND negation }
//! negation    = NOT negation | "(" condition ")" | predicate
//! predicate   = operand operator operand | operand [NOT] LIKE operand | operand [NOT] BETWEEN operand AND operand
//! operand     = field | value | parameter
//! ```

use super::{
    condition::{Condition, Side},
    error::FilterError,
    field::{Field, FieldKind},
    literal::Literal,
    operator::Operator,
    pattern::Pattern,
    token::{Kind, Token, Tokens},
};
use crate::message_type::MessageType;
use gantry_idl::Primitive;

/// The largest depth of nested conditions. It limits the recursion.
const MAX_DEPTH: usize = 64;

/// Parses the condition of an expression.
pub(super) fn condition<P: AsRef<str>>(
    message_type: &MessageType,
    expression: &str,
    parameters: &[P],
) -> Result<Condition, FilterError> {
    let mut tokens = Tokens::new(expression);
    let next = tokens.next()?;
    let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
    let mut parser = Parser { message_type, expression, parameters: &parameters, tokens, next, depth: 0 };
    let condition = parser.condition()?;
    match parser.next.kind {
        Kind::End => Ok(condition),
        Kind::Close => Err(parser.error("this closing parenthesis has no opening parenthesis")),
        _ => Err(parser.error("AND, OR or the end is expected")),
    }
}

struct Parser<'a> {
    message_type: &'a MessageType,
    expression: &'a str,
    parameters: &'a [&'a str],
    tokens: Tokens<'a>,
    next: Token<'a>,
    depth: usize,
}

/// An operand of a predicate, with its offset in the expression.
struct Operand<'a> {
    what: What<'a>,
    offset: usize,
}

enum What<'a> {
    Field(Field),
    Value(Literal<'a>),
}

impl<'a> Parser<'a> {
    fn condition(&mut self) -> Result<Condition, FilterError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("a filter has at most {MAX_DEPTH} conditions nested in each other")));
        }
        let mut any = vec![self.conjunction()?];
        while self.skip_keyword("OR")? {
            any.push(self.conjunction()?);
        }
        self.depth -= 1;
        Ok(one_or(any, Condition::Any))
    }

    fn conjunction(&mut self) -> Result<Condition, FilterError> {
        let mut all = vec![self.negation()?];
        while self.skip_keyword("AND")? {
            all.push(self.negation()?);
        }
        Ok(one_or(all, Condition::All))
    }

    fn negation(&mut self) -> Result<Condition, FilterError> {
        let mut is_negated = false;
        while !self.is_field() && self.skip_keyword("NOT")? {
            is_negated = !is_negated;
        }
        let condition = match self.next.kind {
            Kind::Open => {
                let open = self.take()?;
                let condition = self.condition()?;
                if self.next.kind != Kind::Close {
                    return Err(self.error(format!(
                        "AND, OR or the parenthesis that closes the one in column {} is expected",
                        self.expression.get(..open.offset).map_or(0, |before| before.chars().count()) + 1
                    )));
                }
                self.take()?;
                condition
            }
            _ => self.predicate()?,
        };
        Ok(if is_negated { Condition::Not(condition.into()) } else { condition })
    }

    fn predicate(&mut self) -> Result<Condition, FilterError> {
        let left = self.operand()?;
        let offset = self.next.offset;
        if let Kind::Operator(operator) = self.next.kind {
            self.take()?;
            let right = self.operand()?;
            return self.comparison(left, operator, right, offset);
        }
        let is_negated = self.skip_keyword("NOT")?;
        if self.skip_keyword("LIKE")? {
            let pattern = self.operand()?;
            self.like(left, is_negated, pattern)
        } else if self.skip_keyword("BETWEEN")? {
            let low = self.operand()?;
            if !self.skip_keyword("AND")? {
                return Err(self.error("AND is expected, as in x BETWEEN 1 AND 2"));
            }
            let high = self.operand()?;
            self.between(left, is_negated, low, high)
        } else if self.is_keyword("MATCH") {
            Err(self.error("MATCH is not supported; LIKE has the wildcards % and _"))
        } else {
            Err(self.error("=, <>, <, <=, >, >=, LIKE or BETWEEN is expected"))
        }
    }

    fn operand(&mut self) -> Result<Operand<'a>, FilterError> {
        let (offset, is_field) = (self.next.offset, self.is_field());
        let literal = if is_field { None } else { Literal::from_token(&self.next.kind) };
        let what = match (literal, &self.next.kind) {
            (Some(literal), _) => literal.map(What::Value).map_err(|sentence| self.error(sentence))?,
            (None, Kind::Parameter(index)) => What::Value(self.parameter(*index)?),
            (None, Kind::Word(path)) => {
                let field = Field::new(self.message_type, path);
                What::Field(field.map_err(|sentence| self.error(sentence))?)
            }
            (None, _) => return Err(self.error("a field, a value or a parameter is expected")),
        };
        self.take()?;
        Ok(Operand { what, offset })
    }

    fn parameter(&self, index: usize) -> Result<Literal<'a>, FilterError> {
        let Some(text) = self.parameters.get(index) else {
            let given = match self.parameters.len() {
                0 => "no parameters were given".to_owned(),
                1 => "only %0 was given".to_owned(),
                count => format!("only %0 to %{} were given", count - 1),
            };
            return Err(self.error(format!("there is no parameter %{index}: {given}")));
        };
        Literal::from_parameter(index, text)
    }

    fn comparison(
        &self,
        left: Operand<'a>,
        operator: Operator,
        right: Operand<'a>,
        offset: usize,
    ) -> Result<Condition, FilterError> {
        let error = |sentence| FilterError::at(self.expression, offset, sentence);
        let (field, operator, other) = match (left.what, right.what) {
            (What::Field(left), What::Field(right)) => {
                if !are_comparable(left.kind, right.kind) {
                    return Err(error(format!(
                        "`{}` is {}, and `{}` is {}: they cannot be compared",
                        left.path,
                        left.kind_in_words(),
                        right.path,
                        right.kind_in_words()
                    )));
                }
                (left, operator, Side::Field(right))
            }
            (What::Field(field), What::Value(value)) => {
                let constant = value.constant_for(&field).map_err(error)?;
                (field, operator, Side::Constant(constant))
            }
            (What::Value(value), What::Field(field)) => {
                let constant = value.constant_for(&field).map_err(error)?;
                (field, operator.exchanged(), Side::Constant(constant))
            }
            (What::Value(_), What::Value(_)) => {
                return Err(error("both sides are values; one side is a field of the message".to_owned()));
            }
        };
        Ok(Condition::Comparison { field, operator, other })
    }

    fn like(&self, left: Operand<'a>, is_negated: bool, pattern: Operand<'a>) -> Result<Condition, FilterError> {
        match (left.what, pattern.what) {
            (What::Field(field), What::Value(Literal::Text(pattern))) if field.kind == FieldKind::Text => {
                Ok(Condition::Like { field, pattern: Pattern::new(&pattern), is_negated })
            }
            _ => Err(FilterError::at(
                self.expression,
                left.offset,
                "LIKE compares a field that is a text with a pattern, as in name LIKE 'front%'",
            )),
        }
    }

    fn between(
        &self,
        operand: Operand<'a>,
        is_negated: bool,
        low: Operand<'a>,
        high: Operand<'a>,
    ) -> Result<Condition, FilterError> {
        let offset = operand.offset;
        let What::Field(field) = operand.what else {
            let sentence = "BETWEEN compares a field with two values, as in x BETWEEN 1 AND 2";
            return Err(FilterError::at(self.expression, offset, sentence));
        };
        // Both forms (with and without `NOT`) are false if the message does not have the element.
        let (operators, combine): (_, fn(Vec<Condition>) -> Condition) = match is_negated {
            false => ([Operator::GreaterOrEqual, Operator::LessOrEqual], Condition::All),
            true => ([Operator::Less, Operator::Greater], Condition::Any),
        };
        let bounds = operators.into_iter().zip([low, high]).map(|(operator, bound)| {
            let (at, left) = (bound.offset, Operand { what: What::Field(field.clone()), offset });
            self.comparison(left, operator, bound, at)
        });
        bounds.collect::<Result<_, _>>().map(combine)
    }

    /// Whether the next token is the name of a field. A field may have a name such as `not` or `true`.
    fn is_field(&self) -> bool {
        let Kind::Word(path) = self.next.kind else { return false };
        let root = self.message_type.structure(self.message_type.root_index());
        root.definition.fields.iter().any(|field| path.split(['.', '[']).next() == Some(field.name.as_str()))
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.next.kind, Kind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Takes the next token if it is this keyword. Returns whether it was taken.
    fn skip_keyword(&mut self, keyword: &str) -> Result<bool, FilterError> {
        let is_it = self.is_keyword(keyword);
        if is_it {
            self.take()?;
        }
        Ok(is_it)
    }

    fn take(&mut self) -> Result<Token<'a>, FilterError> {
        let next = self.tokens.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Makes an error at the next token.
    fn error(&self, sentence: impl Into<String>) -> FilterError {
        FilterError::at(self.expression, self.next.offset, sentence)
    }
}

/// Whether two fields can be compared: both must be texts, booleans or numbers.
fn are_comparable(left: FieldKind, right: FieldKind) -> bool {
    let class = |kind| match kind {
        FieldKind::Text => 0,
        FieldKind::Primitive(Primitive::Bool) => 1,
        FieldKind::Primitive(_) => 2,
    };
    class(left) == class(right)
}

/// Combines several conditions by `combine`; returns a single condition unchanged.
fn one_or(mut conditions: Vec<Condition>, combine: fn(Vec<Condition>) -> Condition) -> Condition {
    match (conditions.pop(), conditions.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            conditions.extend(last);
            combine(conditions)
        }
    }
}
