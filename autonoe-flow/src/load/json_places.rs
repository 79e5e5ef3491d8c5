//! Where the values of a JSON text stand.

use std::collections::HashMap;

use crate::definition::nested::below;

/// Where each value of a JSON text stands, by its pointer.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonPlaces {
    places: HashMap<String, Place>,
    /// Where each line starts.
    line_starts: Vec<usize>,
    text: String,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    key: Option<usize>,
    value: usize,
}

/// A key that stands twice in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DuplicateKey {
    pub(crate) pointer: String,
    pub(crate) key: String,
    pub(crate) position: (usize, usize),
}

impl JsonPlaces {
    /// Finds the values of `text`, which must be valid JSON.
    ///
    /// That `text` was parsed before keeps this free of error handling, and
    /// bounds the depth.
    pub(crate) fn of(text: &str) -> Result<Self, DuplicateKey> {
        let mut scanner = Scanner {
            text,
            at: 0,
            places: HashMap::new(),
            twice: None,
        };
        scanner.value(String::new(), None);
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let found = Self {
            places: scanner.places,
            line_starts: std::iter::once(0).chain(starts).collect(),
            text: text.to_owned(),
        };
        match scanner.twice {
            Some((pointer, key, at)) => Err(DuplicateKey {
                pointer,
                key,
                position: found.position(at),
            }),
            None => Ok(found),
        }
    }

    /// Returns line and column of the value at `pointer`, or of the nearest value around it.
    pub(crate) fn of_value(&self, pointer: &str) -> Option<(usize, usize)> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                return Some(self.position(place.value));
            }
            pointer = pointer.rsplit_once('/')?.0;
        }
    }

    /// Returns line and column of the key of the field at `pointer`, or of the value if it has none.
    pub(crate) fn of_key(&self, pointer: &str) -> Option<(usize, usize)> {
        let key = self.places.get(pointer).and_then(|place| place.key);
        key.map(|at| self.position(at))
            .or_else(|| self.of_value(pointer))
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts.get(line.saturating_sub(1));
        let before = start.and_then(|start| self.text.get(*start..at));
        (line, before.unwrap_or_default().chars().count() + 1)
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    places: HashMap<String, Place>,
    twice: Option<(String, String, usize)>,
}

impl Scanner<'_> {
    fn value(&mut self, pointer: String, key: Option<usize>) {
        self.skip_blanks();
        let value = self.at;
        match self.peek() {
            Some(b'{') => self.object(&pointer),
            Some(b'[') => self.list(&pointer),
            Some(b'"') => drop(self.string()),
            _ => self.literal(),
        }
        self.places.insert(pointer, Place { key, value });
    }

    fn object(&mut self, pointer: &str) {
        while self.enters(b'}') {
            let at = self.at;
            let key = self.string();
            self.skip_blanks();
            self.at += 1; // the colon
            let inner = below(pointer, &key);
            if self.places.contains_key(&inner) && self.twice.is_none() {
                self.twice = Some((inner.clone(), key, at));
            }
            self.value(inner, Some(at));
        }
    }

    fn list(&mut self, pointer: &str) {
        let mut index = 0;
        while self.enters(b']') {
            self.value(below(pointer, &format!("{index}")), None);
            index += 1;
        }
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
        let text = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }

    fn literal(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(|c: char| c.is_ascii_whitespace() || ",]}".contains(c));
        self.at += end.unwrap_or(rest.len());
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
            any::<i32>().prop_map(Value::from),
            "\\PC{0,6}|[\"\\\\\n/~,{}\\[\\]:]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
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
        fn each_value_stands_where_it_is_said_to_stand(value in any_value()) {
            let text = serde_json::to_string_pretty(&value).expect("JSON");
            let places = JsonPlaces::of(&text).expect("no key stands twice");
            let mut values = Vec::new();
            all(&value, String::new(), &mut values);

            for (pointer, value) in values {
                let at = places.places[&pointer].value;
                let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
                prop_assert_eq!(read.next().expect("one").expect("JSON"), value);
            }
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_told_with_its_second_place() {
        let twice = JsonPlaces::of("{\"a\": {\n  \"b\": 1,\n  \"b\": 2}}").expect_err("twice");

        assert_eq!(twice.pointer, "/a/b");
        assert_eq!(twice.position, (3, 3));
    }

    #[test]
    fn what_is_not_there_has_the_place_of_what_is_around_it() {
        let places = JsonPlaces::of("{\n  \"a\": {}\n}").expect("valid");

        assert_eq!(places.of_value("/a/b/c"), Some((2, 8)));
        assert_eq!(places.of_key("/a"), Some((2, 3)));
    }
}
