//! Licence expressions such as `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::collections::BTreeSet;

use crate::failure::Failure;

/// Says whether `expression` can be satisfied with the `allowed` licences alone.
///
/// A licence with an exception counts as a licence of its own: it is allowed
/// when `X WITH Y` is listed in full. The old form `MIT/Apache-2.0` means `OR`.
pub(crate) fn is_satisfied(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, Failure> {
    let words = words(expression);
    let mut reader = Reader {
        rest: &words,
        allowed,
    };
    match reader.either() {
        Some(answer) if reader.rest.is_empty() => Ok(answer),
        _ => Err(Failure::new(format!(
            "cannot read the licence expression `{expression}`"
        ))),
    }
}

/// Splits at blanks, and sets brackets and slashes apart.
fn words(expression: &str) -> Vec<String> {
    expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Evaluates while it reads; `None` means the expression makes no sense.
struct Reader<'a> {
    rest: &'a [String],
    allowed: &'a BTreeSet<String>,
}

impl Reader<'_> {
    /// Reads `A OR B …`, which binds weaker than `AND`.
    fn either(&mut self) -> Option<bool> {
        let mut answer = self.both()?;
        while self.skip("OR") {
            answer |= self.both()?;
        }
        Some(answer)
    }

    /// Reads `A AND B …`.
    fn both(&mut self) -> Option<bool> {
        let mut answer = self.one()?;
        while self.skip("AND") {
            answer &= self.one()?;
        }
        Some(answer)
    }

    /// Reads a licence with its exception, or something in brackets.
    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let answer = self.either()?;
            return self.skip(")").then_some(answer);
        }
        let mut licence = self.name()?.to_owned();
        if self.skip("WITH") {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Some(self.allowed.contains(&licence))
    }

    fn name(&mut self) -> Option<&str> {
        let (first, rest) = self.rest.split_first()?;
        if ["(", ")", "AND", "OR", "WITH"].contains(&first.as_str()) {
            return None;
        }
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, word: &str) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if first == word => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(expression: &str) -> Result<bool, Failure> {
        let allowed = ["MIT", "Apache-2.0", "ISC WITH some-exception"];
        is_satisfied(expression, &allowed.map(str::to_owned).into())
    }

    #[test]
    fn an_expression_is_satisfied_by_allowed_licences() {
        for expression in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "GPL-3.0-only OR MIT",
            "GPL-3.0-only/MIT",
            "MIT / GPL-3.0-only",
            "MIT AND Apache-2.0",
            "MIT OR GPL-3.0-only AND MPL-2.0",
            "(GPL-3.0-only OR MIT) AND (Apache-2.0)",
            "((MIT))",
            "ISC WITH some-exception",
        ] {
            assert_eq!(answer(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn an_expression_is_not_satisfied_by_others() {
        for expression in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0) AND GPL-3.0-only",
            "GPL-3.0-only AND MIT OR MPL-2.0",
            "mit",
            "ISC",
            "MIT WITH some-exception",
            "ISC WITH other-exception",
        ] {
            assert_eq!(answer(expression), Ok(false), "{expression}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for expression in [
            "",
            "MIT Apache-2.0",
            "MIT OR",
            "AND MIT",
            "(MIT",
            "MIT)",
            "()",
            "MIT WITH",
            "WITH MIT",
        ] {
            assert!(answer(expression).is_err(), "{expression}");
        }
    }
}
