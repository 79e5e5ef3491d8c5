//! Whether a shell command could spell `.autonoe`.

use super::name_positions::Positions;

/// Tells whether an expansion in `command` could come out as a path with the component `.autonoe`.
///
/// This is not a shell. It reads the command once and keeps the set of all
/// positions in the name that any expansion so far could have come to. Quotes
/// and backslashes disappear, `*`, `?` and `[..]` stand for what they could
/// match, and a variable or a substitution for anything. So `.a?to*`,
/// `.{auto,x}noe`, `"$a"noe` and `.auto$(x)` are found.
///
/// A quoted `.*` is nearly always a regular expression, so in quotes a wildcard
/// counts only together with a letter of the name.
pub(super) fn could_spell_the_name(command: &str) -> bool {
    // In comments and here-documents quotes do not pair, so then nothing counts as quoted.
    let quotes_pair = !command.contains('#') && !command.contains("<<");
    let mut reader = Reader::new(quotes_pair);
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if reader.quote == Some(Quote::Single) => {}
            '\\' => match chars.next() {
                // An escaped line end is nothing at all.
                None | Some('\n') => {}
                Some(next) => reader.escaped(next),
            },
            '\'' | '"' => reader.quote(c),
            '$' => reader.dollar(&mut chars),
            _ => reader.character(c),
        }
    }
    reader.end_of_component();
    reader.found
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

#[derive(Debug)]
struct Reader {
    now: Positions,
    /// Before the last character, for `@(` and its like.
    before: Positions,
    last: Option<char>,
    quote: Option<Quote>,
    quotes_pair: bool,
    braces: Vec<Brace>,
    brackets: Vec<Positions>,
    found: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Single,
    Double,
    /// `$'..'`, in which a backslash escapes.
    Dollar,
}

/// An open `{` or `${`.
#[derive(Debug)]
struct Brace {
    start: Positions,
    /// Where the alternatives that are over have led.
    ends: Positions,
    /// Whether it is a range such as `{a..z}`.
    range: bool,
}

impl Reader {
    fn new(quotes_pair: bool) -> Self {
        Self {
            now: Positions::START,
            before: Positions::START,
            last: None,
            quote: None,
            quotes_pair,
            braces: Vec::new(),
            brackets: Vec::new(),
            found: false,
        }
    }

    fn is_quoted(&self) -> bool {
        self.quotes_pair && self.quote.is_some()
    }

    /// Opens or closes a quote. Even a quote that is plain text in another
    /// quote vanishes: it may be read by a second shell.
    fn quote(&mut self, c: char) {
        self.last = None;
        self.quote = match (self.quote, c) {
            (None, '\'') => Some(Quote::Single),
            (None, _) => Some(Quote::Double),
            (Some(Quote::Single | Quote::Dollar), '\'') | (Some(Quote::Double), '"') => None,
            (open, _) => open,
        };
    }

    fn dollar(&mut self, chars: &mut Chars<'_>) {
        self.last = None;
        match chars.peek() {
            Some('\'') if self.quote.is_none() => {
                chars.next();
                self.quote = Some(Quote::Dollar);
            }
            Some('\'' | '"') => {}
            Some('{') => {
                chars.next();
                let ends = self.now.any_text(self.is_quoted()).or(Positions::ANYWHERE);
                self.braces.push(Brace {
                    start: Positions::START,
                    ends,
                    range: false,
                });
                self.separator();
            }
            _ => {
                if chars.next_if(|c| "?*@#!$-".contains(*c)).is_none() {
                    while chars
                        .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .is_some()
                    {}
                }
                self.now = self.now.any_text(self.is_quoted()).or(Positions::ANYWHERE);
            }
        }
    }

    fn escaped(&mut self, c: char) {
        self.last = None;
        self.literal(c);
    }

    fn character(&mut self, c: char) {
        let quoted = self.is_quoted();
        let before = self.now;
        match c {
            '*' => self.now = self.now.any_text(quoted),
            '?' => self.now = self.now.any_character(quoted),
            '[' => {
                self.brackets.push(self.now);
                self.separator();
            }
            ']' => {
                self.end_of_component();
                let class = self.brackets.pop().map(|start| start.any_character(quoted));
                self.now = class.unwrap_or(Positions::START);
            }
            '{' => {
                self.braces.push(Brace {
                    start: self.now,
                    ends: Positions::NONE,
                    range: false,
                });
            }
            ',' => {
                let reached = self.now;
                self.separator();
                if let Some(brace) = self.braces.last_mut() {
                    brace.ends = brace.ends.or(reached);
                    self.now = brace.start.or(Positions::START);
                }
            }
            '}' => {
                let reached = self.now;
                self.separator();
                if let Some(brace) = self.braces.pop() {
                    self.now = reached.or(brace.ends);
                    if brace.range {
                        self.now = self.now.or(brace.start.any_text(quoted));
                    }
                }
            }
            '(' | '`' => {
                // `@(a|b)` stands for some text, as a substitution does.
                if self.last.is_some_and(|last| "@+!?*".contains(last)) {
                    self.now = self.before.any_text(quoted);
                }
                self.separator();
                if c == '`' {
                    self.now = Positions::ANYWHERE;
                }
            }
            ')' => {
                self.end_of_component();
                self.now = Positions::ANYWHERE;
            }
            _ => {
                if let ('.', Some('.'), Some(brace)) = (c, self.last, self.braces.last_mut()) {
                    brace.range = true;
                }
                self.literal(c);
            }
        }
        self.before = before;
        self.last = Some(c);
    }

    fn literal(&mut self, c: char) {
        if c.is_alphanumeric() || c == '_' {
            self.now = self.now.literal(c);
        } else if c == '-' {
            // What was before is another name, as `.autonoe-note.md` is; what
            // comes now can be a path, as in `${x:-path}`.
            self.now = Positions::START;
        } else if c == '.' {
            self.end_of_component();
            self.now = self.now.literal(c);
        } else {
            self.separator();
        }
        if c.is_whitespace() {
            self.brackets.clear();
        }
    }

    fn separator(&mut self) {
        self.end_of_component();
        self.now = Positions::START;
    }

    fn end_of_component(&mut self) {
        self.found |= self.now.is_whole_name();
    }
}

#[cfg(test)]
mod tests;
