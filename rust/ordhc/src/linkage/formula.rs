//! Arithmetic formulas given as text, parsed once and evaluated many times.

use crate::error::{Error, Result};

/// A formula over named variables: numbers, `+ - * / **`, parentheses, `min`, `max`, `sqrt`, `abs`.
///
/// ```
/// use ordhc::linkage::Formula;
///
/// let formula = Formula::parse("n_i / (n_i + n_j)", &["n_i", "n_j"])?;
/// assert_eq!(formula.evaluate(&[1.0, 3.0]), 0.25);
/// assert!(Formula::parse("n_i / m", &["n_i"]).unwrap_err().to_string().contains("`m`"));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Variable(usize),
    Negate(Box<Node>),
    Binary(Operator, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Min,
    Max,
    Sqrt,
    Abs,
}

impl Formula {
    /// Parses a formula over the given variables.
    ///
    /// # Errors
    /// Text that is no formula, naming the part that isn't understood and the variables there are.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self> {
        let mut parser = Parser { text, at: 0, variables, depth: 0 };
        let root = parser.sum()?;
        match parser.peek() {
            None => Ok(Self { root }),
            Some(found) => Err(parser.error(&format!("`{found}` is not expected here"))),
        }
    }

    /// The value for these values of the variables, in the order given to [`Formula::parse`].
    pub fn evaluate(&self, values: &[f64]) -> f64 {
        self.root.evaluate(values)
    }

    /// Whether the formula mentions the variable at this position.
    pub fn depends_on(&self, variable: usize) -> bool {
        self.root.depends_on(variable)
    }
}

impl Node {
    fn evaluate(&self, values: &[f64]) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Variable(index) => values[*index],
            Node::Negate(node) => -node.evaluate(values),
            Node::Binary(operator, nodes) => {
                let (a, b) = (nodes[0].evaluate(values), nodes[1].evaluate(values));
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Power => a.powf(b),
                }
            }
            Node::Call(function, nodes) => {
                let mut arguments = nodes.iter().map(|node| node.evaluate(values));
                let first = arguments.next().unwrap_or(f64::NAN);
                match function {
                    Function::Min => arguments.fold(first, f64::min),
                    Function::Max => arguments.fold(first, f64::max),
                    Function::Sqrt => first.sqrt(),
                    Function::Abs => first.abs(),
                }
            }
        }
    }

    fn depends_on(&self, variable: usize) -> bool {
        match self {
            Node::Number(_) => false,
            Node::Variable(index) => *index == variable,
            Node::Negate(node) => node.depends_on(variable),
            Node::Binary(_, nodes) => nodes.iter().any(|node| node.depends_on(variable)),
            Node::Call(_, nodes) => nodes.iter().any(|node| node.depends_on(variable)),
        }
    }
}

/// Parentheses and signs within each other; deeper text is refused rather than overflowing the stack.
const DEEPEST: usize = 100;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    variables: &'a [&'a str],
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> Error {
        Error::Argument(format!("formula `{}`: {message}", self.text))
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

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(&format!("nested more than {DEEPEST} deep")));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn sum(&mut self) -> Result<Node> {
        let mut node = self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Subtract,
                _ => return Ok(node),
            };
            self.at += 1;
            node = Node::Binary(operator, Box::new([node, self.product()?]));
        }
    }

    fn product(&mut self) -> Result<Node> {
        let mut node = self.signed()?;
        loop {
            self.peek();
            let operator = if self.text[self.at..].starts_with("**") {
                return Err(self.error("`**` needs a number, variable or parenthesis before it"));
            } else if self.take("*") {
                Operator::Multiply
            } else if self.take("/") {
                Operator::Divide
            } else {
                return Ok(node);
            };
            node = Node::Binary(operator, Box::new([node, self.signed()?]));
        }
    }

    fn signed(&mut self) -> Result<Node> {
        if self.take("-") {
            return Ok(Node::Negate(Box::new(self.nested(Self::signed)?)));
        }
        if self.take("+") {
            return self.nested(Self::signed);
        }
        let base = self.atom()?;
        if self.take("**") {
            let exponent = self.nested(Self::signed)?;
            return Ok(Node::Binary(Operator::Power, Box::new([base, exponent])));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Node> {
        match self.peek() {
            None => Err(self.error("it ends too early")),
            Some('(') => {
                self.at += 1;
                let node = self.nested(Self::sum)?;
                self.close()?;
                Ok(node)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let name = self.word(|c| c.is_alphanumeric() || c == '_').to_string();
                if self.take("(") { self.call(&name) } else { self.variable(&name) }
            }
            Some(c) => Err(self.error(&format!("`{c}` is not expected here"))),
        }
    }

    fn number(&mut self) -> Result<Node> {
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
        text.parse().map(Node::Number).map_err(|_| self.error(&format!("`{text}` is not a number")))
    }

    fn variable(&self, name: &str) -> Result<Node> {
        match self.variables.iter().position(|variable| *variable == name) {
            Some(index) => Ok(Node::Variable(index)),
            None => {
                let known = self.variables.join(", ");
                Err(self.error(&format!("`{name}` is unknown; the variables are {known}")))
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Node> {
        let (function, arity) = match name {
            "min" => (Function::Min, 2..),
            "max" => (Function::Max, 2..),
            "sqrt" => (Function::Sqrt, 1..),
            "abs" => (Function::Abs, 1..),
            _ => return Err(self.error(&format!("`{name}` is no function; there are min, max, sqrt, abs"))),
        };
        let mut nodes = vec![self.nested(Self::sum)?];
        while self.take(",") {
            nodes.push(self.nested(Self::sum)?);
        }
        self.close()?;
        let single = arity.start == 1;
        if nodes.len() < arity.start || (single && nodes.len() > 1) {
            return Err(self.error(&format!("`{name}` does not take {} values", nodes.len())));
        }
        Ok(Node::Call(function, nodes))
    }

    fn close(&mut self) -> Result<()> {
        if self.take(")") { Ok(()) } else { Err(self.error("a `)` is missing")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> f64 {
        Formula::parse(text, &["x", "n_i"]).unwrap().evaluate(&[3.0, 5.0])
    }

    #[test]
    fn precedence_is_pythons() {
        assert_eq!(value("1 + 2 * x"), 7.0);
        assert_eq!(value("(1 + 2) * x"), 9.0);
        assert_eq!(value("10 - 4 - 3"), 3.0);
        assert_eq!(value("8 / 4 / 2"), 1.0);
        assert_eq!(value("-x ** 2"), -9.0);
        assert_eq!(value("2 ** 3 ** 2"), 512.0);
        assert_eq!(value("2 ** -1"), 0.5);
        assert_eq!(value("-(x - n_i)"), 2.0);
        assert_eq!(value("1.5e1 + .5"), 15.5);
        assert_eq!(value("max(1, x, 2) + min(x, 1) + sqrt(4) + abs(-1)"), 7.0);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "ends too early"),
            ("x +", "ends too early"),
            ("y", "`y` is unknown"),
            ("(x", "`)` is missing"),
            ("x x", "`x` is not expected"),
            ("sin(x)", "`sin` is no function"),
            ("min(x)", "does not take 1"),
            ("sqrt(x, x)", "does not take 2"),
            ("1.2.3", "not a number"),
            ("x $ 2", "`$`"),
            (&"(".repeat(5000), "deep"),
            (&"-".repeat(5000), "deep"),
        ] {
            let message = Formula::parse(text, &["x"]).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-+*/() a-z0-9._,é]{0,40}") {
            let _ = Formula::parse(&text, &["a", "b"]);
        }
    }
}
