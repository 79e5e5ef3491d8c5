//! Detection of texts and shell words that contain `.autonoe` or could expand to it.

use std::borrow::Cow;

use autonoe_security::syntax::{Brace, Operation, Part, Substitute};

use super::file_name::{Positions, components, is_spelling_of};
use crate::gate::lexical_path::{percent_decoded, strip_invisible};

const NAME: &str = ".autonoe";

/// Returns whether `text`, in any language, contains `.autonoe` or could expand to it.
pub(super) fn text_touches_autonoe(text: &str) -> bool {
    let text = percent_decoded(&strip_invisible(text));
    components(&text).any(|component| is_spelling_of(component, NAME))
        || readings(&text)
            .iter()
            .any(|text| mentions_autonoe(text) || could_spell(|spelling| spelling.text(text)))
}

/// Returns whether `parts` contain `.autonoe` or could expand to a path with that component.
///
/// Variables and substitutions stand for any text, so `.auto$x` and `"$a"noe` match; a variable
/// alone does not. In quotes, a wildcard counts only beside a letter of the name, because a quoted
/// `.*` is nearly always a regular expression.
pub(super) fn parts_touch_autonoe(parts: &[Part<'_>]) -> bool {
    // An expansion may be empty or arbitrary.
    let mentions = ["", "\u{fffd}"].iter().any(|unknown| {
        let mut text = String::new();
        write_text(parts, unknown, &mut text);
        readings(&strip_invisible(&text))
            .iter()
            .any(|text| mentions_autonoe(text))
    });
    mentions || could_spell(|spelling| spelling.parts(parts))
}

/// Returns whether `parts` contain an unquoted wildcard.
pub(super) fn has_glob(parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| match part {
        Part::Glob(_) => true,
        Part::Brace(brace) => match brace.as_ref() {
            Brace::Alternatives(alternatives) => alternatives.iter().any(|it| has_glob(it)),
            Brace::Sequence { .. } => false,
        },
        _ => false,
    })
}

fn write_text(parts: &[Part<'_>], unknown: &str, text: &mut String) {
    for part in parts {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            Part::DoubleQuoted(inner) => write_text(inner, unknown, text),
            Part::Glob(glob) => text.push(*glob),
            _ => text.push_str(unknown),
        }
    }
}

fn could_spell(read: impl FnOnce(&mut Spelling)) -> bool {
    let mut spelling = Spelling::new();
    read(&mut spelling);
    spelling.end_of_component();
    spelling.found
}

/// Returns the possible readings of `text`: unchanged, with `\` as a separator, and with escapes
/// decoded.
fn readings(text: &str) -> Vec<Cow<'_, str>> {
    let mut readings = vec![text.into()];
    if text.contains('\\') {
        readings.extend([text.replace('\\', "/").into(), decode_escapes(text).into()]);
    }
    readings
}

/// Returns whether `text` contains `.autonoe`, either literally or without its quotes and
/// backslashes.
///
/// `.autonoe-note.md` and names that continue with a letter are other files.
fn mentions_autonoe(text: &str) -> bool {
    let text = strip_invisible(text).to_ascii_lowercase();
    let bare = text.replace(['\'', '"', '\\'], "");
    [text, bare].iter().any(|text| {
        text.match_indices(NAME).any(|(at, _)| {
            let next = text[at + NAME.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    })
}

/// Replaces `\x2e`, `\u002e` and `\056` with the character that they denote in the string literals
/// of most languages.
fn decode_escapes(command: &str) -> String {
    let mut text = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match parse_escape(rest) {
            Some((c, length)) => {
                text.push(c);
                rest = &rest[length..];
            }
            None => text.push('\\'),
        }
    }
    text + rest
}

/// Parses the escape after a backslash. Returns the character and the number of bytes consumed.
fn parse_escape(rest: &str) -> Option<(char, usize)> {
    let (skip, radix, max_digits) = match rest.as_bytes().first()? {
        b'x' => (1, 16, 2),
        b'u' => (1, 16, 4),
        b'U' => (1, 16, 8),
        b'0'..=b'7' => (0, 8, 3),
        _ => return None,
    };
    // Some languages write `\u{2e}`.
    let braces = usize::from(rest[skip..].starts_with('{'));
    let digits = &rest[skip + braces..];
    let length = digits
        .chars()
        .take(max_digits)
        .take_while(|c| c.is_digit(radix))
        .count();
    let c = char::from_u32(u32::from_str_radix(&digits[..length], radix).ok()?)?;
    Some((c, skip + length + 2 * braces))
        .filter(|_| braces == 0 || digits[length..].starts_with('}'))
}

/// Tracks which positions in the name the text so far could have reached.
struct Spelling {
    now: Positions,
    /// Positions at the `[` characters of this word.
    brackets: Option<Positions>,
    found: bool,
}

/// An open `{` in a text.
struct OpenBrace {
    start: Positions,
    /// Positions at the ends of its alternatives so far.
    ends: Positions,
    is_range: bool,
}

impl Spelling {
    fn new() -> Self {
        Self {
            now: Positions::START,
            brackets: None,
            found: false,
        }
    }

    /// Processes the parts of a word.
    fn parts(&mut self, parts: &[Part<'_>]) {
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Literal(text) => text.chars().for_each(|c| match c {
                ']' => self.end_of_bracket(false),
                c => self.literal(c),
            }),
            Part::Quoted(text) => self.text(text),
            Part::DoubleQuoted(inner) => self.parts(inner),
            Part::Glob(c) => self.wildcard(*c, false),
            Part::Tilde(_) | Part::ProcessSubstitution(_) => self.separator(),
            Part::Brace(brace) => self.brace(brace),
            Part::Parameter(parameter) => {
                let start = self.now;
                self.unknown(false);
                if let Operation::Substitute { when, word, .. } = &parameter.operation
                    && *when != Substitute::Error
                {
                    let others = self.now;
                    self.now = start.or(Positions::START);
                    self.parts(&word.parts);
                    self.now = self.now.or(others);
                }
            }
            Part::CommandSubstitution(_) => self.unknown(false),
            Part::Arithmetic(_) => self.now = Positions::NONE,
            // An unknown kind of part can be anything.
            _ => self.unknown(false),
        }
    }

    fn brace(&mut self, brace: &Brace<'_>) {
        let start = self.now;
        match brace {
            Brace::Alternatives(alternatives) => {
                let mut ends = Positions::NONE;
                for alternative in alternatives {
                    self.now = start;
                    self.parts(alternative);
                    ends = ends.or(self.now);
                }
                self.now = ends;
            }
            Brace::Sequence { .. } => self.now = start.any_text(false),
        }
    }

    /// Processes quoted text, or text in an unknown language. Quotes and backslashes disappear, and
    /// the eventual reader may expand wildcards, braces and variables.
    fn text(&mut self, text: &str) {
        let mut braces: Vec<OpenBrace> = Vec::new();
        // A bracket of the surrounding word stays open, whatever is quoted in it.
        let around = self.brackets;
        let mut last = None;
        let mut before = self.now;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let reached = self.now;
            match c {
                '\\' | '\'' | '"' => {
                    last = None;
                    continue;
                }
                '$' => match chars.peek() {
                    Some('(') => {
                        chars.next();
                        self.unknown(true);
                        self.separator();
                    }
                    Some('{') => {
                        chars.next();
                        let ends = self.now.any_text(true).or(Positions::ANYWHERE);
                        self.separator();
                        let start = self.now;
                        while chars.next_if(|c| is_name(*c)).is_some() {}
                        braces.push(OpenBrace {
                            start,
                            ends,
                            is_range: false,
                        });
                    }
                    Some(c) if is_name(*c) || "?*@#!$-".contains(*c) => {
                        let is_word = is_name(*c);
                        chars.next();
                        while is_word && chars.next_if(|c| is_name(*c)).is_some() {}
                        self.unknown(true);
                    }
                    _ => self.literal('$'),
                },
                '*' | '?' | '[' => self.wildcard(c, true),
                ']' => self.end_of_bracket(true),
                '{' => braces.push(OpenBrace {
                    start: self.now,
                    ends: Positions::NONE,
                    is_range: false,
                }),
                ',' => {
                    self.separator();
                    if let Some(brace) = braces.last_mut() {
                        brace.ends = brace.ends.or(reached);
                        self.now = brace.start.or(Positions::START);
                    }
                }
                '}' => {
                    self.separator();
                    if let Some(brace) = braces.pop() {
                        self.now = reached.or(brace.ends);
                        if brace.is_range {
                            self.now = self.now.or(brace.start.any_text(true));
                        }
                    }
                }
                '(' => {
                    // `@(a|b)` stands for some text.
                    if last.is_some_and(|last| "@+!?*".contains(last)) {
                        self.now = before.any_text(true);
                    }
                    self.separator();
                }
                ')' | '`' => {
                    self.end_of_component();
                    self.now = Positions::ANYWHERE;
                }
                c => {
                    if let ('.', Some('.'), Some(brace)) = (c, last, braces.last_mut()) {
                        brace.is_range = true;
                    }
                    if c.is_whitespace() || ";&|".contains(c) {
                        self.brackets = around;
                    }
                    self.literal(c);
                }
            }
            before = reached;
            last = Some(c);
        }
    }

    fn unknown(&mut self, quoted: bool) {
        self.now = self.now.any_text(quoted).or(Positions::ANYWHERE);
    }

    fn wildcard(&mut self, c: char, quoted: bool) {
        match c {
            '*' => self.now = self.now.any_text(quoted),
            '?' => self.now = self.now.any_character(quoted),
            _ => {
                self.brackets = Some(self.brackets.unwrap_or(Positions::NONE).or(self.now));
                self.separator();
            }
        }
    }

    // Any `]` may close the bracket: a `]` in first position is a member.
    fn end_of_bracket(&mut self, quoted: bool) {
        self.end_of_component();
        let class = self.brackets.map(|start| start.any_character(quoted));
        self.now = class.unwrap_or(Positions::START);
    }

    fn literal(&mut self, c: char) {
        if c.is_alphanumeric() || matches!(c, '_' | '.') {
            self.now = self.now.literal(c);
        } else if c == '-' {
            // `.autonoe-note.md` is a different name, but a path can start after the dash.
            self.now = Positions::START;
        } else {
            self.separator();
        }
    }

    /// Starts the next component of a path.
    fn separator(&mut self) {
        self.end_of_component();
        self.now = Positions::START;
    }

    fn end_of_component(&mut self) {
        self.found |= self.now.is_whole_name();
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use autonoe_security::syntax::{ArgWord, commands, parse};
    use proptest::prelude::*;

    use super::*;

    /// Returns whether the last word of the first command touches the name.
    fn last_word_touches(command: &str) -> bool {
        let script = parse(command).expect("it parses");
        let Some(ArgWord::Word(word)) = commands(&script).next().and_then(|it| it.words.last())
        else {
            panic!("{command:?}");
        };
        parts_touch_autonoe(&word.parts)
    }

    #[test]
    fn every_expansion_that_could_be_the_name_is_found() {
        for word in [
            ".autonoe",
            ".AutoNoe/x",
            ".auto\"noe\"",
            ".auto'noe'/x",
            ".auto\\noe",
            ".auto*",
            ".a?tonoe",
            ".[a]utonoe/x",
            ".[!b]utonoe",
            ".[[:alpha:]]utonoe",
            ".*",
            "./.*",
            ".??*",
            ".\"auto\"*",
            "{.autonoe,x}",
            ".{auto,x}noe",
            ".auto{noe,x}",
            "{x,.auto}noe",
            "{a,{.au,b}to}noe",
            ".{a..b}utonoe",
            "{a/.auto,b}noe/x",
            "${x:-.auto*}",
            ".auto$x",
            ".au${x}noe",
            "${a}noe",
            "\"$a\"noe",
            "${x:-.auto}noe",
            ".auto$(echo noe)",
            "$(echo .auto)noe",
            "`echo .auto`noe",
            "\".$a\"",
            "${x}.a*",
            ".autonoe.",
            ".autonoe:",
            ".[!]]utonoe",
            ".[^]]utonoe",
            ".[]a]utonoe",
            ".[[a]utonoe",
            ".[a\\ ]utonoe",
            ".[a' ']utonoe",
            "'.auto*'",
            "'.{auto,x}noe'",
            "'.au$x'",
            "'@(.auto)noe'",
            "$'\\x2eautonoe'",
            "\"rm('\\u002eautonoe')\"",
            "'\\056autonoe'",
            "'.autonoe\\status.json'",
            ".\u{200d}autonoe",
            "--file=.autonoe",
            "-o.autonoe",
        ] {
            assert!(last_word_touches(&format!("x {word}")), "{word:?}");
        }
    }

    #[test]
    fn other_words_do_not_match() {
        for word in [
            "*",
            "**/*.rs",
            "src/*.*",
            ".autonoe-note.md",
            ".autonoe_x",
            ".autonoex",
            ".env.*",
            ".b*",
            "'^.*$'",
            "\"import .* from\"",
            "$HOME/x",
            "${name}.txt",
            "$(date)",
            "src/{a,b,auto}",
            "[0-9].*",
            "x[a-c].*",
            "\"$name\".*",
            "lib$x*",
            "HEAD~3..HEAD",
            "HEAD@{1}",
            "..",
            "autonoe",
            "autonoe-core",
            "${f%.*}",
            "\"${f%.$ext}\"",
            ".*.swp",
            "${v}e",
            "\"$a.$b\"",
            "'const e = /[.].*/; f(`${e}`)'",
            "$((1 << 2))",
            "~/.config",
        ] {
            assert!(!last_word_touches(&format!("x {word}")), "{word:?}");
        }
    }

    #[test]
    fn the_name_is_found_in_the_input_of_any_tool() {
        for (text, found) in [
            (".autonoe/x", true),
            ("a/AUTONO~1/x", true),
            ("file:///p/%2Eautonoe/x", true),
            ("%2e%61utonoe", true),
            (".auto*", true),
            (".{auto,x}noe", true),
            ("\\x2eautonoe", true),
            ("sub\\.autonoe \\x", true),
            ("rm .auto$x", true),
            ("rm .auto$(echo noe)", true),
            (".autonoe-note.md", false),
            ("match (.*) 100% of %zz %é it's", false),
            ("autonoe", false),
        ] {
            assert_eq!(text_touches_autonoe(text), found, "{text:?}");
        }
    }

    #[test]
    fn a_hostile_text_is_handled_quickly() {
        for piece in [
            "{", "[", "(", "{.a,", "*", "[.a]", "${", "$(", "'", "\\", "`",
        ] {
            text_touches_autonoe(&piece.repeat(10_000));
        }
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic(text in "(.|\\\\|\\\\x|\\\\u\\{|\\.auto|noe|\\*|\\$\\{){0,40}") {
            text_touches_autonoe(&text);
        }

        #[test]
        fn the_literal_name_is_found_anywhere(
            before in "[^\\\\$'\"]{0,16}[ /=]", after in "([ /;)].{0,16})?",
        ) {
            let text = format!("{before}.autonoe{after}");

            prop_assert!(text_touches_autonoe(&text), "{text:?}");
        }
    }
}
