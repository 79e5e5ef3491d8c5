//! Parser for sed scripts, limited to the grammar that POSIX and GNU sed share.

use super::super::brackets::{Brackets, Reading};

/// An effect of a script besides editing its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It runs a command: `e`, or the flag `e` of `s`.
    Executes,
    /// It reads a file: `r` or `R`.
    Reads(String),
    /// It writes a file: `w`, `W`, or the flag `w` of `s`.
    Writes(String),
}

/// A script, as far as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    /// The effects of the commands before the problem, in order.
    pub(super) effects: Vec<Effect>,
    /// The reason why the rest was not understood.
    pub(super) problem: Option<&'static str>,
}

/// Parses a script in every way in which implementations of sed read brackets.
///
/// The effects are those of all readings. One reading must understand the script; it may be invalid
/// in the others, because sed runs no part of an invalid script.
pub(super) fn parse(text: &str) -> Script {
    let readings = if text.contains('[') {
        &Reading::ALL[..]
    } else {
        &Reading::ALL[..1]
    };
    let mut effects = Vec::new();
    let mut is_understood = false;
    let mut problem = None;
    for reading in readings {
        let mut parser = Parser {
            rest: text,
            effects: Vec::new(),
            depth: 0,
            reading: *reading,
        };
        match parser.script() {
            Ok(()) => is_understood = true,
            Err(Problem::Invalid(reason)) if !is_understood => problem = Some(reason),
            Err(Problem::Invalid(_)) => {}
            Err(Problem::Unclear(reason)) => {
                problem = Some(reason);
                is_understood = false;
                break;
            }
        }
        for effect in parser.effects {
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
    }
    Script {
        effects,
        problem: problem.filter(|_| !is_understood),
    }
}

/// The reason why a script is not understood.
enum Problem {
    /// Every implementation rejects it.
    Invalid(&'static str),
    /// Implementations disagree about it.
    Unclear(&'static str),
}

use Problem::{Invalid, Unclear};

type Parsed<T = ()> = Result<T, Problem>;

struct Parser<'t> {
    rest: &'t str,
    effects: Vec<Effect>,
    /// The number of open `{`.
    depth: usize,
    reading: Reading,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn skip(&mut self, holds: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    fn skip_blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    fn skip_digits(&mut self) {
        self.skip(|c| c.is_ascii_digit());
    }

    fn skip_line(&mut self) -> &'t str {
        self.skip(|c| c != '\n')
    }

    fn script(&mut self) -> Parsed {
        loop {
            self.skip(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
            match self.peek() {
                None => break,
                Some('#') => {
                    self.skip_line();
                }
                Some(_) => {
                    self.addresses()?;
                    self.command()?;
                }
            }
        }
        match self.depth {
            0 => Ok(()),
            _ => Err(Invalid("a { has no }")),
        }
    }

    fn addresses(&mut self) -> Parsed {
        if self.address()? {
            self.skip_blanks();
            if self.peek() == Some(',') {
                self.next();
                self.skip_blanks();
                if let Some('+' | '~') = self.peek() {
                    self.next();
                    self.skip_digits();
                } else if !self.address()? {
                    return Err(Invalid("an address is missing after the comma"));
                }
            }
        }
        self.skip_blanks();
        if self.peek() == Some('!') {
            self.next();
            self.skip_blanks();
        }
        Ok(())
    }

    /// Reads one address, and returns whether there was one.
    fn address(&mut self) -> Parsed<bool> {
        match self.peek() {
            Some('$') => {
                self.next();
            }
            Some(c) if c.is_ascii_digit() => {
                self.skip_digits();
                if self.peek() == Some('~') {
                    self.next();
                    self.skip_digits();
                }
            }
            Some('/') => {
                self.next();
                self.pattern_address('/')?;
            }
            Some('\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.pattern_address(delimiter)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn pattern_address(&mut self, delimiter: char) -> Parsed {
        self.regex(delimiter)?;
        self.skip(|c| c == 'I' || c == 'M');
        Ok(())
    }

    fn command(&mut self) -> Parsed {
        match self.next() {
            Some('{') => self.depth += 1,
            Some('}') => {
                self.depth = self.depth.checked_sub(1).ok_or(Invalid("a } has no {"))?;
                self.end_of_command()?;
            }
            Some(
                '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z',
            ) => self.end_of_command()?,
            Some('l' | 'q' | 'Q') => {
                self.skip_blanks();
                self.skip_digits();
                self.end_of_command()?;
            }
            Some(':' | 'b' | 't' | 'T') => {
                self.skip_blanks();
                self.skip(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
                // In some implementations a label extends to the end of the line.
                self.end_of_command()
                    .map_err(|_| Unclear("a label is unusual"))?;
            }
            Some('v' | 'L') => return Err(Unclear("a command is unknown")),
            Some('a' | 'i' | 'c') => self.text()?,
            Some('s') => {
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
                self.plain(delimiter)?;
                self.flags()?;
            }
            Some('y') => {
                let delimiter = self.delimiter()?;
                self.plain(delimiter)?;
                self.plain(delimiter)?;
                self.end_of_command()?;
            }
            Some('r' | 'R') => {
                let file = self.file_name()?;
                self.effects.push(Effect::Reads(file));
            }
            Some('w' | 'W') => {
                let file = self.file_name()?;
                self.effects.push(Effect::Writes(file));
            }
            Some('e') => {
                self.effects.push(Effect::Executes);
                self.skip_line();
            }
            _ => return Err(Invalid("a command is unknown")),
        }
        Ok(())
    }

    fn end_of_command(&mut self) -> Parsed {
        self.skip_blanks();
        match self.peek() {
            None | Some('}' | '#') => Ok(()),
            Some('\n' | ';') => {
                self.next();
                Ok(())
            }
            Some('\r') => Err(Unclear("it has a carriage return")),
            Some(_) => Err(Invalid("something follows a command")),
        }
    }

    /// Reads the text of `a`, `i` and `c`: up to a newline without a backslash.
    fn text(&mut self) -> Parsed {
        self.skip_blanks();
        if self.peek() == Some('\\') {
            self.next();
            // Some implementations do not recognise the newline after trailing blanks.
            let blanks = self.skip(|c| c == ' ' || c == '\t');
            match self.peek() {
                Some('\n') if blanks.is_empty() => {
                    self.next();
                }
                Some('\n') => return Err(Unclear("the text is missing")),
                // `$a\` only adds a newline at the end of the file.
                None => return Ok(()),
                Some(_) => {}
            }
        }
        if matches!(self.peek(), None | Some('\n')) {
            return Err(Unclear("the text is missing"));
        }
        while let Some(c) = self.next() {
            match c {
                '\n' => break,
                '\\' if self.next().is_none() => {
                    return Err(Unclear("the script ends with a backslash"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn delimiter(&mut self) -> Parsed<char> {
        match self.next() {
            Some(c) if c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']') => Ok(c),
            _ => Err(Unclear("the delimiter is unusual")),
        }
    }

    fn regex(&mut self, delimiter: char) -> Parsed {
        let mut brackets = Brackets::new(self.reading);
        while let Some(c) = self.next() {
            match c {
                '\n' => break,
                '\\' => match self.next() {
                    Some(escaped) => brackets.push_escaped(escaped),
                    None => break,
                },
                c if c == delimiter && !brackets.hides_delimiter() => return Ok(()),
                c => brackets.push(c),
            }
        }
        Err(Invalid("a regular expression has no end"))
    }

    /// Reads a replacement, or a list of characters of `y`.
    fn plain(&mut self, delimiter: char) -> Parsed {
        while let Some(c) = self.next() {
            match c {
                '\n' => break,
                '\\' => {
                    self.next();
                }
                c if c == delimiter => return Ok(()),
                _ => {}
            }
        }
        Err(Invalid("a replacement has no end"))
    }

    fn flags(&mut self) -> Parsed {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.next();
                }
                Some('e') => {
                    self.next();
                    self.effects.push(Effect::Executes);
                }
                Some('w') => {
                    self.next();
                    let file = self.file_name()?;
                    self.effects.push(Effect::Writes(file));
                    return Ok(());
                }
                _ => return self.end_of_command(),
            }
        }
    }

    /// Reads a file name: the rest of the line, whatever it contains.
    fn file_name(&mut self) -> Parsed<String> {
        self.skip_blanks();
        match self.skip_line() {
            "" => Err(Invalid("the name of a file is missing")),
            name => Ok(name.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_has_no_effects() {
        for text in [
            "",
            "p",
            "1,5p",
            "$d",
            "$!N",
            "/a/,/b/p",
            "/a/I,+3d",
            "0,/x/s//y/",
            "1~2!d",
            "\\,/usr,d",
            "s/a/b/",
            "s/a/b/g;s/c/d/2p",
            "s|/usr/bin|/bin|g",
            "s,\\,,;,g",
            "s/[^\\/]*$//",
            "s/[^/]*$//",
            "s/[/]/_/g",
            "s/.*[]/]//; p",
            "$a\\",
            "s/[[:space:]]*$//",
            "s/^\\s*//; s/\\s*$//",
            "s/x/a\\\nb/",
            "s#w /etc/x#e#",
            "s/a/w b/ ; p",
            "s/a/b/ g",
            "y/abc/xyz/;p",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/{n;d}",
            "/a/{ s/x/y/; p; }",
            "{p;{p}}",
            "# w /etc/x\np",
            "p # e",
            "a w file",
            "/x/a\\\nw file",
            "i\\  e ls",
            "c foo\\\nw file",
            "1q;2Q 3",
            "l 5",
            "=;F;z;g;G;h;H;x;P;D",
            "t end; s/a/b/; :end",
        ] {
            let expected = Script {
                effects: vec![],
                problem: None,
            };
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn files_and_commands_are_effects() {
        let writes = |file: &str| Effect::Writes(file.to_owned());
        let reads = |file: &str| Effect::Reads(file.to_owned());
        for (text, effects) in [
            ("w x", vec![writes("x")]),
            ("1,5w/etc/x", vec![writes("/etc/x")]),
            ("$!{p\nW x;p}", vec![writes("x;p}")]),
            ("s/a/b/w x", vec![writes("x")]),
            ("s/a/b/gpw  x y", vec![writes("x y")]),
            ("s/a/b/ w x", vec![writes("x")]),
            ("s,w,e,w x", vec![writes("x")]),
            ("p;w x", vec![writes("x")]),
            ("a b\nw x", vec![writes("x")]),
            ("a b\\\\\nw x", vec![writes("x")]),
            ("# c\nw x", vec![writes("x")]),
            ("r x", vec![reads("x")]),
            ("/a/R/etc/x", vec![reads("/etc/x")]),
            ("e", vec![Effect::Executes]),
            ("1e ls", vec![Effect::Executes]),
            ("s/a/b/e", vec![Effect::Executes]),
            ("s/a/b/gIe;w x", vec![Effect::Executes, writes("x")]),
            ("y/a/b/;e", vec![Effect::Executes]),
            (":a;e", vec![Effect::Executes]),
            ("ba;e", vec![Effect::Executes]),
            ("\\,a,e", vec![Effect::Executes]),
            ("//e", vec![Effect::Executes]),
            ("s/[/]/w x/", vec![writes("x/")]),
            ("s/[/]/x/w y", vec![writes("y")]),
            ("s/[^]/]/x/w y", vec![writes("y")]),
            ("s/[\\]/x/w y", vec![writes("y")]),
            ("s/[\\]/x/]/y/w z", vec![writes("z")]),
            ("/[/]/e\n", vec![Effect::Executes]),
        ] {
            assert_eq!(parse(text).effects, effects, "{text:?}");
        }
    }

    #[test]
    fn nonportable_sed_scripts_are_a_problem() {
        for text in [
            "s/a/b",
            "s/a",
            "/a",
            "k",
            "1,p",
            "p p",
            "pp",
            "{p",
            "p}",
            "a",
            "a\\ \nx",
            "a x\\",
            "a\nx",
            "s/a\nb/c/",
            "sxaxbx",
            "s a b ",
            "s[a[b[",
            "w",
            "r \n",
            "s/a/b/q",
            "v",
            "L",
            "1!!p",
            "p\r",
            "/x/{a foo}",
            "b end of it",
        ] {
            assert!(parse(text).problem.is_some(), "{text:?}");
        }
    }

    #[test]
    fn effects_in_front_of_a_problem_are_kept() {
        let script = parse("w x\nk");

        assert_eq!(script.effects, [Effect::Writes("x".to_owned())]);
        assert!(script.problem.is_some());
    }
}
