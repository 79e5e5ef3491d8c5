//! A JSON text as a tree whose nodes know where they stand.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

/// A value in a JSON text.
#[derive(Debug)]
pub(super) struct Node {
    /// Where its key starts, if it is a field.
    pub(super) key_at: Option<usize>,
    /// Where it stands, in bytes.
    pub(super) span: Range<usize>,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Object(BTreeMap<String, Node>),
    List(Vec<Node>),
    Scalar(Value),
}

impl Node {
    /// Returns what kind of value this is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Object(_) => "an object",
            Content::List(_) => "a list",
            Content::Scalar(Value::Null) => "null",
            Content::Scalar(Value::Bool(_)) => "a boolean",
            Content::Scalar(Value::Number(_)) => "a number",
            Content::Scalar(_) => "a string",
        }
    }

    /// Returns the node at `pointer`, a JSON pointer.
    pub(super) fn find(&self, pointer: &str) -> Option<&Node> {
        let mut tokens = pointer.split('/').skip(1);
        tokens.try_fold(self, |node, token| match &node.content {
            Content::Object(fields) => fields.get(&token.replace("~1", "/").replace("~0", "~")),
            Content::List(items) => items.get(token.parse::<usize>().ok()?),
            Content::Scalar(_) => None,
        })
    }
}

/// Returns the pointer to the field or item `name` of the value at `pointer`.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A key that stands twice in an object.
#[derive(Debug)]
pub(super) struct DuplicateKey {
    pub(super) pointer: String,
    pub(super) key: String,
    pub(super) at: usize,
}

impl DuplicateKey {
    /// Makes the pointer start at the value that holds `name`.
    fn within(mut self, name: &str) -> Self {
        self.pointer.insert_str(0, &below("", name));
        self
    }
}

/// Makes the tree of `text`, which must be valid JSON.
///
/// That `text` was parsed before keeps this free of error handling, and bounds
/// the depth.
pub(super) fn tree(text: &str) -> Result<Node, DuplicateKey> {
    Scanner { text, at: 0 }.value(None)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self, key_at: Option<usize>) -> Result<Node, DuplicateKey> {
        self.skip_blanks();
        let start = self.at;
        let content = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.list()?,
            Some(b'"') => Content::Scalar(Value::String(self.string())),
            _ => self.literal(),
        };
        Ok(Node {
            key_at,
            span: start..self.at,
            content,
        })
    }

    fn object(&mut self) -> Result<Content, DuplicateKey> {
        let mut fields = BTreeMap::new();
        while self.enters(b'}') {
            let at = self.at;
            let key = self.string();
            self.skip_blanks();
            self.at += 1; // the colon
            if fields.contains_key(&key) {
                let pointer = below("", &key);
                return Err(DuplicateKey { pointer, key, at });
            }
            let node = self.value(Some(at)).map_err(|twice| twice.within(&key))?;
            fields.insert(key, node);
        }
        Ok(Content::Object(fields))
    }

    fn list(&mut self) -> Result<Content, DuplicateKey> {
        let mut items = Vec::new();
        while self.enters(b']') {
            let index = items.len().to_string();
            items.push(self.value(None).map_err(|twice| twice.within(&index))?);
        }
        Ok(Content::List(items))
    }

    /// Steps over the opening bracket or a comma to the next item, or over the closing bracket.
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

    fn literal(&mut self) -> Content {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| c.is_ascii_whitespace() || ",]}".contains(c))
            .unwrap_or(rest.len());
        self.at += end;
        Content::Scalar(serde_json::from_str(&rest[..end]).unwrap_or_default())
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
    use serde_json::json;

    use super::*;

    /// Rebuilds the value from the tree.
    fn value_of(node: &Node) -> Value {
        match &node.content {
            Content::Object(fields) => fields
                .iter()
                .map(|(key, node)| (key.clone(), value_of(node)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Content::List(items) => items.iter().map(value_of).collect::<Vec<_>>().into(),
            Content::Scalar(value) => value.clone(),
        }
    }

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

    proptest! {
        #[test]
        fn the_tree_says_what_the_text_says(value in any_value(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value)
            } else {
                serde_json::to_string(&value)
            }.expect("JSON");

            let node = tree(&text).expect("no key stands twice");

            prop_assert_eq!(value_of(&node), value);
            prop_assert_eq!(node.span, 0..text.len());
        }
    }

    #[test]
    fn a_pointer_leads_to_its_value() {
        let text = r#"{"a/b": [1, {"~": "x"}]}"#;

        let root = tree(text).expect("valid");
        let node = root.find("/a~1b/1/~0").expect("it is there");

        assert_eq!(&text[node.span.clone()], r#""x""#);
        assert!(root.find("/a~1b/7").is_none());
    }
}
