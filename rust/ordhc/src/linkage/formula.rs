//! Arithmetic formulas given as text, parsed once and evaluated many times.

mod parser;

use parser::Parser;

use crate::error::Result;
use crate::precise::Precise;

/// A formula over named variables, with numbers, `+ - * / **`, parentheses, `min`, `max`, `sqrt` and `abs`.
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
    /// The steps (numbers, variables and operations) in postfix order, so that neither parsing nor evaluating a long
    /// formula needs a deep stack.
    steps: Vec<Step>,
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

trait Number: Copy + From<f64> {
    fn unary(self, function: Unary) -> Self;
    fn binary(self, other: Self, operator: Binary) -> Self;
}

macro_rules! number {
    ($type:ty, $power:ident) => {
        impl Number for $type {
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
                    Binary::Power => self.$power(other),
                    Binary::Min => self.min(other),
                    Binary::Max => self.max(other),
                }
            }
        }
    };
}

number!(f64, powf);
number!(Precise, power);

impl Formula {
    /// Parses a formula over the given variables.
    ///
    /// # Errors
    /// Text that is not a formula. For an unknown variable, the error lists the available variables.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self> {
        let steps = Parser::new(text, variables).steps()?;
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

    /// Returns the value of the formula. `values` has the value of each variable, in the order given to
    /// [`Formula::parse`].
    pub fn evaluate(&self, values: &[f64]) -> f64 {
        self.run(values)
    }

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

    /// Returns true if the formula uses a variable, given by its index in the list for [`Formula::parse`].
    pub fn depends_on(&self, variable: usize) -> bool {
        self.steps.contains(&Step::Variable(variable))
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
            ("", "missing at the end"),
            ("x +", "missing at the end"),
            ("y", "`y` is unknown"),
            ("(x", "`)` is missing"),
            ("x x", "`x` is not expected"),
            ("sin(x)", "`sin` is not a function"),
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
