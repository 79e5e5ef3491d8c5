//! [`JsonPositions`], the positions of the values in a JSON text.

use std::collections::BTreeMap;

use super::strict::below;

/// The positions of all values of a JSON text, by JSON pointer.
#[derive(Debug)]
pub(super) struct JsonPositions {
    root: Node,
    /// Byte offsets of the starts of lines.
    line_starts: Vec<usize>,
}

#[derive(Debug)]
struct Node {
    /// The byte offset of the key, if the value is a field.
    key: Option<usize>,
    /// The byte offset of the value.
    value: usize,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Object(BTreeMap<String, Node>),
    List(Vec<Node>),
    Scalar,
}

/// A duplicate key of an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DuplicateKey {
    pub(super) pointer: String,
    pub(super) key: String,
    /// Line and column of the second key, from 1.
    pub(super) position: (usize, usize),
}

impl JsonPositions {
    /// Scans `text`, which must be valid JSON: a parser has checked its syntax and its depth.
    pub(super) fn scan(text: &str) -> Result<Self, DuplicateKey> {
        let mut scanner = Scanner {
            text,
            at: 0,
            duplicate: None,
        };
        let root = scanner.value("", None);
        match scanner.duplicate {
            Some((pointer, key, at)) => Err(DuplicateKey {
                pointer,
                key,
                position: position(text, at),
            }),
            None => Ok(Self {
                root,
                line_starts: line_starts(text).collect(),
            }),
        }
    }

    /// Returns the byte offset of the value at `pointer`, or that of the innermost value around it.
    pub(super) fn value(&self, pointer: &str) -> usize {
        self.find(pointer).unwrap_or_else(|around| around).value
    }

    /// Returns the byte offset of the key of the field at `pointer`, or that of a value as
    /// [`value`](Self::value) does.
    pub(super) fn key(&self, pointer: &str) -> usize {
        let key = self.find(pointer).ok().and_then(|node| node.key);
        key.unwrap_or_else(|| self.value(pointer))
    }

    /// Returns the line of the value at `pointer`, from 1.
    pub(super) fn line(&self, pointer: &str) -> usize {
        let at = self.value(pointer);
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// Returns the pointer to the only field `name` below `pointer`, however deep.
    pub(super) fn only_field(&self, pointer: &str, name: &str) -> Option<String> {
        let mut found = Vec::new();
        collect_fields(self.find(pointer).ok()?, pointer, name, &mut found);
        match found.len() {
            1 => found.pop(),
            _ => None,
        }
    }

    /// Returns the node at `pointer`; the error is the innermost node around it.
    fn find(&self, pointer: &str) -> Result<&Node, &Node> {
        let mut tokens = pointer.split('/').skip(1);
        tokens.try_fold(&self.root, |node, token| {
            let child = match &node.inner {
                Inner::Object(fields) => fields.get(&token.replace("~1", "/").replace("~0", "~")),
                Inner::List(items) => token.parse().ok().and_then(|index: usize| items.get(index)),
                Inner::Scalar => None,
            };
            child.ok_or(node)
        })
    }
}

fn collect_fields(node: &Node, pointer: &str, name: &str, found: &mut Vec<String>) {
    match &node.inner {
        Inner::Object(fields) => {
            for (key, child) in fields {
                let at = below(pointer, key);
                collect_fields(child, &at, name, found);
                if key == name {
                    found.push(at);
                }
            }
        }
        Inner::List(items) => {
            for (index, child) in items.iter().enumerate() {
                collect_fields(child, &below(pointer, &index.to_string()), name, found);
            }
        }
        Inner::Scalar => {}
    }
}

/// Returns the byte offsets of the starts of lines.
fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// Returns line and column of byte `at`, from 1, the column in characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Pointer, name and byte offset of the first duplicate key.
    duplicate: Option<(String, String, usize)>,
}

impl Scanner<'_> {
    fn value(&mut self, pointer: &str, key: Option<usize>) -> Node {
        self.skip_blanks();
        let value = self.at;
        let inner = match self.peek() {
            Some(b'{') => self.object(pointer),
            Some(b'[') => self.list(pointer),
            Some(b'"') => {
                self.string();
                Inner::Scalar
            }
            _ => self.literal(),
        };
        Node { key, value, inner }
    }

    fn object(&mut self, pointer: &str) -> Inner {
        let mut fields = BTreeMap::new();
        while self.enters(b'}') {
            let at = self.at;
            let key = self.string();
            self.skip_blanks();
            self.at += 1; // the colon
            let inner = below(pointer, &key);
            let node = self.value(&inner, Some(at));
            if fields.contains_key(&key) && self.duplicate.is_none() {
                self.duplicate = Some((inner, key.clone(), at));
            }
            fields.insert(key, node);
        }
        Inner::Object(fields)
    }

    fn list(&mut self, pointer: &str) -> Inner {
        let mut items = Vec::new();
        while self.enters(b']') {
            let inner = below(pointer, &items.len().to_string());
            items.push(self.value(&inner, None));
        }
        Inner::List(items)
    }

    /// Skips the opening bracket or a comma and returns `true`, or skips the closing bracket and
    /// returns `false`.
    fn enters(&mut self, close: u8) -> bool {
        self.skip_blanks();
        if self.peek() != Some(close) {
            self.at += 1;
            self.skip_blanks();
        }
        match self.peek() {
            Some(byte) if byte != close => true,
            _ => {
                self.at += 1;
                false
            }
        }
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    fn literal(&mut self) -> Inner {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| c.is_ascii_whitespace() || ",]}".contains(c));
        self.at += end.unwrap_or(rest.len());
        Inner::Scalar
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}|[\"\\\\\n/~,{}\\[\\]:]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a\"\\\\/~,}]{0,3}", inner, 0..4)
                    .prop_map(|map| json!(map)),
            ]
        })
    }

    /// Lists every value with the pointer to it.
    fn all(value: &Value, pointer: String, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) => fields
                .iter()
                .for_each(|(key, value)| all(value, below(&pointer, key), found)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, value)| all(value, below(&pointer, &index.to_string()), found)),
            _ => {}
        }
        found.push((pointer, value.clone()));
    }

    proptest! {
        #[test]
        fn each_value_is_found_at_its_position(value in any_value(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value)
            } else {
                serde_json::to_string(&value)
            }.expect("JSON");
            let positions = JsonPositions::scan(&text).expect("no duplicate key");
            let mut values = Vec::new();
            all(&value, String::new(), &mut values);

            for (pointer, value) in values {
                let at = positions.value(&pointer);
                let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
                prop_assert_eq!(read.next().expect("one").expect("JSON"), value);
            }
        }
    }

    #[test]
    fn a_duplicate_key_is_reported_with_its_second_position() {
        let twice = JsonPositions::scan("{\"a\": {\n  \"b\": 1,\n  \"b\": 2}}");

        let expected = DuplicateKey {
            pointer: "/a/b".to_owned(),
            key: "b".to_owned(),
            position: (3, 3),
        };
        assert_eq!(twice.expect_err("a duplicate"), expected);
    }

    #[test]
    fn a_missing_value_has_the_position_of_the_value_around_it() {
        let text = "{\n  \"a/b\": {\"~\": [1]}\n}";
        let positions = JsonPositions::scan(text).expect("valid");

        assert_eq!(position(text, positions.value("/a~1b/c/d")), (2, 10));
        assert_eq!(position(text, positions.value("/a~1b/~0/0")), (2, 17));
        assert_eq!(position(text, positions.key("/a~1b")), (2, 3));
        assert_eq!(positions.line("/a~1b/~0/7"), 2);
        assert_eq!(positions.only_field("", "~").as_deref(), Some("/a~1b/~0"));
    }
}
