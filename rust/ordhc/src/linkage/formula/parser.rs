//! Parses text into the steps of a formula.

use super::{Binary, Step, Unary};
use crate::error::{Error, Result};

/// The maximum depth of nested parentheses and unary signs, as in `-(-x)`. Deeper text is an error, because it could
/// overflow the stack.
const DEEPEST: usize = 100;

pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    variables: &'a [&'a str],
    depth: usize,
    steps: Vec<Step>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, variables: &'a [&'a str]) -> Self {
        Self { text, at: 0, variables, depth: 0, steps: Vec::new() }
    }

    pub(super) fn steps(mut self) -> Result<Vec<Step>> {
        self.sum()?;
        match self.peek() {
            Some(found) => Err(self.error(&format!("`{found}` is not expected here"))),
            None => Ok(self.steps),
        }
    }

    fn error(&self, message: &str) -> Error {
        Error::Formula { formula: self.text.to_string(), reason: message.to_string() }
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn take(&mut self, symbol: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    fn word(&mut self, accept: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(&format!("nested more than {DEEPEST} deep")));
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn binary(&mut self, operator: Binary) {
        self.steps.push(Step::Binary(operator));
    }

    fn sum(&mut self) -> Result<()> {
        self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Binary::Add,
                Some('-') => Binary::Subtract,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.binary(operator);
        }
    }

    fn product(&mut self) -> Result<()> {
        self.signed()?;
        loop {
            self.peek();
            let operator = if self.text[self.at..].starts_with("**") {
                return Err(self.error("`**` needs a number, variable or parenthesis before it"));
            } else if self.take("*") {
                Binary::Multiply
            } else if self.take("/") {
                Binary::Divide
            } else {
                return Ok(());
            };
            self.signed()?;
            self.binary(operator);
        }
    }

    fn signed(&mut self) -> Result<()> {
        if self.take("-") {
            self.nested(Self::signed)?;
            self.steps.push(Step::Unary(Unary::Negate));
            return Ok(());
        }
        if self.take("+") {
            return self.nested(Self::signed);
        }
        self.atom()?;
        if self.take("**") {
            self.nested(Self::signed)?;
            self.binary(Binary::Power);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<()> {
        match self.peek() {
            None => Err(self.error("a number, variable or parenthesis is missing at the end")),
            Some('(') => {
                self.at += 1;
                self.nested(Self::sum)?;
                self.close()
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let name = self.word(|c| c.is_alphanumeric() || c == '_').to_string();
                if self.take("(") { self.call(&name) } else { self.variable(&name) }
            }
            Some(c) => Err(self.error(&format!("`{c}` is not expected here"))),
        }
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        self.word(|c| c.is_ascii_digit() || c == '.');
        let bytes = self.text.as_bytes();
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(self.at + 1), Some(b'+' | b'-')));
            if bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                self.at += 1 + sign;
                self.word(|c| c.is_ascii_digit());
            }
        }
        let text = &self.text[start..self.at];
        let number = text.parse().map_err(|_| self.error(&format!("`{text}` is not a number")))?;
        self.steps.push(Step::Number(number));
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<()> {
        match self.variables.iter().position(|variable| *variable == name) {
            Some(index) => {
                self.steps.push(Step::Variable(index));
                Ok(())
            }
            None => {
                let known = self.variables.join(", ");
                Err(self.error(&format!("`{name}` is unknown; the variables are {known}")))
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<()> {
        let step = match name {
            "min" => Step::Binary(Binary::Min),
            "max" => Step::Binary(Binary::Max),
            "sqrt" => Step::Unary(Unary::Sqrt),
            "abs" => Step::Unary(Unary::Abs),
            _ => return Err(self.error(&format!("`{name}` is not a function; there are min, max, sqrt, abs"))),
        };
        self.nested(Self::sum)?;
        let mut n_values = 1;
        while self.take(",") {
            self.nested(Self::sum)?;
            n_values += 1;
            self.steps.push(step);
        }
        self.close()?;
        let single = matches!(step, Step::Unary(_));
        if single != (n_values == 1) {
            return Err(self.error(&format!("`{name}` does not take {n_values} values")));
        }
        if single {
            self.steps.push(step);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if self.take(")") { Ok(()) } else { Err(self.error("a `)` is missing")) }
    }
}
