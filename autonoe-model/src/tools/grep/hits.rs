//! [`Hits`]: matches of a search, formatted for an agent.

use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use autonoe_core::ToolOutput;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::{GrepInput, OutputMode};
use crate::tools::ToolLimits;
use crate::tools::head_and_tail::without_cut_end;

/// Matches of a search so far.
#[derive(Debug)]
pub(super) struct Hits {
    mode: OutputMode,
    numbers: bool,
    most: u64,
    bytes: usize,
    line_bytes: usize,
    text: String,
    /// Number of lines or files in the text.
    listed: u64,
    files: u64,
    cut: bool,
    not_searched: u64,
    path: String,
    in_file: u64,
}

impl Hits {
    pub(super) fn new(input: &GrepInput, limits: &ToolLimits) -> Self {
        Self {
            mode: input.output_mode,
            numbers: input.line_numbers.unwrap_or(true),
            most: input.head_limit.unwrap_or(limits.results as u64),
            bytes: limits.output_bytes,
            line_bytes: limits.line_bytes,
            text: String::new(),
            listed: 0,
            files: 0,
            cut: false,
            not_searched: 0,
            path: String::new(),
            in_file: 0,
        }
    }

    /// Starts the file at `path`.
    pub(super) fn start_file(&mut self, path: &Path) {
        self.path = path.display().to_string();
        self.in_file = 0;
    }

    /// Finishes the file. Breaks if further files are not needed.
    pub(super) fn finish_file(&mut self, was_searched: bool) -> ControlFlow<()> {
        if !was_searched {
            self.not_searched += 1;
        }
        if self.in_file > 0 {
            self.files += 1;
            let path = std::mem::take(&mut self.path);
            match self.mode {
                OutputMode::Content => {}
                OutputMode::FilesWithMatches => self.add(&path),
                OutputMode::Count => self.add(&format!("{path}:{}", self.in_file)),
            }
        }
        if self.cut {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn add(&mut self, line: &str) {
        self.cut |= self.listed >= self.most || self.text.len() + line.len() > self.bytes;
        if !self.cut {
            self.listed += 1;
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Adds the lines of a match or of its context: `path:7:text`, `path-6-text`.
    fn add_lines(&mut self, number: Option<u64>, bytes: &[u8], sign: char) {
        let lines = bytes
            .strip_suffix(b"\n")
            .unwrap_or(bytes)
            .split(|byte| *byte == b'\n');
        for (number, line) in (number.unwrap_or(1)..).zip(lines) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let mut text = format!("{}{sign}", self.path);
            // Writing to a string does not fail.
            if self.numbers {
                let _ = write!(text, "{number}{sign}");
            }
            match line.get(..self.line_bytes) {
                Some(start) if start.len() < line.len() => {
                    let cut = line.len() - start.len();
                    text.push_str(&String::from_utf8_lossy(without_cut_end(start)));
                    let _ = write!(text, " [... {cut} bytes left out]");
                }
                _ => text.push_str(&String::from_utf8_lossy(line)),
            }
            self.add(&text);
        }
    }

    pub(super) fn output(self, stop_reason: Option<&str>) -> ToolOutput {
        let mut text = self.text;
        if self.files == 0 {
            text.push_str("[no matches]\n");
        }
        if self.cut {
            text.push_str("[more matches left out; narrow the search or set head_limit]\n");
        }
        if self.not_searched > 0 {
            let count = self.not_searched;
            let _ = writeln!(text, "[{count} files could not be searched to their end]");
        }
        if let Some(reason) = stop_reason {
            let _ = writeln!(text, "[not complete: {reason}]");
        }
        let files = self.files;
        let incomplete = self.cut || stop_reason.is_some() || self.not_searched > 0;
        ToolOutput::new(text)
            .with_title(format!("Found matches in {files} files"))
            .with_metadata("files", files)
            .with_metadata("truncated", incomplete)
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.in_file += 1;
        match self.mode {
            OutputMode::Content => {
                self.add_lines(found.line_number(), found.bytes(), ':');
                Ok(!self.cut)
            }
            // One match is enough.
            OutputMode::FilesWithMatches => Ok(false),
            OutputMode::Count => Ok(true),
        }
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        self.add_lines(found.line_number(), found.bytes(), '-');
        Ok(!self.cut)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.add("--");
        Ok(!self.cut)
    }
}
