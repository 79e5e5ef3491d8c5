//! Tokenizer and statement reader for awk programs.
//!
//! It follows statements only as far as redirections require. It does not check the grammar: awk
//! does not run a program that it cannot parse.

use crate::check::text::has_only;
use std::collections::BTreeSet;

use super::super::brackets::Reading;
use super::cursor::{Cursor, Done, Problem};

/// The previous token, which determines the meaning of a `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start of a statement: a regular expression may follow.
    Start,
    /// An operator or an opening bracket: a regular expression may follow.
    Operator,
    /// `print` or `printf`: a regular expression may follow.
    Print,
    /// A value: a division may follow.
    Value,
    /// A token that may be a value, after which implementations may disagree about a `/`.
    Unclear,
    /// A token that needs more of the same statement, after which a `/` is invalid.
    Incomplete,
}

/// An open `(` or `[`.
#[derive(Clone, Copy)]
struct Open {
    closes: char,
    /// Whether it starts the condition of `if`, `while`, `for` or `switch`.
    is_condition: bool,
}

/// Reads a program in one of the ways in which implementations read brackets.
pub(super) struct Reader<'t> {
    text: Cursor<'t>,
    /// The files that the program reads with `getline < "FILE"`.
    pub(super) files: Vec<String>,
    open: Vec<Open>,
    braces: usize,
    last: Last,
    /// The last token was `if`, `while`, `for` or `switch`.
    awaits_condition: bool,
    /// The last token was `function`.
    awaits_name: bool,
    /// Whether the current statement contains `print` or `printf`.
    is_printing: bool,
    /// The number of open brackets at the last `getline` of the current statement.
    getline: Option<usize>,
    called: BTreeSet<&'t str>,
    defined: BTreeSet<&'t str>,
    reading: Reading,
}

/// Functions that compute, flush or close. `system` and functions that load code are missing.
const FUNCTIONS: &[&str] = words!(
    "and asort asorti atan2 close compl cos exp fflush gensub gsub index int isarray length log",
    "lshift match mktime or patsplit rand rshift sin split sprintf sqrt srand strftime strtonum",
    "sub substr systime tolower toupper typeof xor",
);

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, reading: Reading) -> Self {
        Self {
            text: Cursor { rest: text },
            files: Vec::new(),
            open: Vec::new(),
            braces: 0,
            last: Last::Start,
            awaits_condition: false,
            awaits_name: false,
            is_printing: false,
            getline: None,
            called: BTreeSet::new(),
            defined: BTreeSet::new(),
            reading,
        }
    }

    /// Reads the whole program, or returns the reason of its denial.
    pub(super) fn program(&mut self) -> Done {
        loop {
            let at = self.text.rest;
            let Some(c) = self.text.next() else {
                break;
            };
            let awaited_condition = std::mem::take(&mut self.awaits_condition);
            if c == '(' {
                self.open_bracket(')', awaited_condition);
                continue;
            }
            self.token(c, at)?;
            if matches!(c, ' ' | '\t' | '\n' | '\\' | '#') {
                self.awaits_condition = awaited_condition;
            }
        }
        if !self.open.is_empty() || self.braces > 0 {
            return Err(Problem::NotUnderstood("a bracket is not closed"));
        }
        match self.called.difference(&self.defined).next() {
            Some(_) => Err(Problem::NotUnderstood("it calls an unknown function")),
            None => Ok(()),
        }
    }

    /// Reads the token at the start of `at`, whose first character `c` is already consumed.
    fn token(&mut self, c: char, at: &'t str) -> Done {
        match c {
            ' ' | '\t' => {}
            '\n' => self.newline(),
            '\\' if self.text.skip("\n") => {}
            '#' => self.comment()?,
            ';' => {
                if self.open.is_empty() {
                    self.end_statement();
                } else {
                    self.last = Last::Operator;
                }
            }
            '{' | '}' if !self.open.is_empty() => {
                return Err(Problem::NotUnderstood("a bracket is not closed"));
            }
            '{' => {
                self.braces += 1;
                self.end_statement();
            }
            '}' => {
                self.braces = self
                    .braces
                    .checked_sub(1)
                    .ok_or(Problem::NotUnderstood("a } has no {"))?;
                self.end_statement();
            }
            '[' => self.open_bracket(']', false),
            ')' | ']' => self.close_bracket(c)?,
            '"' => {
                self.text.string()?;
                self.last = Last::Value;
            }
            '/' => self.slash()?,
            '>' => self.greater()?,
            '<' => self.less()?,
            '|' if self.text.skip("|") => self.last = Last::Operator,
            '|' => return Err(Problem::Pipes),
            '&' if self.text.skip("&") => self.last = Last::Operator,
            '+' if self.text.skip("+") => self.last = Last::Unclear,
            '-' if self.text.skip("-") => self.last = Last::Unclear,
            '$' => self.last = Last::Incomplete,
            ':' if self.text.peek() == Some(':') => {
                return Err(Problem::NotUnderstood("it uses a namespace"));
            }
            '+' | '-' | '*' | '%' | '^' | '=' | '!' | '~' | '?' | ':' | ',' => {
                self.last = Last::Operator;
            }
            '.' | '0'..='9' => {
                self.text.number(c)?;
                self.last = Last::Value;
            }
            c if c.is_ascii_alphabetic() || c == '_' => self.word(at)?,
            '@' => return Err(Problem::Name("@")),
            _ => return Err(Problem::NotUnderstood("it has an unusual character")),
        }
        Ok(())
    }

    fn end_statement(&mut self) {
        self.last = Last::Start;
        self.is_printing = false;
        self.getline = None;
    }

    /// Ends a statement, except after an operator or a comma, or in brackets.
    fn newline(&mut self) {
        let is_complete = !matches!(self.last, Last::Operator | Last::Incomplete);
        if self.open.is_empty() && is_complete {
            self.end_statement();
        }
    }

    fn comment(&mut self) -> Done {
        let comment = self.text.skip_while(|c| c != '\n');
        if comment.ends_with('\\') {
            Err(Problem::NotUnderstood("a comment ends with a backslash"))
        } else {
            Ok(())
        }
    }

    fn open_bracket(&mut self, closes: char, is_condition: bool) {
        self.open.push(Open {
            closes,
            is_condition,
        });
        self.last = Last::Operator;
    }

    fn close_bracket(&mut self, c: char) -> Done {
        let open = self.open.pop().filter(|open| open.closes == c);
        let open = open.ok_or(Problem::NotUnderstood("brackets do not match"))?;
        // A statement follows a condition, and some implementations take a `/` there for a
        // division.
        self.last = if open.is_condition {
            Last::Unclear
        } else {
            Last::Value
        };
        self.getline = self.getline.filter(|depth| *depth <= self.open.len());
        Ok(())
    }

    fn slash(&mut self) -> Done {
        match self.last {
            Last::Value => {
                self.text.skip("=");
                self.last = Last::Operator;
                return Ok(());
            }
            Last::Unclear | Last::Incomplete => {
                return Err(Problem::NotUnderstood(
                    "a / may be a division or a regular expression",
                ));
            }
            Last::Start | Last::Operator | Last::Print => {}
        }
        self.text.regex(self.reading)?;
        self.last = Last::Value;
        Ok(())
    }

    /// Handles `>`: it writes in a `print` outside of brackets, and compares elsewhere.
    fn greater(&mut self) -> Done {
        if self.text.skip("=") {
            self.last = Last::Operator;
            return Ok(());
        }
        let appends = self.text.skip(">");
        if !self.is_printing || !self.open.is_empty() {
            self.last = Last::Operator;
            return if appends {
                Err(Problem::Writes)
            } else {
                Ok(())
            };
        }
        match self.file()? {
            Some("/dev/stderr" | "/dev/stdout") if self.is_at_end_of_statement() => Ok(()),
            _ => Err(Problem::Writes),
        }
    }

    /// Handles `<`: it reads a file after `getline`, and compares elsewhere.
    fn less(&mut self) -> Done {
        let is_comparison = self.text.skip("=") || self.getline.is_none();
        self.last = Last::Operator;
        if is_comparison {
            return Ok(());
        }
        let file = self.file()?.ok_or(Problem::ReadsUnknown)?;
        self.text.skip_blanks();
        let is_whole = self.text.rest.starts_with(')') || self.is_at_end_of_statement();
        if file.contains('\\') || !is_whole {
            return Err(Problem::ReadsUnknown);
        }
        self.files.push(file.to_owned());
        self.last = Last::Value;
        Ok(())
    }

    /// Reads the literal name of a file; `None` for anything else.
    fn file(&mut self) -> Done<Option<&'t str>> {
        self.text.skip_blanks();
        if self.text.skip("\"") {
            self.text.string().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns whether the statement ends here, so that no further string continues it.
    fn is_at_end_of_statement(&mut self) -> bool {
        self.text.skip_blanks();
        self.last = Last::Value;
        matches!(self.text.peek(), None | Some('\n' | ';' | '}' | '#'))
    }

    /// Reads the word at the start of `at`.
    fn word(&mut self, at: &'t str) -> Done {
        self.text.rest = at;
        let word = self
            .text
            .skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_defined = std::mem::take(&mut self.awaits_name);
        self.last = Last::Incomplete;
        match word {
            "system" => return Err(Problem::Executes),
            "getline" => {
                self.getline = Some(self.open.len());
                self.last = Last::Unclear;
            }
            "print" | "printf" => {
                if !self.open.is_empty() || self.braces == 0 {
                    return Err(Problem::NotUnderstood("print is used in an expression"));
                }
                self.is_printing = true;
                self.last = Last::Print;
            }
            "if" | "while" | "for" | "switch" => self.awaits_condition = true,
            "function" | "func" => self.awaits_name = true,
            "else" | "do" | "return" | "case" => self.last = Last::Operator,
            "in" | "delete" => {}
            "length" | "exit" | "next" | "nextfile" | "break" | "continue" | "default"
            | "BEGIN" | "END" | "BEGINFILE" | "ENDFILE" => self.last = Last::Unclear,
            "ARGV" => return Err(Problem::Name("ARGV")),
            "ARGC" => return Err(Problem::Name("ARGC")),
            "SYMTAB" => return Err(Problem::Name("SYMTAB")),
            "FUNCTAB" => return Err(Problem::Name("FUNCTAB")),
            "ENVIRON" => self.environment_variable()?,
            name if FUNCTIONS.contains(&name) => {}
            name if is_defined => {
                self.defined.insert(name);
            }
            name => {
                self.last = Last::Value;
                // A variable before a bracket requires a blank.
                if self.text.rest.starts_with('(') {
                    self.called.insert(name);
                }
            }
        }
        Ok(())
    }

    /// Accepts `ENVIRON["NAME"]`: one variable by name.
    fn environment_variable(&mut self) -> Done {
        let is_one = self.text.skip("[") && self.text.skip("\"") && {
            let name = self.text.string()?;
            self.text.skip("]") && has_only(name, "_")
        };
        self.last = Last::Value;
        if is_one {
            Ok(())
        } else {
            Err(Problem::Name("ENVIRON"))
        }
    }
}
