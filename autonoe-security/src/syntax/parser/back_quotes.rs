//! Parses back-quoted substitutions.
//!
//! Bash first finds the closing back-quote, then removes backslashes before `` ` ``, `$` and `\`,
//! and parses the remaining text as a script.

use super::dollar::Quoting;
use super::{Parser, Result, budget};
use crate::syntax::{Part, Span, Substitution, SyntaxError};

impl<'a> Parser<'a> {
    /// Reads `` `..` ``.
    pub(super) fn back_quoted(&mut self, quoting: Quoting) -> Result<Part<'a>> {
        self.spend(budget::EXPANSION)?;
        let start = self.at;
        let (end, has_escapes) = self.closing_back_quote(quoting)?;
        let span = Span::new(start, end + 1);
        let script = if has_escapes {
            let text = unescaped(self.slice(start + 1, end));
            let mut inner = Parser::new(&text);
            inner.in_substitution = true;
            inner.depth = self.depth;
            inner.left = self.left;
            let script = inner
                .deepen()
                .and_then(|()| inner.parse_script())
                // Spans of the new text are invalid in the old one.
                .map_err(|error| SyntaxError { span, ..error })?
                .into_owned_at(span);
            self.left = inner.left;
            script
        } else {
            self.at += 1;
            self.nested_script(|parser| {
                parser.bounded(end, |parser| {
                    let script = parser.list()?;
                    if parser.at < end {
                        return Err(parser.unexpected());
                    }
                    Ok(script)
                })
            })?
        };
        self.at = end + 1;
        let substitution = Substitution { script, span };
        Ok(Part::CommandSubstitution(Box::new(substitution)))
    }

    /// Finds the closing back-quote, and returns whether there is a backslash before it.
    fn closing_back_quote(&self, quoting: Quoting) -> Result<(usize, bool)> {
        let mut has_escapes = false;
        let mut at = self.at + 1;
        loop {
            match self.byte(at) {
                b'`' => return Ok((at, has_escapes)),
                b'\\' => {
                    match self.byte(at + 1) {
                        b'\n' => return Err(self.joins(at)),
                        // Double quotes consume this backslash.
                        b'"' if quoting != Quoting::None => {
                            return Err(self.unsupported("an escaped quote in back-quotes", at));
                        }
                        _ => {}
                    }
                    has_escapes = true;
                    at += 2;
                }
                0 => return Err(self.unterminated("back-quote", self.at)),
                _ => at += 1,
            }
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('`' | '$' | '\\')) => result.extend(characters.next()),
            _ => result.push(character),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_is_removed_only_where_bash_removes_it() {
        for (text, expected) in [
            (r"echo \`id\`", "echo `id`"),
            (r"echo \$x", "echo $x"),
            (r"echo \\\\", r"echo \\"),
            (r"echo \\\`", r"echo \`"),
            (r#"echo \"x\" \n"#, r#"echo \"x\" \n"#),
        ] {
            assert_eq!(unescaped(text), expected);
        }
    }
}
