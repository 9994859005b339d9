//! The tokens of an expression.

use super::{error::FilterError, operator::Operator};
use std::borrow::Cow;

/// A token, and the offset of its first byte in the expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) offset: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// A keyword, or the path of a field, such as `pose.position.x` or `ranges[3]`.
    Word(&'a str),
    Integer(&'a str),
    Float(&'a str),
    Text(Cow<'a, str>),
    /// The index of a parameter, from `%0` to `%99`.
    Parameter(usize),
    Operator(Operator),
    Open,
    Close,
    End,
}

/// The tokens of a text. After the last token, [`Kind::End`] is returned in each call.
pub(super) struct Tokens<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, FilterError> {
        self.skip(|char| char.is_ascii_whitespace());
        let offset = self.offset;
        let Some(first) = self.rest().chars().next() else { return Ok(Token { kind: Kind::End, offset }) };
        let kind = match first {
            '(' => self.symbol(1, Kind::Open),
            ')' => self.symbol(1, Kind::Close),
            '\'' | '`' => self.quoted()?,
            '%' => self.parameter()?,
            '0'..='9' | '.' | '+' | '-' => self.number()?,
            'a'..='z' | 'A'..='Z' | '_' => {
                Kind::Word(self.skip(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '[' | ']')))
            }
            _ => self.operator()?,
        };
        Ok(Token { kind, offset })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// Skips characters while `is_skipped` returns true for them, and returns them.
    fn skip(&mut self, mut is_skipped: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|char: char| !is_skipped(char)).unwrap_or(rest.len());
        self.offset += length;
        &rest[..length]
    }

    fn symbol(&mut self, length: usize, kind: Kind<'a>) -> Kind<'a> {
        self.offset += length;
        kind
    }

    fn error(&self, sentence: impl Into<String>) -> FilterError {
        FilterError::at(self.text, self.offset, sentence)
    }

    fn operator(&mut self) -> Result<Kind<'a>, FilterError> {
        /// The first operator that matches is taken, so a longer operator comes before a shorter one with the same
        /// beginning.
        const OPERATORS: [(&str, Operator); 7] = [
            ("<>", Operator::NotEqual),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("=", Operator::Equal),
        ];
        const OTHER_LANGUAGES: [(&str, &str); 6] =
            [("==", "="), ("&&", "AND"), ("||", "OR"), ("&", "AND"), ("|", "OR"), ("!", "NOT")];
        let found = OPERATORS.into_iter().find(|(name, _)| self.rest().starts_with(name));
        let foreign = OTHER_LANGUAGES.into_iter().find(|(name, _)| self.rest().starts_with(name));
        match (foreign, found) {
            (Some(("==", _)), _) | (Some(_), None) => {
                let (name, filter_name) = foreign.unwrap_or_default();
                Err(self.error(format!("`{name}` is not an operator of filters; write {filter_name}")))
            }
            (_, Some((name, operator))) => Ok(self.symbol(name.len(), Kind::Operator(operator))),
            (None, None) if self.rest().starts_with('"') => {
                Err(self.error("a text must be in single quotes, as in 'text'"))
            }
            (None, None) => Err(self.error("a filter cannot contain this character here")),
        }
    }

    /// Reads a parameter, `%0` to `%99`.
    fn parameter(&mut self) -> Result<Kind<'a>, FilterError> {
        let start = self.offset;
        self.offset += 1;
        let digits = self.skip(|char| char.is_ascii_digit());
        match digits.parse() {
            Ok(index) if digits.len() <= 2 => Ok(Kind::Parameter(index)),
            _ => {
                self.offset = start;
                Err(self.error("a parameter is %0, %1, … or %99"))
            }
        }
    }

    /// Reads a text in quotes. As in SQL, two quotes in the text mean one. The opening quote may also be a back quote.
    fn quoted(&mut self) -> Result<Kind<'a>, FilterError> {
        let start = self.offset;
        self.offset += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let part = self.skip(|char| char != '\'');
            if text.is_empty() {
                text = Cow::Borrowed(part)
            } else {
                text.to_mut().push_str(part)
            }
            if self.rest().starts_with("''") {
                text.to_mut().push('\'');
                self.offset += 2;
            } else if self.rest().is_empty() {
                self.offset = start;
                return Err(self.error("this text has no closing quote"));
            } else {
                self.offset += 1;
                return Ok(Kind::Text(text));
            }
        }
    }

    fn number(&mut self) -> Result<Kind<'a>, FilterError> {
        let start = self.offset;
        let mut previous = 'e'; // a sign is accepted at the start of a number or of its exponent
        let text = self.skip(|char| {
            let is_sign = matches!(char, '+' | '-') && matches!(previous, 'e' | 'E');
            previous = char;
            is_sign || char.is_ascii_alphanumeric() || matches!(char, '.' | '_')
        });
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = digits.starts_with(|char: char| char.is_ascii_digit() || char == '.');
        if is_number && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Kind::Integer(text));
        }
        // `inf`, `nan` and `infinity` also parse as floats. They are no numbers here, because they do not begin with a
        // digit.
        if is_number && text.parse::<f64>().is_ok() {
            return Ok(Kind::Float(text));
        }
        self.offset = start;
        Err(self.error(format!("`{text}` is not a number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Result<Vec<Kind<'_>>, String> {
        let mut tokens = Tokens::new(text);
        let mut kinds = Vec::new();
        loop {
            match tokens.next().map_err(|error| error.to_string())?.kind {
                Kind::End => return Ok(kinds),
                kind => kinds.push(kind),
            }
        }
    }

    #[test]
    fn tokens_need_no_spaces() {
        let text = |text: &'static str| Kind::Text(Cow::Borrowed(text));
        use Kind::{Close, Float, Integer, Open, Parameter, Word};
        assert_eq!(
            kinds("(a.b[3]>=-1e-3)AND c<>'it''s'").unwrap(),
            [
                Open,
                Word("a.b[3]"),
                Kind::Operator(Operator::GreaterOrEqual),
                Float("-1e-3"),
                Close,
                Word("AND"),
                Word("c"),
                Kind::Operator(Operator::NotEqual),
                text("it's"),
            ]
        );
        assert_eq!(
            kinds("%0%99 +7 `x' '' .5 7.").unwrap(),
            [Parameter(0), Parameter(99), Integer("+7"), text("x"), text(""), Float(".5"), Float("7."),]
        );
    }

    #[test]
    fn errors_name_the_place() {
        for (expression, expected) in [
            ("a == 1", "column 3 of the filter, at `== 1`: `==` is not an operator of filters; write ="),
            ("a && b", "column 3 of the filter, at `&& b`: `&&` is not an operator of filters; write AND"),
            ("ä", "column 1 of the filter, at `ä`: a filter cannot contain this character here"),
            ("a = 'b", "column 5 of the filter, at `'b`: this text has no closing quote"),
            ("a = \"b\"", "column 5 of the filter, at `\"b\"`: a text must be in single quotes, as in 'text'"),
            ("%100", "column 1 of the filter, at `%100`: a parameter is %0, %1, … or %99"),
            ("%", "column 1 of the filter, at `%`: a parameter is %0, %1, … or %99"),
            ("1.2.3", "column 1 of the filter, at `1.2.3`: `1.2.3` is not a number"),
            ("-inf", "column 1 of the filter, at `-inf`: `-inf` is not a number"),
            ("0x1f", "column 1 of the filter, at `0x1f`: `0x1f` is not a number"),
        ] {
            assert_eq!(kinds(expression).unwrap_err(), expected, "{expression}");
        }
    }
}
