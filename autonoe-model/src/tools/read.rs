//! The tool Read: reads a numbered range of lines, and attaches images.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::sync::Arc;

use autonoe_core::tool::{Attachment, ToolDescription, ToolErrorCode};
use autonoe_core::{Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::config::ToolLimits;
use super::file_tool::{FileTools, cancelled, invalid, system};
use super::search::{BudgetedReader, SearchBudget};
use super::workspace::Purpose;
use crate::tools::head_and_tail::without_cut_end;

/// Creates the tool Read: reads a file of the workspace, with line numbers. Images become attachments.
pub(super) fn tool(files: &Arc<FileTools>) -> Arc<dyn Tool> {
    let description = format!(
        "Reads a file of the workspace. Each line has its number and a tab before it. Reads \
         up to {} lines; use offset and limit for others. Lines of more than {} bytes are \
         cut. Images (PNG, JPEG, GIF, WebP) are attached. Use Glob to list directories.",
        files.limits.read_lines, files.limits.line_bytes
    );
    let description = ToolDescription::new("Read", description).read_only();
    files.tool(description, FileTools::read)
}

/// Input of Read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// The line to begin with, from 1. Leave it out to read from the beginning.
    #[serde(default)]
    pub offset: Option<u64>,
    /// Number of lines to read. Leave it out for as many as fit.
    #[serde(default)]
    pub limit: Option<u64>,
}

impl FileTools {
    fn read(&self, input: &ReadInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let entry = self.workspace.entry(&input.file_path, Purpose::Read)?;
        let (mut file, stat) = entry.open()?;
        let path = entry.path.display().to_string();
        let failed = |error| system(format!("{path:?}"), error);
        let content = Content::sniff(&mut file).map_err(failed)?;
        file.rewind().map_err(failed)?;
        match content {
            Content::Text => {
                let range = LineRange {
                    from: input.offset.unwrap_or(1).max(1),
                    lines: input.limit.unwrap_or(self.limits.read_lines),
                    bytes: self.limits.read_bytes,
                    line_bytes: self.limits.line_bytes,
                };
                let mut budget = SearchBudget::new(&self.limits, stop);
                let paced = BudgetedReader {
                    file,
                    budget: &mut budget,
                };
                let excerpt = Excerpt::read(BufReader::new(paced), &range);
                let excerpt = excerpt.map_err(|error| match budget.incomplete_reason() {
                    _ if stop.is_cancelled() => cancelled(),
                    Some(_) => too_long(&path, &self.limits),
                    None => failed(error),
                })?;
                text_output(&path, &excerpt, &range)
            }
            Content::Image(media_type) => {
                image_output(&path, file, media_type, self.limits.image_bytes)
            }
            Content::Binary => Err(invalid(format!(
                "{path:?} is a binary file of {} bytes",
                stat.st_size
            ))),
        }
    }
}

fn text_output(path: &str, excerpt: &Excerpt, range: &LineRange) -> Result<ToolOutput, ToolError> {
    if excerpt.lines == 0 && range.from > 1 {
        let there = excerpt.lines_read;
        return Err(invalid(format!("{path:?} has only {there} lines")));
    }
    Ok(ToolOutput::new(excerpt.render(range))
        .with_title(format!("Read {path}"))
        .with_metadata("path", path)
        .with_metadata("lines", excerpt.lines)
        .with_metadata("truncated", excerpt.more))
}

fn image_output(
    path: &str,
    file: File,
    media_type: &str,
    limit: u64,
) -> Result<ToolOutput, ToolError> {
    let mut data = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut data);
    read.map_err(|error| system(format!("{path:?}"), error))?;
    if data.len() as u64 > limit {
        return Err(invalid(format!(
            "{path:?} is an image of more than {limit} bytes"
        )));
    }
    let size = data.len();
    Ok(
        ToolOutput::new(format!("{path} is attached ({media_type}, {size} bytes)"))
            .with_title(format!("Read {path}"))
            .with_metadata("path", path)
            .with_attachment(Attachment {
                media_type: media_type.to_owned(),
                name: Some(path.to_owned()),
                data: data.into(),
            }),
    )
}

fn too_long(path: &str, limits: &ToolLimits) -> ToolError {
    let limit = limits.search_time.as_millis();
    let message = format!(
        "reading {path:?} up to these lines took more than {limit} milliseconds; start at an \
         earlier line, or use Bash"
    );
    ToolError::new(ToolErrorCode::TIMEOUT, message)
}

/// Requested range of lines and its limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    /// First line, from 1.
    pub(super) from: u64,
    pub(super) lines: u64,
    /// Maximum length of the excerpt in bytes.
    pub(super) bytes: usize,
    /// Maximum length of each line in bytes.
    pub(super) line_bytes: usize,
}

/// Lines of a text with their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Number of lines in the excerpt.
    pub(super) lines: u64,
    /// Number of lines read, including those before the excerpt.
    pub(super) lines_read: u64,
    /// Whether more lines follow.
    pub(super) more: bool,
}

impl Excerpt {
    /// Reads as far as needed. Memory use is bounded by the size of the excerpt.
    pub(super) fn read(mut text: impl BufRead, range: &LineRange) -> io::Result<Self> {
        let mut excerpt = Self::default();
        let mut line = Line::default();
        loop {
            let piece = match text.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                if line.length > 0 {
                    excerpt.add(&line, range);
                }
                return Ok(excerpt);
            }
            if excerpt.is_full(range) {
                excerpt.more = true;
                return Ok(excerpt);
            }
            let end = memchr::memchr(b'\n', piece);
            line.push(&piece[..end.unwrap_or(piece.len())], range.line_bytes);
            let used = end.map_or(piece.len(), |end| end + 1);
            if end.is_some() {
                excerpt.add(&line, range);
                line = Line::default();
            }
            text.consume(used);
        }
    }

    fn is_full(&self, range: &LineRange) -> bool {
        self.lines >= range.lines || self.text.len() >= range.bytes
    }

    fn add(&mut self, line: &Line, range: &LineRange) {
        self.lines_read += 1;
        if self.lines_read < range.from || self.is_full(range) {
            return;
        }
        self.lines += 1;
        let cut = line.length - line.start.len();
        let start = match cut {
            0 => line.start.strip_suffix(b"\r").unwrap_or(&line.start),
            _ => without_cut_end(&line.start),
        };
        let text = String::from_utf8_lossy(start);
        let number = self.lines_read;
        // Writing to a string does not fail.
        let _ = write!(self.text, "{number:>6}\t{text}");
        if cut > 0 {
            let _ = write!(self.text, " [... {cut} bytes left out]");
        }
        self.text.push('\n');
    }

    /// Returns the text for an agent, with a note if more lines follow.
    pub(super) fn render(&self, range: &LineRange) -> String {
        match (self.lines_read, self.more) {
            (0, _) => "[the file is empty]".to_owned(),
            (_, false) => self.text.clone(),
            (_, true) => {
                let next = range.from + self.lines;
                format!(
                    "{}[more lines follow; continue with offset {next}]\n",
                    self.text
                )
            }
        }
    }
}

#[derive(Debug, Default)]
struct Line {
    start: Vec<u8>,
    length: usize,
}

impl Line {
    fn push(&mut self, piece: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.start.len());
        self.start
            .extend_from_slice(&piece[..room.min(piece.len())]);
        self.length += piece.len();
    }
}

/// Number of inspected bytes.
const SNIFF_BYTES: u64 = 8 * 1024;

/// Kind of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    /// An image format that models support, with its media type.
    Image(&'static str),
    Binary,
}

impl Content {
    /// Detects the content from the beginning of `file`.
    pub(super) fn sniff(file: &mut impl Read) -> io::Result<Self> {
        let mut start = Vec::new();
        file.take(SNIFF_BYTES).read_to_end(&mut start)?;
        Ok(Self::detect(&start))
    }

    fn detect(start: &[u8]) -> Self {
        let webp = start.len() >= 12 && start.starts_with(b"RIFF") && &start[8..12] == b"WEBP";
        match start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Image("image/png"),
            [0xff, 0xd8, 0xff, ..] => Self::Image("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Self::Image("image/gif"),
            _ if webp => Self::Image("image/webp"),
            // Text has no zero byte; nearly every binary format has one early.
            _ if start.contains(&0) => Self::Binary,
            _ => Self::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], range: LineRange) -> Excerpt {
        // A small buffer, so that lines arrive in pieces.
        let reader = BufReader::with_capacity(3, text);
        Excerpt::read(reader, &range).expect("readable")
    }

    const ALL: LineRange = LineRange {
        from: 1,
        lines: 100,
        bytes: 10_000,
        line_bytes: 100,
    };

    #[test]
    fn lines_are_numbered_from_one() {
        let excerpt = read(b"one\n\nthree\r\nlast", ALL);

        assert_eq!(
            excerpt.text,
            "     1\tone\n     2\t\n     3\tthree\n     4\tlast\n"
        );
        assert_eq!((excerpt.lines, excerpt.more), (4, false));
    }

    #[test]
    fn partial_excerpt_reports_the_next_offset() {
        let range = LineRange {
            from: 2,
            lines: 2,
            ..ALL
        };
        let excerpt = read(b"1\n2\n3\n4\n", range);

        assert_eq!(
            excerpt.render(&range),
            "     2\t2\n     3\t3\n[more lines follow; continue with offset 4]\n"
        );
        assert!(!read(b"1\n2\n3\n", range).more);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let range = LineRange {
            line_bytes: 4,
            ..ALL
        };

        let excerpt = read("abcé and more\nok\n".as_bytes(), range);

        assert_eq!(
            excerpt.text,
            "     1\tabc [... 10 bytes left out]\n     2\tok\n"
        );
    }

    #[test]
    fn the_whole_is_cut_after_a_line() {
        let range = LineRange { bytes: 10, ..ALL };

        let excerpt = read(b"12345\n67\n89\n", range);

        assert_eq!((excerpt.lines, excerpt.more), (1, true));
    }

    #[test]
    fn empty_file_is_reported() {
        assert_eq!(read(b"", ALL).render(&ALL), "[the file is empty]");
    }

    proptest! {
        #[test]
        fn parts_make_up_the_whole(text in "[a-z\n]{0,60}", size in 1_u64..6) {
            let whole = read(text.as_bytes(), ALL);
            let mut parts = String::new();
            let mut from = 1;
            loop {
                let part = read(text.as_bytes(), LineRange { from, lines: size, ..ALL });
                parts.push_str(&part.text);
                from += part.lines;
                if !part.more {
                    break;
                }
            }
            prop_assert_eq!(parts, whole.text);
            prop_assert_eq!(whole.lines, text.lines().count() as u64);
        }
    }

    #[test]
    fn a_file_is_known_by_its_first_bytes() {
        for (start, content) in [
            (&b""[..], Content::Text),
            (b"fn main() {}\n", Content::Text),
            (b"caf\xe9\n", Content::Text),
            (b"\x7fELF\x02\x01\x01\0", Content::Binary),
            (b"\x89PNG\r\n\x1a\n\0\0", Content::Image("image/png")),
            (b"\xff\xd8\xff\xe0\0", Content::Image("image/jpeg")),
            (b"GIF89a\x01\0", Content::Image("image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Content::Image("image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", Content::Binary),
            (b"GIF is a format", Content::Text),
        ] {
            assert_eq!(Content::detect(start), content, "{start:?}");
        }
    }
}
