//! Parses brace expansions.
//!
//! Bash expands braces before everything else and as plain text: an expansion can combine with its
//! neighbours into another expansion. The parser accepts balanced braces and rejects text whose
//! meaning could change.

use super::brace_sequence::{Sequence, sequence};
use super::parts::Parts;
use super::{Parser, Result};
use crate::syntax::{Brace, Part, SmallVec};

/// A piece of a word, as far as braces are concerned.
enum Piece<'a> {
    /// `{`, with the index of the piece that closes it.
    Open(usize),
    Close,
    Comma,
    /// Plain text without braces and commas.
    Text(String),
    /// Anything else. It is taken when the word is reassembled.
    Part(Option<Part<'a>>),
}

/// The meaning of a pair of braces.
enum Group {
    /// Alternatives, with the commas that separate them.
    Alternatives(Vec<usize>),
    /// `{1..9}`
    Sequence(Brace<'static>),
    /// Plain characters.
    Text,
    /// Braces that Bash may interpret differently.
    Unclear,
}

/// A word that is split into pieces and reassembled.
struct Word<'a> {
    pieces: Vec<Piece<'a>>,
    has_comma: bool,
    expands: bool,
}

impl<'a> Parser<'a> {
    /// Finds the brace expansions in the parts of the word that started at `start`.
    pub(super) fn with_braces(
        &mut self,
        parts: SmallVec<Part<'a>>,
        start: usize,
    ) -> Result<SmallVec<Part<'a>>> {
        let separates = |text: &str| text.contains(',') || text.contains("..");
        let has_separator = parts.iter().any(|part| match part {
            Part::Literal(text) => separates(text),
            _ => false,
        });
        if !has_separator {
            return Ok(parts);
        }
        // Each piece of it may become a separate part.
        let pieces_at_most = u32::try_from(self.at - start).unwrap_or(u32::MAX);
        self.spend(pieces_at_most)?;
        let doubtful = parts.iter().any(|part| !self.is_balanced(part));
        let Some(pieces) = pieces(parts) else {
            return Err(self.unsupported("a brace without its pair", start));
        };
        let mut word = Word {
            has_comma: self.slice(start, self.at).contains(','),
            pieces,
            expands: false,
        };
        let tildes = word.has_moving_tilde();
        let dollars = word.has_lone_dollar();
        let end = word.pieces.len();
        let Some(parts) = self.nested(|parser| parser.brace_range(&mut word, 0, end))? else {
            return Err(self.unsupported("a brace expansion of this kind", start));
        };
        if !word.expands {
            return Ok(parts.finish());
        }
        if doubtful || tildes || dollars {
            return Err(self.unsupported("an expansion of this kind next to braces", start));
        }
        Ok(without_inner_tildes(parts.finish()))
    }

    /// Reads the pieces from `start` to `end`; `None` if Bash's interpretation is unclear.
    fn brace_range(
        &mut self,
        word: &mut Word<'a>,
        start: usize,
        end: usize,
    ) -> Result<Option<Parts<'a>>> {
        let mut parts = Parts::default();
        let mut at = start;
        while at < end {
            match &mut word.pieces[at] {
                Piece::Text(text) => parts.push(Part::Literal(std::mem::take(text).into())),
                Piece::Part(part) if start == 0 => parts.extend(part.take()),
                Piece::Part(part) => parts.extend(part.take().map(tilde_as_text)),
                Piece::Comma => parts.literal(","),
                Piece::Close => parts.literal("}"),
                Piece::Open(close) => {
                    let close = *close;
                    match word.group(at, close) {
                        Group::Text => parts.literal("{"),
                        Group::Unclear => return Ok(None),
                        Group::Sequence(brace) => {
                            word.expands = true;
                            parts.push(Part::Brace(Box::new(brace)));
                            at = close;
                        }
                        Group::Alternatives(commas) => {
                            word.expands = true;
                            let mut from = at + 1;
                            let mut alternatives = Vec::with_capacity(commas.len() + 1);
                            for to in commas.into_iter().chain([close]) {
                                let alternative =
                                    self.nested(|parser| parser.brace_range(word, from, to))?;
                                let Some(alternative) = alternative else {
                                    return Ok(None);
                                };
                                alternatives.push(alternative.finish().into_iter().collect());
                                from = to + 1;
                            }
                            parts.push(Part::Brace(Box::new(Brace::Alternatives(alternatives))));
                            at = close;
                        }
                    }
                }
            }
            at += 1;
        }
        Ok(Some(parts))
    }

    /// Returns whether Bash recognises the end of `part` when it only looks for braces.
    fn is_balanced(&self, part: &Part<'_>) -> bool {
        match part {
            Part::Parameter(parameter) => {
                let raw = self.slice(parameter.span.start(), parameter.span.end());
                let inner = raw.strip_prefix("${").unwrap_or(raw);
                let inner = inner.strip_suffix('}').unwrap_or(inner);
                !inner.contains(['{', '}', '\'', '"', '\\', '`'])
            }
            Part::DoubleQuoted(parts) => parts.iter().all(|part| match part {
                Part::CommandSubstitution(inner) => self.byte(inner.span.start()) != b'`',
                part => self.is_balanced(part),
            }),
            _ => true,
        }
    }
}

impl Word<'_> {
    /// Determines the meaning of the braces at `open` and `close`, by their direct contents only.
    fn group(&self, open: usize, close: usize) -> Group {
        let mut commas = Vec::new();
        let (mut has_range, mut has_group, mut count) = (false, false, 0);
        let mut at = open + 1;
        while at < close {
            match &self.pieces[at] {
                Piece::Open(inner) => {
                    at = *inner;
                    has_group = true;
                }
                Piece::Comma => commas.push(at),
                Piece::Text(text) => has_range |= text.contains(".."),
                Piece::Part(_) | Piece::Close => {}
            }
            count += 1;
            at += 1;
        }
        if !commas.is_empty() {
            return Group::Alternatives(commas);
        }
        match self.pieces.get(open + 1) {
            _ if !has_range => Group::Text,
            Some(Piece::Text(text)) if count == 1 => match sequence(text) {
                Sequence::Brace(brace) => Group::Sequence(brace),
                Sequence::Text => Group::Text,
                Sequence::Unclear => Group::Unclear,
            },
            // Bash drops the braces if there is a comma anywhere in them.
            _ if has_group || self.has_comma => Group::Unclear,
            _ => Group::Text,
        }
    }

    /// Returns whether there is a `~` that braces could move to the start of a word.
    fn has_moving_tilde(&self) -> bool {
        let mut behind_text = false;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) if text.starts_with('~') && !behind_text => return true,
                Piece::Text(_) | Piece::Part(_) => behind_text = true,
                Piece::Open(_) | Piece::Close | Piece::Comma => behind_text = false,
            }
        }
        false
    }

    /// Returns whether there is a `$` that starts no expansion: it could when braces are expanded.
    fn has_lone_dollar(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text) if text.contains('$')))
    }
}

/// Converts the tildes after `=` and `:` of a word that looks like an assignment into text: after
/// brace expansion the word is not an assignment.
fn without_inner_tildes(parts: SmallVec<Part<'_>>) -> SmallVec<Part<'_>> {
    let mut parts = parts.into_iter();
    let first = parts.next();
    let parts: Parts<'_> = first.into_iter().chain(parts.map(tilde_as_text)).collect();
    parts.finish()
}

fn tilde_as_text(part: Part<'_>) -> Part<'_> {
    match part {
        Part::Tilde(name) => Part::Literal(format!("~{name}").into()),
        part => part,
    }
}

/// Splits a word into pieces; `None` if its braces are not balanced.
fn pieces(parts: SmallVec<Part<'_>>) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut open = Vec::new();
    for part in parts {
        let Part::Literal(text) = part else {
            pieces.push(Piece::Part(Some(part)));
            continue;
        };
        for text in text.split_inclusive(['{', '}', ',']) {
            let plain = text.trim_end_matches(['{', '}', ',']);
            if !plain.is_empty() {
                pieces.push(Piece::Text(plain.to_owned()));
            }
            match text.get(plain.len()..) {
                Some("{") => {
                    open.push(pieces.len());
                    pieces.push(Piece::Open(0));
                }
                Some("}") => {
                    let opened = open.pop()?;
                    pieces[opened] = Piece::Open(pieces.len());
                    pieces.push(Piece::Close);
                }
                Some(",") => pieces.push(Piece::Comma),
                _ => {}
            }
        }
    }
    open.is_empty().then_some(pieces)
}
