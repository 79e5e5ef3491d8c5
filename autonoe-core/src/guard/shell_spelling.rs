//! Whether a shell command could spell `.autonoe`.

use std::str::Chars;

use super::here_doc::HereDoc;
use super::shell_frames::Frames;
use super::word_spelling::WordSpelling;

/// Tells whether an expansion in `command` could come out as a path with the component `.autonoe`.
///
/// This is not a shell. It reads the command once and keeps the set of all
/// positions in the name that any expansion so far could have come to. Quotes
/// and backslashes disappear, `*`, `?` and `[..]` stand for what they could
/// match, and a variable or a substitution for anything. So `.a?to*`,
/// `.{auto,x}noe`, `"$a"noe` and `.auto$(x)` are found.
///
/// A quoted `.*` is nearly always a regular expression, so in quotes a wildcard
/// counts only together with a letter of the name. Where shells could disagree
/// about the quotes, nothing counts as quoted.
pub(super) fn could_spell_the_name(command: &str) -> bool {
    let mut reader = Reader::new();
    // The patterns of `case` close parentheses that nothing has opened.
    let has_case = command.contains("esac") && command.contains(['$', '`']);
    reader.read(command);
    if reader.spelling.is_found() {
        return true;
    }
    if has_case || reader.frames.are_unfinished() {
        reader = Reader::new();
        reader.frames.doubt();
        reader.read(command);
    }
    reader.spelling.is_found()
}

/// Tells whether `text`, which may come to a shell, could spell the name.
pub(super) fn text_could_spell_the_name(text: &str) -> bool {
    let mut reader = Reader::new();
    reader.frames.document(false);
    reader.read(text);
    reader.spelling.is_found()
}

#[derive(Debug)]
struct Reader {
    spelling: WordSpelling,
    frames: Frames,
    /// Whether a `[` behind a name is open, as in `a[1 + 1]=x`.
    in_subscript: bool,
    /// The here-documents that start with the next line, and what is open around them.
    documents: Vec<HereDoc>,
    documents_depth: usize,
    in_document: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            spelling: WordSpelling::new(),
            frames: Frames::default(),
            in_subscript: false,
            documents: Vec::new(),
            documents_depth: 0,
            in_document: false,
        }
    }

    fn read(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => self.backslash(&mut chars),
                // Even a quote that is plain text in another quote vanishes:
                // it may be read by a second shell.
                '\'' | '"' => {
                    self.spelling.interrupt();
                    self.frames.quote(c);
                }
                '$' => self.dollar(&mut chars),
                '#' if self.starts_comment() => while next_if(&mut chars, |c| c != '\n') {},
                '<' if self.frames.is_command() && next_if(&mut chars, |c| c == '<') => {
                    self.here_document(&mut chars);
                }
                '\n' => self.end_of_line(&mut chars),
                _ => self.character(c),
            }
        }
    }

    fn backslash(&mut self, chars: &mut Chars<'_>) {
        if self.frames.has_plain_backslashes() {
            return;
        }
        // How many shells take one away is not certain there.
        if self.frames.is_in_backquotes() || self.frames.is_arithmetic() {
            self.frames.doubt();
        }
        match chars.next() {
            // An escaped line end is nothing at all.
            None | Some('\n') => {}
            Some(next) => self.spelling.escaped(next),
        }
    }

    fn starts_comment(&mut self) -> bool {
        if !self.frames.is_command() {
            return false;
        }
        let certain = !self.in_subscript && !self.frames.is_in_backquotes();
        match self.spelling.last() {
            Some(' ' | '\t' | '\n') if certain => true,
            Some(c) if c.is_whitespace() || ";&|()<>`".contains(c) => {
                self.frames.doubt();
                false
            }
            _ => false,
        }
    }

    fn here_document(&mut self, chars: &mut Chars<'_>) {
        self.spelling.separator();
        self.spelling.interrupt();
        if next_if(chars, |c| c == '<') {
            return;
        }
        let nested = self.in_document || self.frames.is_in_backquotes();
        let beside = self.documents.is_empty() || self.documents_depth == self.frames.depth();
        match HereDoc::read(chars) {
            Some(document) if beside && !nested => {
                self.documents.push(document);
                self.documents_depth = self.frames.depth();
            }
            _ => self.frames.doubt(),
        }
    }

    fn end_of_line(&mut self, chars: &mut Chars<'_>) {
        self.character('\n');
        let documents = std::mem::take(&mut self.documents);
        let elsewhere = !documents.is_empty() && self.documents_depth != self.frames.depth();
        if self.frames.is_arithmetic() || elsewhere {
            self.frames.doubt();
        }
        for document in documents {
            if self.frames.is_in_doubt() {
                return;
            }
            let Some(body) = document.body(chars) else {
                return self.frames.doubt();
            };
            self.frames.document(document.expands);
            self.in_document = true;
            self.read(body);
            self.in_document = false;
            self.spelling.new_line();
            self.frames.end_of_document();
        }
    }

    fn dollar(&mut self, chars: &mut Chars<'_>) {
        let hidden = self.frames.hides_expansions();
        match chars.clone().next() {
            Some('\'') => {
                if self.frames.dollar_quote() {
                    chars.next();
                }
                self.spelling.interrupt();
            }
            Some('"') => self.spelling.interrupt(),
            Some('(') => {
                chars.next();
                self.spelling.substitution(hidden);
                self.frames.substitution();
            }
            Some('{') => {
                chars.next();
                self.spelling.parameter(hidden);
                let pattern = skip_parameter(chars);
                self.frames.parameter(pattern);
            }
            // In `$[..]` a `#` is no comment.
            Some('[') => {
                self.frames.doubt();
                self.spelling.variable(hidden);
            }
            Some(c) if is_name(c) => {
                while next_if(chars, is_name) {}
                self.spelling.variable(hidden);
            }
            _ if next_if(chars, |c| "?*@#!$-".contains(c)) => self.spelling.variable(hidden),
            _ => self.spelling.escaped('$'),
        }
    }

    fn character(&mut self, c: char) {
        let last = self.spelling.last();
        let in_command = self.frames.is_command();
        self.spelling.character(c, self.frames.is_quoted());
        match c {
            '[' => self.in_subscript |= in_command && last.is_some_and(is_name),
            ']' => self.in_subscript = false,
            // In `[(]` a parenthesis opens nothing.
            '(' | ')' if in_command && self.spelling.has_bracket() => self.frames.doubt(),
            '(' => self.frames.parenthesis(last == Some('(')),
            ')' => {
                self.frames.end_of_parenthesis();
                if !self.documents.is_empty() && self.frames.depth() < self.documents_depth {
                    self.frames.doubt();
                }
            }
            '}' => self.frames.end_of_brace(),
            '`' => self.frames.backquote(),
            _ if in_command && (c.is_whitespace() || ";&|".contains(c)) => {
                self.spelling.end_of_word();
            }
            _ => {}
        }
    }
}

/// Skips the name behind `${` and tells whether a pattern follows.
fn skip_parameter(chars: &mut Chars<'_>) -> bool {
    next_if(chars, |c| c == '!' || c == '#');
    while next_if(chars, is_name) {}
    if next_if(chars, |c| c == '[') {
        while next_if(chars, |c| is_name(c) || c == '@' || c == '*') {}
        next_if(chars, |c| c == ']');
    }
    chars.as_str().starts_with(['%', '#', '/', '^', ','])
}

fn next_if(chars: &mut Chars<'_>, fits: impl Fn(char) -> bool) -> bool {
    let fits = chars.clone().next().is_some_and(fits);
    if fits {
        chars.next();
    }
    fits
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
