//! Collects the parts of words.

use crate::syntax::{Part, SmallVec, Text};

/// The parts of a word, with adjacent parts of the same kind merged.
#[derive(Default)]
pub(super) struct Parts<'a> {
    parts: SmallVec<Part<'a>>,
}

impl<'a> Parts<'a> {
    /// Adds unquoted text.
    pub(super) fn literal(&mut self, text: &'a str) {
        if text.is_empty() {
            return;
        }
        if let Some(Part::Literal(last)) = self.parts.last_mut() {
            last.to_mut().push_str(text);
        } else {
            self.parts.push(Part::Literal(text.into()));
        }
    }

    /// Adds a part.
    pub(super) fn push(&mut self, part: Part<'a>) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Quoted(last)), Part::Quoted(text)) => append(last, text),
            (Some(Part::Literal(last)), Part::Literal(text)) => append(last, text),
            (_, part) => self.parts.push(part),
        }
    }

    /// Returns the last part.
    pub(super) fn last(&self) -> Option<&Part<'a>> {
        self.parts.last()
    }

    pub(super) fn finish(self) -> SmallVec<Part<'a>> {
        self.parts
    }
}

impl<'a> Extend<Part<'a>> for Parts<'a> {
    fn extend<I: IntoIterator<Item = Part<'a>>>(&mut self, parts: I) {
        for part in parts {
            self.push(part);
        }
    }
}

impl<'a> FromIterator<Part<'a>> for Parts<'a> {
    fn from_iter<I: IntoIterator<Item = Part<'a>>>(parts: I) -> Self {
        let mut collected = Self::default();
        collected.extend(parts);
        collected
    }
}

/// The parts of a text in double quotes: quoted text and expansions.
pub(super) struct QuotedParts<'a> {
    parts: Vec<Part<'a>>,
    text: Text<'a>,
    start: usize,
}

impl<'a> QuotedParts<'a> {
    /// Starts at `start`.
    pub(super) fn new(start: usize) -> Self {
        Self {
            parts: Vec::new(),
            text: Text::default(),
            start,
        }
    }

    /// Returns the start of the text that was not added yet.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Adds the text so far, and continues at `next`: the text in between is dropped.
    pub(super) fn skip(&mut self, text: &'a str, next: usize) {
        append(&mut self.text, Text::Borrowed(text));
        self.start = next;
    }

    /// Adds the text so far and a part that ends at `next`.
    pub(super) fn push(&mut self, text: &'a str, part: Part<'a>, next: usize) {
        self.skip(text, next);
        self.flush();
        self.parts.push(part);
    }

    /// Adds the rest, and returns all parts.
    pub(super) fn finish(mut self, text: &'a str) -> Vec<Part<'a>> {
        append(&mut self.text, Text::Borrowed(text));
        self.flush();
        self.parts
    }

    /// Adds the rest, and returns all parts as one part.
    pub(super) fn finish_as_part(mut self, text: &'a str) -> Part<'a> {
        append(&mut self.text, Text::Borrowed(text));
        if self.parts.is_empty() {
            return Part::Quoted(self.text);
        }
        self.flush();
        Part::DoubleQuoted(self.parts)
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts
                .push(Part::Quoted(std::mem::take(&mut self.text)));
        }
    }
}

fn append<'a>(text: &mut Text<'a>, more: Text<'a>) {
    if text.is_empty() {
        *text = more;
    } else if !more.is_empty() {
        text.to_mut().push_str(&more);
    }
}
