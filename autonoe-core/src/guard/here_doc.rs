//! Here-documents of a shell command.

use std::str::Chars;

/// A here-document whose body comes with the next line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HereDoc {
    delimiter: String,
    /// Whether tabs at the start of lines are dropped, as `<<-` says.
    drops_tabs: bool,
    /// Whether expansions in the body are carried out.
    pub(super) expands: bool,
}

impl HereDoc {
    /// Reads what stands behind `<<`, or returns `None` when the delimiter is not a plain one.
    pub(super) fn read(chars: &mut Chars<'_>) -> Option<Self> {
        let text = chars.as_str();
        let behind = text.strip_prefix('-').unwrap_or(text);
        let word = behind.trim_start_matches([' ', '\t']);
        let end = word
            .find(|c: char| c.is_whitespace() || ";&|()<>".contains(c))
            .unwrap_or(word.len());
        let (word, rest) = word.split_at(end);
        let unquoted = word.strip_prefix('\\').or_else(|| {
            ['\'', '"']
                .iter()
                .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
        });
        let delimiter = unquoted.unwrap_or(word);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if delimiter.is_empty() || !delimiter.chars().all(plain) {
            return None;
        }
        *chars = rest.chars();
        Some(Self {
            delimiter: delimiter.to_owned(),
            drops_tabs: behind.len() < text.len(),
            expands: unquoted.is_none(),
        })
    }

    /// Reads the body and the line that ends it.
    ///
    /// Returns `None` when an escaped line end makes it unsure which line that is.
    pub(super) fn body<'a>(&self, chars: &mut Chars<'a>) -> Option<&'a str> {
        let text = chars.as_str();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let own = line.strip_suffix('\n').unwrap_or(line);
            let own = if self.drops_tabs {
                own.trim_start_matches('\t')
            } else {
                own
            };
            if own == self.delimiter {
                *chars = text[at + line.len()..].chars();
                return Some(&text[..at]);
            }
            if self.expands && own.ends_with('\\') {
                return None;
            }
            at += line.len();
        }
        *chars = "".chars();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_ends_at_its_delimiter() {
        for (text, body, rest) in [
            ("E\na\nE\nrm x", "a\n", "rm x"),
            ("'E'\nE \n E\nE\n", "E \n E\n", ""),
            ("\"E\" > f\na\\\nE\nb", "a\\\n", "b"),
            ("\\E\nE", "", ""),
            ("-E\n\ta\n\tE\nb", "\ta\n", "b"),
            (" E;\nnever ends", "never ends", ""),
        ] {
            let mut chars = text.chars();

            let document = HereDoc::read(&mut chars).expect("it is plain");
            chars.find(|c| *c == '\n');

            assert_eq!(document.body(&mut chars), Some(body), "{text:?}");
            assert_eq!(chars.as_str(), rest, "{text:?}");
        }
    }

    #[test]
    fn what_shells_disagree_about_is_not_read() {
        for text in ["", "\nE", "'E", "E'F'", "$E\n", "'A B'\n", "`x`\n"] {
            assert_eq!(HereDoc::read(&mut text.chars()), None, "{text:?}");
        }
        let mut chars = "E\n".chars();
        let document = HereDoc::read(&mut chars).expect("it is plain");
        assert_eq!(document.body(&mut "a\\\nE\nb\nE\n".chars()), None);
    }
}
