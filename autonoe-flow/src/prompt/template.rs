//! [`Template`]: a text with variables.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::VariableName;

/// The values of variables, by name without the `uv-` prefix.
pub type Variables = BTreeMap<VariableName, String>;

/// Opening delimiter of a variable.
const OPEN: &str = "{uv-";

/// A text with variables, written as `{uv-name}`.
///
/// ```
/// use autonoe_flow::prompt::Variables;
/// use autonoe_flow::Template;
///
/// let template = Template::parse("Go to {uv-city}, then to {uv-other}.")?;
/// let variables = Variables::from([("city".parse()?, "Tokyo {uv-other}".to_owned())]);
///
/// let filled = template.fill(&variables);
///
/// // Values are not parsed: text that looks like a variable stays text.
/// assert_eq!(filled.text, "Go to Tokyo {uv-other}, then to {uv-other}.");
/// assert_eq!(Vec::from_iter(filled.undefined), ["other".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(VariableName),
}

/// A text with filled variables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filled {
    /// The text.
    pub text: String,
    /// Variables without a value, which are left unchanged in the text.
    pub undefined: BTreeSet<VariableName>,
}

/// A malformed variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

impl Template {
    /// Parses the variables of `text`.
    ///
    /// # Errors
    ///
    /// A variable is not closed on its line, or has an invalid name.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(OPEN) {
            let (before, opened) = rest.split_at(at);
            let error = |problem: String| TemplateError {
                line: text[..text.len() - opened.len()].matches('\n').count() + 1,
                problem,
            };
            let inner = &opened[OPEN.len()..];
            let name = inner
                .split(['\n', '}'])
                .next()
                .filter(|name| inner[name.len()..].starts_with('}'))
                .ok_or_else(|| error(format!("`{OPEN}` has no `}}` on its line")))?;
            let variable = name
                .parse()
                .map_err(|invalid| error(format!("`{OPEN}{name}}}`: {invalid}")))?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Variable(variable));
            rest = &inner[name.len() + 1..];
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { parts })
    }

    /// Returns the names of the variables.
    pub fn variables(&self) -> BTreeSet<VariableName> {
        let parts = self.parts.iter();
        parts
            .filter_map(|part| match part {
                Part::Variable(name) => Some(name.clone()),
                Part::Text(_) => None,
            })
            .collect()
    }

    /// Returns whether there is a letter or a digit outside of variables.
    pub(crate) fn has_words(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Text(text) => text.contains(char::is_alphanumeric),
            Part::Variable(_) => false,
        })
    }

    /// Fills in the values of `variables`. A variable without a value is left unchanged.
    pub fn fill(&self, variables: &Variables) -> Filled {
        let mut text = String::new();
        let mut undefined = BTreeSet::new();
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Variable(name) => match variables.get(name) {
                    Some(value) => text.push_str(value),
                    None => {
                        text.extend([OPEN, name.as_str(), "}"]);
                        undefined.insert(name.clone());
                    }
                },
            }
        }
        Filled { text, undefined }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn malformed_variable_is_an_error() {
        for (text, message) in [
            ("a\nb {uv-x", "line 2: `{uv-` has no `}` on its line"),
            ("{uv-x\n}", "line 1: `{uv-` has no `}` on its line"),
            (
                "{uv-}",
                "line 1: `{uv-}`: \"\" is not the name of a variable; use at most 64 letters A-Z \
                 and a-z, digits, - and _, starting with a letter",
            ),
            (
                "{uv-a b}",
                "line 1: `{uv-a b}`: \"a b\" is not the name of a variable; use at most 64 \
                 letters A-Z and a-z, digits, - and _, starting with a letter",
            ),
        ] {
            let error = Template::parse(text).expect_err("it is wrong");

            assert_eq!(error.to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn other_braces_are_text() {
        let text = "fn main() { println!(\"{x} {{uv}} {UV-x} {uv}\") }";

        let filled = Template::parse(text).expect("fine").fill(&Variables::new());

        assert_eq!(filled.text, text);
        assert!(filled.undefined.is_empty());
    }

    proptest! {
        #[test]
        fn an_undefined_variable_stays_and_nothing_else_changes(
            text in "([ab{}\n-]|\\{uv-[a-c]\\}|\\{uv-){0,12}",
        ) {
            if let Ok(template) = Template::parse(&text) {
                let filled = template.fill(&Variables::new());

                prop_assert_eq!(filled.text, text);
                prop_assert_eq!(filled.undefined, template.variables());
            }
        }
    }
}
