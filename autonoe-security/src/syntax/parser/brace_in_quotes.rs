//! Braces next to nested quotes.
//!
//! When Bash looks for braces, it takes a quote inside quotes for the end of the outer one, as in
//! `"${x:-"{a,b}"}"`, and expands the word as if the braces were not quoted.

use super::{Parser, Result};
use crate::syntax::{Operation, Parameter, Part, Span, Word};

impl Parser<'_> {
    /// Rejects a brace in the word that started at `start` if there are nested quotes.
    pub(super) fn check_quoted_braces(&self, parts: &[Part<'_>], start: usize) -> Result<()> {
        let mut quoted = parts.iter().filter_map(|part| match part {
            Part::DoubleQuoted(inner) => Some(inner),
            _ => None,
        });
        if !quoted.any(|inner| inner.iter().any(|part| self.has_inner_quote(part))) {
            return Ok(());
        }
        let raw = self.slice(start, self.at).as_bytes();
        let is_brace = |pair: &[u8]| matches!(pair, [before, b'{'] if *before != b'$');
        if raw.first() == Some(&b'{') || raw.windows(2).any(is_brace) {
            return Err(self.unsupported("a brace next to quotes in quotes", start));
        }
        Ok(())
    }

    /// Returns whether there is a double quote in a part of double-quoted text. The contents of
    /// `$(..)` do not count: Bash finds its end.
    fn has_inner_quote(&self, part: &Part<'_>) -> bool {
        match part {
            Part::Parameter(parameter) => {
                let mut substitutions = Vec::new();
                self.collect_substitutions(parameter, &mut substitutions);
                let mut from = parameter.span.start();
                let end = Span::new(parameter.span.end(), parameter.span.end());
                substitutions.push(end);
                substitutions.iter().any(|span| {
                    let between = self.slice(from, span.start());
                    from = span.end();
                    between.contains('"')
                })
            }
            Part::CommandSubstitution(inner) => {
                let raw = self.slice(inner.span.start(), inner.span.end());
                raw.starts_with('`') && raw.contains('"')
            }
            _ => false,
        }
    }

    /// Collects the spans of `$(..)` in the operands of an expansion, in order.
    fn collect_substitutions(&self, parameter: &Parameter<'_>, found: &mut Vec<Span>) {
        let operands: [Option<&Word<'_>>; 2] = match &parameter.operation {
            Operation::Substitute { word, .. } => [Some(word), None],
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => {
                [Some(pattern), None]
            }
            Operation::Replace {
                pattern,
                replacement,
            } => [Some(pattern), replacement.as_ref()],
            _ => [None, None],
        };
        for part in operands.into_iter().flatten().flat_map(|word| &word.parts) {
            match part {
                Part::CommandSubstitution(inner) if self.byte(inner.span.start()) == b'$' => {
                    found.push(inner.span);
                }
                Part::Parameter(inner) => self.collect_substitutions(inner, found),
                _ => {}
            }
        }
    }
}
