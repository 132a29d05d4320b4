//! Parser from the text of an expression to its operations, by recursive descent:
//!
//! ```text
//! sum      product (("+" | "-") product)*
//! product  signed (("*" | "/") signed)*
//! signed   ("-" | "+") signed | power
//! power    atom (("^" | "**") signed)?
//! atom     number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```
//!
//! As in NumPy and Fortran, −x^2 is −(x²) and x^y^z is x^(y^z).

use std::fmt;

use super::{Name, Operation};

/// Functions by name.
type Functions<F, const N: usize> = [(&'static str, F); N];

/// Functions of one number.
const UNARY: Functions<fn(f64) -> f64, 15> = [
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("exp", f64::exp),
    ("log", f64::ln),
    ("log10", f64::log10),
    ("sqrt", f64::sqrt),
    ("abs", f64::abs),
    ("floor", f64::floor),
];
/// Functions of two numbers.
const BINARY: Functions<fn(f64, f64) -> f64, 3> =
    [("atan2", f64::atan2), ("min", smaller), ("max", larger)];

/// The smaller of two numbers, NaN if one of them is NaN.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The larger of two numbers, NaN if one of them is NaN.
fn larger(a: f64, b: f64) -> f64 {
    -smaller(-a, -b)
}

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 100;

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Column, counted from 1.
    pub(crate) column: usize,
    /// What was found there; what is allowed is on a second line.
    pub(crate) what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

/// Whether `name` is a function.
pub(crate) fn is_function(name: &str) -> bool {
    functions().any(|known| known == name)
}

fn functions() -> impl Iterator<Item = &'static str> {
    UNARY.iter().map(|(name, _)| *name).chain(BINARY.iter().map(|(name, _)| *name))
}

/// Whether `text` is a letter followed by letters, digits and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_name_character)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The operations of `text` and the names in it.
pub(super) fn parse(text: &str) -> Result<(Vec<Operation>, Vec<Name>), Mistake> {
    let mut parser = Parser { text, at: 0, depth: 0, code: Vec::new(), names: Vec::new() };
    parser.sum()?;
    match parser.next() {
        None => Ok((parser.code, parser.names)),
        Some(')') => Err(parser.mistake(parser.at, "unmatched `)`")),
        Some(_) => {
            let problem = format!("found {}, where an operator is missing", parser.next_text());
            Err(parser.mistake(parser.at, &format!("{problem}\nallowed: + - * / ^")))
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Number of bytes read.
    at: usize,
    depth: usize,
    code: Vec<Operation>,
    names: Vec<Name>,
}

type Parsed = Result<(), Mistake>;

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Parsed {
        self.product()?;
        loop {
            let add: fn(f64, f64) -> f64 = match self.next() {
                Some('+') => |a, b| a + b,
                Some('-') => |a, b| a - b,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.code.push(Operation::Binary(add));
        }
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        loop {
            let multiply: fn(f64, f64) -> f64 = match self.next() {
                Some('*') => |a, b| a * b,
                Some('/') => |a, b| a / b,
                _ => return Ok(()),
            };
            self.at += 1;
            self.signed()?;
            self.code.push(Operation::Binary(multiply));
        }
    }

    fn signed(&mut self) -> Parsed {
        let minus = match self.next() {
            Some('-') => true,
            Some('+') => false,
            _ => return self.power(),
        };
        self.at += 1;
        self.nested(Self::signed)?;
        if minus {
            self.code.push(Operation::Unary(|a| -a));
        }
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        self.next();
        let rest = &self.text[self.at..];
        let length = match () {
            () if rest.starts_with("**") => 2,
            () if rest.starts_with('^') => 1,
            () => return Ok(()),
        };
        self.at += length;
        self.nested(Self::signed)?;
        self.code.push(Operation::Binary(f64::powf));
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        match self.next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.name(),
            Some('(') => {
                let open = self.at;
                self.at += 1;
                self.nested(Self::sum)?;
                self.close(open)
            }
            _ => {
                let problem = format!("found {}, where a value is missing", self.next_text());
                let allowed = "allowed: a number, a name, a function or `(`";
                Err(self.mistake(self.at, &format!("{problem}\n{allowed}")))
            }
        }
    }

    fn number(&mut self) -> Parsed {
        let start = self.at;
        let rest = &self.text[start..];
        let digits = |from: usize| {
            let count = rest[from..].bytes().take_while(|b| b.is_ascii_digit()).count();
            from + count
        };
        let mut end = digits(0);
        if rest[end..].starts_with('.') {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        let number = rest[..end].parse().ok().filter(|number: &f64| number.is_finite());
        let Some(number) = number else {
            return Err(self.mistake(start, &format!("`{}` is not a finite number", &rest[..end])));
        };
        self.at += end;
        if rest[end..].starts_with(|c: char| is_name_character(c)) {
            let what = format!(
                "found `{}` after a number\nwrite a product with *, as in 2*x",
                self.word()
            );
            return Err(self.mistake(self.at, &what));
        }
        self.code.push(Operation::Number(number));
        Ok(())
    }

    fn name(&mut self) -> Parsed {
        let (start, word) = (self.at, self.word());
        self.at += word.len();
        if self.next() == Some('(') {
            return self.call(start, word);
        }
        if is_function(word) {
            let what = format!("the function `{word}` has no arguments\nwrite {word}(...)");
            return Err(self.mistake(start, &what));
        }
        let known = self.names.iter().position(|name| name.text == word);
        let index = known.unwrap_or(self.names.len());
        if known.is_none() {
            self.names.push(Name { text: word.to_owned(), column: self.column(start) });
        }
        self.code.push(Operation::Name(index));
        Ok(())
    }

    fn call(&mut self, start: usize, word: &str) -> Parsed {
        let unary = UNARY.iter().find(|(name, _)| *name == word);
        let binary = BINARY.iter().find(|(name, _)| *name == word);
        let (operation, arity) = match (unary, binary) {
            (Some((_, function)), _) => (Operation::Unary(*function), 1),
            (_, Some((_, function))) => (Operation::Binary(*function), 2),
            _ => {
                let known: Vec<&str> = functions().collect();
                let allowed = format!("functions: {}", known.join(" "));
                return Err(self.mistake(start, &format!("no function `{word}`\n{allowed}")));
            }
        };
        let open = self.at;
        let mut given = 0;
        while given == 0 || self.next() == Some(',') {
            self.at += 1;
            self.nested(Self::sum)?;
            given += 1;
        }
        self.close(open)?;
        if given != arity {
            let s = if arity == 1 { "" } else { "s" };
            let what = format!("`{word}` takes {arity} argument{s}, found {given}");
            return Err(self.mistake(start, &what));
        }
        self.code.push(operation);
        Ok(())
    }

    /// Parse the `)` that closes the `(` at `open`.
    fn close(&mut self, open: usize) -> Parsed {
        if self.next() == Some(')') {
            self.at += 1;
            return Ok(());
        }
        let next = self.next_text();
        let what = format!(
            "found {next}, where the `(` of column {} is not closed\nallowed: an operator or `)`",
            self.column(open)
        );
        Err(self.mistake(self.at, &what))
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} nested expressions");
            return Err(self.mistake(self.at, &what));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// The next character that is not a space.
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// The following letters, digits and `_`.
    fn word(&self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !is_name_character(c)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// The following text, for a message.
    fn next_text(&self) -> String {
        match (self.word(), self.text[self.at..].chars().next()) {
            (_, None) => "the end".to_owned(),
            ("", Some(c)) => format!("`{}`", c.escape_debug()),
            (word, _) => format!("`{word}`"),
        }
    }

    fn column(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    fn mistake(&self, at: usize, what: &str) -> Mistake {
        Mistake { column: self.column(at), what: what.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::Mistake;
    use crate::expression::Expression;

    fn value(text: &str) -> f64 {
        let expression = Expression::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let values: Vec<f64> = expression.names().iter().map(|name| variable(&name.text)).collect();
        expression.value(|name| values[name])
    }

    /// x = 3, anything else 5.
    fn variable(name: &str) -> f64 {
        if name == "x" { 3.0 } else { 5.0 }
    }

    #[test]
    fn signs_and_powers_bind_as_in_numpy() {
        // These fail if a sign binds tighter than a power, or if a power, quotient or difference associates to the wrong side.
        let known = [
            ("-x^2", -9.0),
            ("2 - x**2", -7.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("8/2/2", 2.0),
            ("8-2-2", 4.0),
            ("1/2*x", 1.5),
            ("--x", 3.0),
            ("1 + 2*y - +x", 8.0),
            ("-(x + y)*2", -16.0),
            ("1.5e1 + .5E+0 - 2.e-1*0", 15.5),
            ("min(x, max(y, 1)) + atan2(0, 1)", 3.0),
        ];
        for (text, expected) in known {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn functions_equal_the_standard_library_bitwise() {
        let x = 3.0_f64;
        let known = [
            ("sin(x)", x.sin()),
            ("cos(x)", x.cos()),
            ("tan(x)", x.tan()),
            ("asin(x/y)", (x / 5.0).asin()),
            ("acos(x/y)", (x / 5.0).acos()),
            ("atan(x)", x.atan()),
            ("sinh(x)", x.sinh()),
            ("cosh(x)", x.cosh()),
            ("tanh(x)", x.tanh()),
            ("exp(x)", x.exp()),
            ("log(x)", x.ln()),
            ("log10(x)", x.log10()),
            ("sqrt(x)", x.sqrt()),
            ("abs(-x)", x),
            ("floor(-x/y)", -1.0),
            ("atan2(x, y)", x.atan2(5.0)),
            ("min(y, x)", x),
            ("max(y, x)", 5.0),
            ("x^0.3", x.powf(0.3)),
        ];
        for (text, expected) in known {
            assert_eq!(value(text).to_bits(), expected.to_bits(), "{text}");
        }
        // The root of a negative number must be reported, not hidden by a bound.
        for text in ["max(sqrt(-x), 0)", "max(0, sqrt(-x))", "min(1, 0/0)", "min(0/0, 1)"] {
            assert!(value(text).is_nan(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_column() {
        let wrong = [
            ("", 1, "found the end, where a value is missing"),
            ("sin(x*", 7, "found the end, where a value is missing"),
            ("sin(x", 6, "found the end, where the `(` of column 4 is not closed"),
            ("2*(x + y", 9, "found the end, where the `(` of column 3 is not closed"),
            ("x + *y", 5, "found `*`, where a value is missing"),
            ("x y", 3, "found `y`, where an operator is missing"),
            ("x)", 2, "unmatched `)`"),
            ("2x", 2, "found `x` after a number"),
            ("α + x", 1, "found `α`, where a value is missing"),
            ("x + α", 5, "found `α`, where a value is missing"),
            ("x + coz(y)", 5, "no function `coz`"),
            ("sin + x", 1, "the function `sin` has no arguments"),
            ("1 + sin(x, y)", 5, "`sin` takes 1 argument, found 2"),
            ("atan2(x)", 1, "`atan2` takes 2 arguments, found 1"),
            ("1e999", 1, "`1e999` is not a finite number"),
            ("x + .", 5, "`.` is not a finite number"),
            ("sin()", 5, "found `)`, where a value is missing"),
        ];
        for (text, expected, what) in wrong {
            let Mistake { column, what: found } = Expression::parse(text).unwrap_err();
            assert_eq!(column, expected, "{text}: {found}");
            assert!(found.starts_with(what), "{text}: {found}");
        }
    }

    #[test]
    fn long_and_deep_expressions_do_not_overflow_the_stack() {
        let long = format!("0{}", "+x".repeat(100_000));
        assert_eq!(value(&long), 300_000.0);
        for deep in ["(", "-", "sin(", "2^", "2^-("] {
            let text = format!("{}x", deep.repeat(100_000));
            let what = Expression::parse(&text).unwrap_err().what;
            assert!(what.starts_with("more than 100 nested expressions"), "{what}");
        }
    }
}
