//! Arithmetic formulas given as text, parsed once and evaluated many times.

use crate::error::{Error, Result};
use crate::precise::Precise;

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
    /// In postfix order, so that neither reading nor evaluating a long formula needs a deep stack.
    steps: Vec<Step>,
    /// How many values wait at most.
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Number(f64),
    Variable(usize),
    Unary(Unary),
    Binary(Binary),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unary {
    Negate,
    Sqrt,
    Abs,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
}

/// Numbers that formulas are computed with.
trait Number: Copy + From<f64> {
    fn unary(self, function: Unary) -> Self;
    fn binary(self, other: Self, operator: Binary) -> Self;
}

impl Number for f64 {
    #[inline]
    fn unary(self, function: Unary) -> Self {
        match function {
            Unary::Negate => -self,
            Unary::Sqrt => self.sqrt(),
            Unary::Abs => self.abs(),
        }
    }

    #[inline]
    fn binary(self, other: Self, operator: Binary) -> Self {
        match operator {
            Binary::Add => self + other,
            Binary::Subtract => self - other,
            Binary::Multiply => self * other,
            Binary::Divide => self / other,
            Binary::Power => self.powf(other),
            Binary::Min => self.min(other),
            Binary::Max => self.max(other),
        }
    }
}

impl Number for Precise {
    fn unary(self, function: Unary) -> Self {
        match function {
            Unary::Negate => -self,
            Unary::Sqrt => self.sqrt(),
            Unary::Abs => self.abs(),
        }
    }

    fn binary(self, other: Self, operator: Binary) -> Self {
        match operator {
            Binary::Add => self + other,
            Binary::Subtract => self - other,
            Binary::Multiply => self * other,
            Binary::Divide => self / other,
            Binary::Power => self.power(other),
            Binary::Min => self.min(other),
            Binary::Max => self.max(other),
        }
    }
}

impl Formula {
    /// Parses a formula over the given variables.
    ///
    /// # Errors
    /// Text that is no formula, naming the part that isn't understood and the variables there are.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self> {
        let mut parser = Parser { text, at: 0, variables, depth: 0, steps: Vec::new() };
        parser.sum()?;
        if let Some(found) = parser.peek() {
            return Err(parser.error(&format!("`{found}` is not expected here")));
        }
        let steps = parser.steps;
        let (mut waiting, mut depth) = (0usize, 0);
        for step in &steps {
            match step {
                Step::Number(_) | Step::Variable(_) => waiting += 1,
                Step::Unary(_) => {}
                Step::Binary(_) => waiting -= 1,
            }
            depth = depth.max(waiting);
        }
        Ok(Self { steps, depth })
    }

    /// The value for these values of the variables, in the order given to [`Formula::parse`].
    pub fn evaluate(&self, values: &[f64]) -> f64 {
        self.run(values)
    }

    /// The value in twice the precision.
    pub(crate) fn evaluate_precisely(&self, values: &[Precise]) -> Precise {
        self.run(values)
    }

    fn run<N: Number>(&self, values: &[N]) -> N {
        const INLINE: usize = 16;
        let mut inline = [N::from(0.0); INLINE];
        let mut heap;
        let stack: &mut [N] = if self.depth <= INLINE {
            &mut inline
        } else {
            heap = vec![N::from(0.0); self.depth];
            &mut heap
        };
        let mut waiting = 0;
        for step in &self.steps {
            match *step {
                Step::Number(number) => {
                    stack[waiting] = N::from(number);
                    waiting += 1;
                }
                Step::Variable(index) => {
                    stack[waiting] = values[index];
                    waiting += 1;
                }
                Step::Unary(function) => stack[waiting - 1] = stack[waiting - 1].unary(function),
                Step::Binary(operator) => {
                    waiting -= 1;
                    stack[waiting - 1] = stack[waiting - 1].binary(stack[waiting], operator);
                }
            }
        }
        stack[0]
    }

    /// Whether the formula mentions the variable at this position.
    pub fn depends_on(&self, variable: usize) -> bool {
        self.steps.contains(&Step::Variable(variable))
    }
}

/// Parentheses and signs within each other; deeper text is refused rather than overflowing the stack.
const DEEPEST: usize = 100;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    variables: &'a [&'a str],
    depth: usize,
    steps: Vec<Step>,
}

impl Parser<'_> {
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
            None => Err(self.error("it ends too early")),
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
            _ => return Err(self.error(&format!("`{name}` is no function; there are min, max, sqrt, abs"))),
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
    fn long_formulas_are_no_deep_ones() {
        let terms = 100_000;
        assert_eq!(value(&["1"; 100_000].join(" + ")), f64::from(terms));
        assert_eq!(value(&format!("x{}", " * 1".repeat(100_000))), 3.0);
        assert_eq!(value(&format!("max({})", ["x"; 100_000].join(", "))), 3.0);
        assert!(value(&format!("{}x{}", "1 - (".repeat(99), ")".repeat(99))).is_finite());
    }

    #[test]
    fn precise_values_are_nearly_the_same() {
        for text in
            ["(1 - x) / 7", "x ** 2 ** 2 - sqrt(n_i) * 1e3", "max(1, x / 3) - min(x, -n_i) + abs(-x)", "x ** 0.5"]
        {
            let formula = Formula::parse(text, &["x", "n_i"]).unwrap();
            let (plain, precise) =
                (formula.evaluate(&[3.0, 5.0]), formula.evaluate_precisely(&[3.0, 5.0].map(Precise::from)));
            assert!((plain - precise.float()).abs() <= 1e-14 * plain.abs(), "{text}: {plain} {precise:?}");
        }
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
