//! The tool Grep: searches file contents.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::tool::ToolDescription;
use autonoe_core::{Tool, ToolError, ToolOutput};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};
use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::file_tool::{FileTools, cancelled, invalid};
use super::glob::NamePattern;
use super::search::{BudgetedReader, FoundFile, SearchBudget, Walk};
use super::workspace::{Located, Purpose, open_regular};
use crate::tools::ToolLimits;
use crate::tools::head_and_tail::without_cut_end;

/// Maximum length of a line, or of the text in a multi-line search, in bytes.
const HEAP: usize = 16 * 1024 * 1024;

/// Creates the tool Grep: searches the files of the workspace, like ripgrep.
pub(super) fn tool(files: &Arc<FileTools>) -> Arc<dyn Tool> {
    let description = format!(
        "Searches the files of the workspace with a regular expression, as ripgrep does. \
         Lists matching files; with output_mode `content` the matching lines, with `count` \
         their number. Returns up to {} lines unless head_limit says otherwise. Binary \
         files and files that git ignores are left out.",
        files.limits.results
    );
    let description = ToolDescription::new("Grep", description).read_only();
    files.tool(description, FileTools::grep)
}

/// Input of Grep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepInput {
    /// The regular expression, in Rust's syntax: `fn \w+\(`. No look-around, no back-references.
    pub pattern: String,
    /// The file or directory to search, absolute or from the root of the workspace. Leave it
    /// out to search all of it.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files whose names match this pattern, for example `*.js` or `src/**/*.rs`.
    #[serde(default)]
    pub glob: Option<String>,
    /// Only files of this type, for example `rust`, `js`, `py`.
    #[serde(default, rename = "type")]
    pub file_type: Option<String>,
    /// Kind of output.
    #[serde(default)]
    pub output_mode: OutputMode,
    /// Number of lines to show before each match, in mode `content`.
    #[serde(default, rename = "-B")]
    pub before: Option<u32>,
    /// Number of lines to show after each match, in mode `content`.
    #[serde(default, rename = "-A")]
    pub after: Option<u32>,
    /// Number of lines to show before and after each match, in mode `content`.
    #[serde(default, rename = "-C")]
    pub context: Option<u32>,
    /// Whether lines have their numbers, in mode `content`. They do unless this is false.
    #[serde(default, rename = "-n")]
    pub line_numbers: Option<bool>,
    /// Whether upper and lower case are the same.
    #[serde(default, rename = "-i")]
    pub ignore_case: bool,
    /// Whether a match can go over several lines, and a dot stands for a line end too.
    #[serde(default)]
    pub multiline: bool,
    /// Maximum number of lines or files to return.
    #[serde(default)]
    pub head_limit: Option<u64>,
}

/// Kind of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputMode {
    /// The lines that match.
    Content,
    /// The files that have one.
    #[default]
    FilesWithMatches,
    /// Number of matching lines in each file.
    Count,
}

impl FileTools {
    fn grep(&self, input: &GrepInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let matcher = matcher(input)?;
        let mut searcher = searcher(input);
        let mut hits = Hits::new(input, &self.limits);
        let mut budget = SearchBudget::new(&self.limits, stop);
        let base = input.path.as_deref().unwrap_or(".");
        let start = self.workspace.locate(base, Purpose::Read)?;
        let selection = Selection::new(input, start.path())?;

        let mut search = |file: File, path: &Path, budget: &mut SearchBudget| {
            hits.start_file(path);
            let file = BudgetedReader { file, budget };
            let searched = searcher.search_reader(&matcher, file, &mut hits);
            hits.finish_file(searched.is_ok())
        };
        match &start {
            // A file that is named explicitly is searched even if git ignores it.
            Located::Entry(entry) if !is_directory(entry)? => {
                let (file, _) = entry.open()?;
                let _ = search(file, &entry.path, &mut budget);
            }
            _ => Walk::new(
                &self.workspace,
                &mut budget,
                |found: &FoundFile<'_>, budget: &mut SearchBudget| {
                    if !selection.has(found.path) {
                        return ControlFlow::Continue(());
                    }
                    match open_regular(found.directory, found.name, found.path) {
                        Ok((file, _)) => search(file, found.path, budget),
                        Err(_) => ControlFlow::Continue(()),
                    }
                },
            )
            .run(&start)?,
        }
        if budget.is_cancelled() {
            return Err(cancelled());
        }
        Ok(hits.output(budget.incomplete_reason()))
    }
}

fn is_directory(entry: &super::workspace::Entry) -> Result<bool, ToolError> {
    use rustix::fs::FileType;
    let stat = entry.stat()?;
    Ok(stat.is_some_and(|stat| super::workspace::kind_of(&stat) == FileType::Directory))
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(input.ignore_case)
        .multi_line(true)
        .size_limit(HEAP)
        .dfa_size_limit(HEAP);
    if input.multiline {
        builder.dot_matches_new_line(true);
    } else {
        // Lines may also end with CR LF.
        builder.crlf(true);
    }
    let built = builder.build(&input.pattern);
    built.map_err(|error| invalid(format!("the pattern cannot be used: {error}")))
}

fn searcher(input: &GrepInput) -> Searcher {
    let lines = |own: Option<u32>| match input.output_mode {
        OutputMode::Content => own.or(input.context).unwrap_or(0) as usize,
        OutputMode::FilesWithMatches | OutputMode::Count => 0,
    };
    let mut builder = SearcherBuilder::new();
    if !input.multiline {
        builder.line_terminator(LineTerminator::crlf());
    }
    builder
        .line_number(true)
        .multi_line(input.multiline)
        .before_context(lines(input.before))
        .after_context(lines(input.after))
        .binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(HEAP))
        .build()
}

/// Files that a search includes, by their paths relative to the root of the workspace.
#[derive(Debug)]
struct Selection {
    names: Option<NamePattern>,
    types: Option<Types>,
}

impl Selection {
    fn new(input: &GrepInput, base: &Path) -> Result<Self, ToolError> {
        let names = input.glob.as_deref();
        Ok(Self {
            names: names.map(|glob| NamePattern::new(glob, base)).transpose()?,
            types: input.file_type.as_deref().map(types).transpose()?,
        })
    }

    fn has(&self, path: &Path) -> bool {
        let typed = |types: &Types| types.matched(path, false).is_whitelist();
        self.names.as_ref().is_none_or(|names| names.matches(path))
            && self.types.as_ref().is_none_or(typed)
    }
}

fn types(name: &str) -> Result<Types, ToolError> {
    let built = TypesBuilder::new().add_defaults().select(name).build();
    built.map_err(|_| invalid(format!("there is no file type {name:?}; use glob instead")))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn has(glob: Option<&str>, file_type: Option<&str>, base: &str, path: &str) -> bool {
        let input = GrepInput {
            glob: glob.map(str::to_owned),
            file_type: file_type.map(str::to_owned),
            ..GrepInput::default()
        };
        let selection = Selection::new(&input, Path::new(base)).expect("it makes sense");
        selection.has(Path::new(path))
    }

    #[test]
    fn files_are_selected_by_name_and_type() {
        assert!(has(None, None, "", "any"));
        assert!(has(Some("*.rs"), None, "", "src/a.rs"));
        assert!(has(Some("src/*.rs"), None, "", "src/a.rs"));
        assert!(has(Some("a/*.rs"), None, "src", "src/a/b.rs"));
        assert!(!has(Some("*.rs"), None, "", "src/a.ts"));
        assert!(has(None, Some("rust"), "", "src/a.rs"));
        assert!(!has(None, Some("rust"), "", "src/a.ts"));
        assert!(!has(Some("b*"), Some("rust"), "", "src/a.rs"));
    }

    #[test]
    fn invalid_type_or_glob_is_refused() {
        for input in [
            GrepInput {
                file_type: Some("nonsense".into()),
                ..GrepInput::default()
            },
            GrepInput {
                glob: Some("{a".into()),
                ..GrepInput::default()
            },
        ] {
            Selection::new(&input, Path::new("")).expect_err("refused");
        }
    }
}
