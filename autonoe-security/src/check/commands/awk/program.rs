//! Reader for awk programs, which proves that a program only computes, reads and prints.
//!
//! It splits a program into tokens and follows statements as far as redirections need it. It does
//! not check the grammar: a program that awk refuses does nothing.

use std::collections::BTreeSet;

use super::super::brackets::{Brackets, Reading};

/// Returns the files that a program reads with `getline < "FILE"`, or why it is refused.
///
/// The program is read in every way that implementations of awk read brackets. One of them must
/// understand it. If another one does not, the text must not contain anything that could be
/// dangerous, in whatever place.
pub(super) fn files_read(text: &str) -> Result<Vec<String>, Problem> {
    let readings = match text.contains('[') {
        true => &Reading::ALL[..],
        false => &Reading::ALL[..1],
    };
    let mut files = Vec::new();
    let (mut is_understood, mut problem) = (false, None);
    for reading in readings {
        let mut reader = Reader::new(text, *reading);
        match reader.program() {
            Ok(()) => {
                is_understood = true;
                files.append(&mut reader.files);
            }
            Err(found @ Problem::NotUnderstood(_)) => problem = Some(found),
            Err(found) => return Err(found),
        }
    }
    match problem {
        Some(problem) if !is_understood || may_be_dangerous(text) => Err(problem),
        _ => Ok(files),
    }
}

/// Returns whether a text contains a word or a character that a program needs for more than computing
/// and printing, even in a string or a regular expression.
fn may_be_dangerous(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "system",
        "getline",
        "ARGV",
        "ARGC",
        "SYMTAB",
        "FUNCTAB",
        "ENVIRON",
        "extension",
        "@",
        ">",
    ];
    WORDS.iter().any(|word| text.contains(word)) || text.replace("||", "").contains('|')
}

/// Why a program is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is no program that every awk reads alike.
    NotUnderstood(&'static str),
    /// It runs a command.
    Executes,
    /// It has a pipe.
    Pipes,
    /// It writes a file.
    Writes,
    /// It reads a file whose name is not literal.
    ReadsUnknown,
    /// It uses a name that reaches the environment, other files or other code.
    Name(&'static str),
}

type Done<T = ()> = Result<T, Problem>;

/// What a `/` means depends on the token in front of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing of this statement yet: a regular expression may follow.
    Start,
    /// An operator or an opening bracket: a regular expression may follow.
    Operator,
    /// `print` or `printf`: a regular expression may follow.
    Print,
    /// A value: a division may follow.
    Value,
    /// A token that may be a value, and behind which implementations may disagree about a `/`.
    Unclear,
    /// A token that needs more of the same statement, and behind which a `/` makes no sense.
    Incomplete,
}

/// An open `(` or `[`.
#[derive(Clone, Copy)]
struct Open {
    closes: char,
    /// Whether it is the condition of `if`, `while`, `for` or `switch`.
    is_condition: bool,
}

struct Reader<'t> {
    rest: &'t str,
    files: Vec<String>,
    open: Vec<Open>,
    braces: usize,
    last: Last,
    /// The last token was `if`, `while`, `for` or `switch`.
    awaits_condition: bool,
    /// The last token was `function`.
    awaits_name: bool,
    /// `print` or `printf` stands in the current statement.
    is_printing: bool,
    /// How many brackets were open at the last `getline` of the current statement.
    getline: Option<usize>,
    called: BTreeSet<&'t str>,
    defined: BTreeSet<&'t str>,
    reading: Reading,
}

/// Functions that compute, flush or close. `system` is missing, as are functions that load code.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "close", "compl", "cos", "exp", "fflush", "gensub", "gsub",
    "index", "int", "isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit",
    "rand", "rshift", "sin", "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub",
    "substr", "systime", "tolower", "toupper", "typeof", "xor",
];

impl<'t> Reader<'t> {
    fn new(text: &'t str, reading: Reading) -> Self {
        Self {
            rest: text,
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

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    /// Skips `text` if it comes next.
    fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_while(&mut self, holds: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    fn skip_blanks(&mut self) {
        self.skip_while(|c| c == ' ' || c == '\t');
    }

    fn program(&mut self) -> Done {
        loop {
            let at = self.rest;
            let Some(c) = self.next() else {
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

    /// Reads the token at the beginning of `at`, whose first character `c` is skipped.
    fn token(&mut self, c: char, at: &'t str) -> Done {
        match c {
            ' ' | '\t' => {}
            '\n' => self.newline(),
            '\\' if self.skip("\n") => {}
            '#' => self.comment()?,
            ';' => match self.open.is_empty() {
                true => self.end_statement(),
                false => self.last = Last::Operator,
            },
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
                self.string()?;
                self.last = Last::Value;
            }
            '/' => self.slash()?,
            '>' => self.greater()?,
            '<' => self.less()?,
            '|' if self.skip("|") => self.last = Last::Operator,
            '|' => return Err(Problem::Pipes),
            '&' if self.skip("&") => self.last = Last::Operator,
            '+' if self.skip("+") => self.last = Last::Unclear,
            '-' if self.skip("-") => self.last = Last::Unclear,
            '$' => self.last = Last::Incomplete,
            ':' if self.peek() == Some(':') => {
                return Err(Problem::NotUnderstood("it uses a namespace"));
            }
            '+' | '-' | '*' | '%' | '^' | '=' | '!' | '~' | '?' | ':' | ',' => {
                self.last = Last::Operator;
            }
            '.' | '0'..='9' => self.number(c)?,
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

    /// A newline ends a statement, except behind an operator or a comma, or in brackets.
    fn newline(&mut self) {
        let is_complete = !matches!(self.last, Last::Operator | Last::Incomplete);
        if self.open.is_empty() && is_complete {
            self.end_statement();
        }
    }

    fn comment(&mut self) -> Done {
        let comment = self.skip_while(|c| c != '\n');
        match comment.ends_with('\\') {
            true => Err(Problem::NotUnderstood("a comment ends with a backslash")),
            false => Ok(()),
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
        // Behind a condition comes a statement, and some readers take a `/` there for a division.
        self.last = match open.is_condition {
            true => Last::Unclear,
            false => Last::Value,
        };
        self.getline = self.getline.filter(|depth| *depth <= self.open.len());
        Ok(())
    }

    /// Reads a string behind its first quote, and returns what stands in it as it is written.
    fn string(&mut self) -> Done<&'t str> {
        let start = self.rest;
        loop {
            match self.next() {
                Some('"') => {
                    let end = start.len() - self.rest.len() - 1;
                    return Ok(&start[..end]);
                }
                Some('\\') if !matches!(self.peek(), None | Some('\n')) => {
                    self.next();
                }
                None | Some('\n' | '\\') => {
                    return Err(Problem::NotUnderstood("a string has no end"));
                }
                Some(_) => {}
            }
        }
    }

    fn slash(&mut self) -> Done {
        match self.last {
            Last::Value => {
                self.skip("=");
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
        let mut brackets = Brackets::new(self.reading);
        loop {
            match self.next() {
                Some('/') if !brackets.hides_delimiter() => break,
                Some('\\') => match self.next() {
                    Some(escaped) if escaped != '\n' => brackets.push_escaped(escaped),
                    _ => return Err(Problem::NotUnderstood("a regular expression has no end")),
                },
                None | Some('\n') => {
                    return Err(Problem::NotUnderstood("a regular expression has no end"));
                }
                Some(c) => brackets.push(c),
            }
        }
        self.last = Last::Value;
        Ok(())
    }

    /// A `>` of `print` outside of brackets writes, every other one compares.
    fn greater(&mut self) -> Done {
        if self.skip("=") {
            self.last = Last::Operator;
            return Ok(());
        }
        let appends = self.skip(">");
        if !self.is_printing || !self.open.is_empty() {
            self.last = Last::Operator;
            return match appends {
                true => Err(Problem::Writes),
                false => Ok(()),
            };
        }
        match self.file()? {
            Some("/dev/stderr" | "/dev/stdout") if self.is_at_end_of_statement() => Ok(()),
            _ => Err(Problem::Writes),
        }
    }

    /// A `<` behind `getline` reads a file, every other one compares.
    fn less(&mut self) -> Done {
        let is_comparison = self.skip("=") || self.getline.is_none();
        self.last = Last::Operator;
        if is_comparison {
            return Ok(());
        }
        let file = self.file()?.ok_or(Problem::ReadsUnknown)?;
        self.skip_blanks();
        let is_whole = self.rest.starts_with(')') || self.is_at_end_of_statement();
        if file.contains('\\') || !is_whole {
            return Err(Problem::ReadsUnknown);
        }
        self.files.push(file.to_owned());
        self.last = Last::Value;
        Ok(())
    }

    /// Reads the literal name of a file; `None` for anything else.
    fn file(&mut self) -> Done<Option<&'t str>> {
        self.skip_blanks();
        match self.skip("\"") {
            true => self.string().map(Some),
            false => Ok(None),
        }
    }

    /// Returns whether nothing more of the statement follows, which another string would continue.
    fn is_at_end_of_statement(&mut self) -> bool {
        self.skip_blanks();
        self.last = Last::Value;
        matches!(self.peek(), None | Some('\n' | ';' | '}' | '#'))
    }

    fn number(&mut self, first: char) -> Done {
        self.skip_while(|c| c.is_ascii_digit() || c == '.');
        let exponent = self.rest.strip_prefix(['e', 'E']);
        if let Some(rest) = exponent {
            let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.rest = digits;
                self.skip_while(|c| c.is_ascii_digit());
            }
        }
        let continues = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        self.last = Last::Value;
        match self.rest.starts_with(continues) || (first == '.' && self.rest.is_empty()) {
            true => Err(Problem::NotUnderstood("a number is unusual")),
            false => Ok(()),
        }
    }

    /// Reads the word at the beginning of `at`.
    fn word(&mut self, at: &'t str) -> Done {
        self.rest = at;
        let word = self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
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
                    return Err(Problem::NotUnderstood("print stands in an expression"));
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
                // A variable in front of a bracket needs a blank.
                if self.rest.starts_with('(') {
                    self.called.insert(name);
                }
            }
        }
        Ok(())
    }

    /// Accepts `ENVIRON["NAME"]`: one variable by its name.
    fn environment_variable(&mut self) -> Done {
        let is_one = self.skip("[") && self.skip("\"") && {
            let name = self.string()?;
            self.skip("]")
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        self.last = Last::Value;
        match is_one {
            true => Ok(()),
            false => Err(Problem::Name("ENVIRON")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_and_printing_is_understood() {
        for text in [
            "",
            "{print}",
            "{print $1, $NF}",
            "NR==1",
            "NR>1{print $2}",
            "$3 > 100",
            "$3 > 100 && $4 < 5 { n++ } END { print n }",
            "/foo/",
            "/foo/{print FILENAME\":\"FNR\": \"$0}",
            "!/^#/ && NF",
            "/start/,/end/",
            "{ sum += $1 / 2 } END { print sum / NR }",
            "{ a = b /2/ c; d /= 2 }",
            "{ print (a > b) ? a : b }",
            "{ max = $1 > max ? $1 : max } END { print max }",
            "{ if ($1 > max) max = $1; print max }",
            "BEGIN { for (i = 0; i < 10; i++) printf \"%d\\n\", i }",
            "{ gsub(/a|b/, \"|\"); print }",
            "{ gsub(/[^\\/]*\\//, \"\") } 1",
            "{ print \"a > b | c\" }",
            "{ print \"x\" > \"/dev/stderr\" }",
            "{ print \"x\" >> \"/dev/stdout\"; print 2 }",
            "function f(x, y) { return x * y } { print f($1, 2) }",
            "{ a[$1]++ } END { for (k in a) print k, a[k] }",
            "!seen[$0]++",
            "BEGIN { while ((getline line < \"data.txt\") > 0) n++; print n }",
            "BEGIN { getline; getline x; print x }",
            "{ print length, length($0) } # > x | y",
            "{ print a,\n b }",
            "{ x = \"a\" \\\n \"b\"; print x }",
            "BEGIN { print ENVIRON[\"HOME\"] }",
            "{ print > \"/dev/stderr\" }",
            "BEGIN{FS=\":\"}{print $1}",
            "NR%2==0",
            "{ gsub(/[^/]*$/, \"\"); print }",
            "/[/]/ { print }",
            "NR==FNR{a[$1];next} $1 in a",
            "{ print 1e5, .5, 1.5e-3 }",
            "/a/ || /b/ { print }",
            "{ print $1 }\n/x/ { print $2 }",
            "{ $1 = \"\"; print substr($0, 2) }",
            "BEGIN { \"a\" ~ /b/; print -1 }",
            "{ n = split($0, p, /[.\\/]/); print p[n] }",
        ] {
            assert!(files_read(text).is_ok(), "{text:?}: {:?}", files_read(text));
        }
    }

    #[test]
    fn files_are_found() {
        assert_eq!(
            files_read("{ while ((getline x < \"a/b\") > 0) n++; getline < \"c\" }"),
            Ok(vec!["a/b".to_owned(), "c".to_owned()])
        );
    }

    #[test]
    fn writing_running_and_reaching_further_is_refused() {
        for text in [
            "{ system(\"id\") }",
            "{ x = 1 system(\"id\") }",
            "{ print | \"cat\" }",
            "{ print |& \"cat\" }",
            "{ \"id\" | getline x }",
            "{ while ((\"id\" | getline x) > 0) print x }",
            "{ print > \"x\" }",
            "{ print $1 > $2 }",
            "{ print $1 >> \"x\" }",
            "{ printf(\"%s\", $1) > \"x\" }",
            "{ print (1)(2) > \"x\" }",
            "{ print a,\n b > \"x\" }",
            "{ print a \\\n > \"x\" }",
            "{ print \"x\" > \"/dev/stderr\" \"y\" }",
            "{ print \"x\" > \"/dev/\" \"stderr\" }",
            "{ print > \"/dev/stderr\" ? \"a\" : \"b\" }",
            "{ print > \"/inet/tcp/0/evil/80\" }",
            "{ getline x < $1 }",
            "{ getline x < \"a\" \"b\" }",
            "{ getline x[1] < (\"a\") }",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "{ f = \"system\"; @f(\"id\") }",
            "BEGIN { ARGV[1] = \"/etc/shadow\"; ARGC = 2 }",
            "BEGIN { for (k in ENVIRON) print ENVIRON[k] }",
            "BEGIN { print ENVIRON[\"A\" \"B\"] }",
            "BEGIN { SYMTAB[\"x\"] = 1 }",
            "BEGIN { awk::system(\"id\") }",
            "BEGIN { extension(\"x.so\", \"dlload\") }",
            "BEGIN { if (1) /\"/; system(\"id\") #/\n }",
            "BEGIN { if\\\n(1) /\"/; print > \"x\" #\"/\n }",
            "{ x++ /\"/ 1; print > \"x\" #\"/\n }",
            "/[/]/ { print > \"x\" }",
            "/[/]/ { print } /a|b/",
            "/[/]\"/ { print > \"x\" } #\"",
            "{ length /\"/ 1; print > \"x\" #\"/\n }",
            "{ print \"a",
            "{ print (a }",
            "{ print ",
            "print > \"x\"",
            "{ 1system(\"id\") }",
            "{ 0x1fgetline }",
            "{ print `id` }",
            "{ print } # x\\\n{ print > \"x\" }",
            "{ a >> \"x\" }",
            "{ print /x/ > \"x\" }",
            "{ if (1) print 1; else print 2 > \"x\" }",
            "{ do print 1 > \"x\"; while (0) }",
        ] {
            assert!(files_read(text).is_err(), "{text:?}");
        }
    }
}
