//! What the words of a shell command could come out as.

use super::name_positions::Positions;

/// How far the words of a command have come in spelling the name.
#[derive(Debug)]
pub(super) struct WordSpelling {
    now: Positions,
    /// Before the last character, for `@(` and its like.
    before: Positions,
    /// The last character, unless it was quoted or escaped.
    last: Option<char>,
    braces: Vec<Brace>,
    /// Where the `[` of this word stand.
    brackets: Option<Positions>,
    found: bool,
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

impl WordSpelling {
    pub(super) fn new() -> Self {
        Self {
            now: Positions::START,
            before: Positions::START,
            last: Some('\n'),
            braces: Vec::new(),
            brackets: None,
            found: false,
        }
    }

    /// Returns the last character, unless it was quoted or escaped.
    pub(super) fn last(&self) -> Option<char> {
        self.last
    }

    /// Tells whether a `[` stands in this word.
    pub(super) fn has_bracket(&self) -> bool {
        self.brackets.is_some()
    }

    /// Tells whether some component of a path could have been the name.
    pub(super) fn is_found(&mut self) -> bool {
        self.end_of_component();
        self.found
    }

    /// Parts what comes from the last character, as a quote does.
    pub(super) fn interrupt(&mut self) {
        self.last = None;
    }

    /// Reads `c` behind a backslash.
    pub(super) fn escaped(&mut self, c: char) {
        self.last = None;
        self.literal(c);
    }

    /// Reads a variable, which can be anything; `hidden` where nothing is expanded.
    pub(super) fn variable(&mut self, hidden: bool) {
        self.last = None;
        self.now = self.now.any_text(hidden).or(Positions::ANYWHERE);
    }

    /// Reads a `${`.
    pub(super) fn parameter(&mut self, hidden: bool) {
        self.braces.push(Brace {
            start: Positions::START,
            ends: self.now.any_text(hidden).or(Positions::ANYWHERE),
            range: false,
        });
        self.last = None;
        self.separator();
    }

    /// Reads a `$(`.
    pub(super) fn substitution(&mut self, hidden: bool) {
        self.variable(hidden);
        self.separator();
        self.last = Some('(');
    }

    /// Reads the end of a line that is not quoted.
    pub(super) fn new_line(&mut self) {
        self.separator();
        self.last = Some('\n');
    }

    /// Ends a word.
    pub(super) fn end_of_word(&mut self) {
        self.brackets = None;
    }

    /// Reads `c`, which is not escaped.
    pub(super) fn character(&mut self, c: char, quoted: bool) {
        let before = self.now;
        match c {
            '*' => self.now = self.now.any_text(quoted),
            '?' => self.now = self.now.any_character(quoted),
            '[' => {
                self.brackets = Some(self.brackets.unwrap_or(Positions::NONE).or(self.now));
                self.separator();
            }
            // Any `]` may be the last: one that stands first is a member.
            ']' => {
                self.end_of_component();
                let class = self.brackets.map(|start| start.any_character(quoted));
                self.now = class.unwrap_or(Positions::START);
            }
            '{' => {
                self.braces.push(Brace {
                    start: self.now,
                    ends: Positions::NONE,
                    range: false,
                });
            }
            ',' => self.next_alternative(),
            '}' => self.end_of_brace(quoted),
            '(' => {
                // `@(a|b)` stands for some text, as a substitution does.
                if self.last.is_some_and(|last| "@+!?*".contains(last)) {
                    self.now = self.before.any_text(quoted);
                }
                self.separator();
            }
            ')' | '`' => {
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

    fn next_alternative(&mut self) {
        let reached = self.now;
        self.separator();
        if let Some(brace) = self.braces.last_mut() {
            brace.ends = brace.ends.or(reached);
            self.now = brace.start.or(Positions::START);
        }
    }

    fn end_of_brace(&mut self, quoted: bool) {
        let reached = self.now;
        self.separator();
        if let Some(brace) = self.braces.pop() {
            self.now = reached.or(brace.ends);
            if brace.range {
                self.now = self.now.or(brace.start.any_text(quoted));
            }
        }
    }

    fn literal(&mut self, c: char) {
        if c.is_alphanumeric() || matches!(c, '_' | '.') {
            self.now = self.now.literal(c);
        } else if c == '-' {
            // What was before is another name, as `.autonoe-note.md` is; what
            // comes now can be a path, as in `${x:-path}`.
            self.now = Positions::START;
        } else {
            self.separator();
        }
    }

    /// Starts another component of a path.
    pub(super) fn separator(&mut self) {
        self.end_of_component();
        self.now = Positions::START;
    }

    fn end_of_component(&mut self) {
        self.found |= self.now.is_whole_name();
    }
}
