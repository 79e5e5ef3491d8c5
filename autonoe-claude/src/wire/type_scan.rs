//! Locates the type of a message without parsing the message.

use std::ops::Range;

use memchr::memchr2;

/// The positions of type and subtype, without their quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TypePosition {
    /// Empty if there is no type.
    pub(super) name: Range<usize>,
    pub(super) subtype: Option<Range<usize>>,
}

/// Locates `type` and `subtype` among the keys of the object that `raw` starts with.
///
/// They need not come first: newer builds end a result with its type. Nested values are skipped.
/// Nothing is validated: for a text that is not JSON the result is arbitrary, and parsing fails
/// later.
pub(super) fn peek(raw: &[u8]) -> TypePosition {
    let mut found = TypePosition::default();
    let mut typed = false;
    let mut scan = Scan { raw, at: 1 };
    while let Some(key) = scan.key() {
        let value = scan.string_value();
        match (raw.get(key), value) {
            (Some(b"type"), Some(name)) if !typed => {
                let has_subtype = matches!(raw.get(name.clone()), Some(b"system" | b"result"));
                found.name = name;
                typed = true;
                if !has_subtype {
                    found.subtype = None;
                    break;
                }
            }
            (Some(b"subtype"), Some(name)) if found.subtype.is_none() => {
                found.subtype = Some(name);
            }
            _ => {}
        }
        if typed && found.subtype.is_some() {
            break;
        }
    }
    found
}

/// A position in the text of an object.
struct Scan<'a> {
    raw: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.raw.get(self.at).copied()
    }

    fn skip_blanks_and(&mut self, separator: u8) {
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_whitespace() || byte == separator)
        {
            self.at += 1;
        }
    }

    /// Skips the next key and returns its position; `None` at the end of the object.
    fn key(&mut self) -> Option<Range<usize>> {
        self.skip_blanks_and(b',');
        let key = self.string()?;
        self.skip_blanks_and(b':');
        Some(key)
    }

    /// Skips a value, and returns its position if it is a string.
    fn string_value(&mut self) -> Option<Range<usize>> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => {
                self.skip_nested();
                None
            }
            _ => {
                while self
                    .peek()
                    .is_some_and(|byte| !matches!(byte, b',' | b'}' | b']'))
                {
                    self.at += 1;
                }
                None
            }
        }
    }

    /// Skips a string and returns the position of its content.
    fn string(&mut self) -> Option<Range<usize>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let start = self.at;
        loop {
            let rest = self.raw.get(self.at..)?;
            let Some(next) = memchr2(b'"', b'\\', rest) else {
                self.at = self.raw.len();
                return None;
            };
            self.at += next + 1;
            if rest.get(next) == Some(&b'"') {
                return Some(start..self.at - 1);
            }
            // The character after a backslash is part of the string.
            self.at += 1;
        }
    }

    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    if self.string().is_none() {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(raw: &str) -> (&str, Option<&str>) {
        let found = peek(raw.as_bytes());
        (&raw[found.name], found.subtype.map(|place| &raw[place]))
    }

    #[test]
    fn the_type_is_found_at_any_position() {
        for (raw, expected) in [
            (r#"{"type":"user"}"#, ("user", None)),
            (
                r#"{"type":"system","subtype":"init"}"#,
                ("system", Some("init")),
            ),
            (
                r#"{ "usage" : {"type":"x","a":["]","\"}"]} , "is_error":true, "n":-1.5e3,
                   "subtype" : "success", "none":null, "type" : "result" }"#,
                ("result", Some("success")),
            ),
            (
                r#"{"a":[{"type":"inner"},"}"],"type":"assistant"}"#,
                ("assistant", None),
            ),
            (r#"{"subtype":"x","type":"assistant"}"#, ("assistant", None)),
            (
                r#"{"result":"\\","type":"result","subtype":"error_max_turns"}"#,
                ("result", Some("error_max_turns")),
            ),
            (r#"{"type":"a","type":"b"}"#, ("a", None)),
            (r#"{"type":7,"subtype":"x"}"#, ("", Some("x"))),
            ("{}", ("", None)),
        ] {
            assert_eq!(names(raw), expected, "{raw}");
        }
    }

    #[test]
    fn truncated_or_invalid_json_gets_some_result() {
        for raw in [
            "{",
            "{\"",
            "{\"type",
            "{\"type\"",
            "{\"type\":",
            "{\"type\":\"",
            "{\"type\":\"\\",
            "{]]",
            "{,,,:::",
            "{\"a\":{\"b",
            "{\"a\":[[[",
            "{\"a\":]",
            "{\"a\\",
        ] {
            assert_eq!(names(raw), ("", None), "{raw}");
        }
    }
}
