//! [`Grep`]: tool that searches file contents, and the [`Selection`] of files that it includes.

mod hits;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::ToolDescription;
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::hits::Hits;
use super::failure::{blocking, cancelled, invalid};
use super::search::{BudgetedReader, FoundFile, SearchBudget, Walk};
use super::workspace::{Located, Purpose, open_regular};
use super::{ToolLimits, ToolWorkspace};

/// Maximum length of a line, or of the text in a multi-line search, in bytes.
const HEAP: usize = 16 * 1024 * 1024;

/// Searches the files of the workspace, like ripgrep.
#[derive(Clone, Debug)]
pub struct Grep {
    workspace: Arc<ToolWorkspace>,
    limits: ToolLimits,
}

/// Input of [`Grep`].
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepInput {
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

/// Kind of output of [`Grep`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// The lines that match.
    Content,
    /// The files that have one.
    #[default]
    FilesWithMatches,
    /// Number of matching lines in each file.
    Count,
}

impl Grep {
    /// Name of the tool.
    pub const NAME: &'static str = "Grep";

    /// Creates the tool.
    pub fn new(workspace: Arc<ToolWorkspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

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

#[async_trait]
impl TypedTool for Grep {
    type Input = GrepInput;

    fn describe(&self) -> ToolDescription {
        let description = format!(
            "Searches the files of the workspace with a regular expression, as ripgrep does. \
             Lists matching files; with output_mode `content` the matching lines, with `count` \
             their number. Returns up to {} lines unless head_limit says otherwise. Binary \
             files and files that git ignores are left out.",
            self.limits.results
        );
        ToolDescription::new(Self::NAME, description).read_only()
    }

    async fn run(&self, input: GrepInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(context, move |stop| tool.grep(&input, stop)).await
    }
}

/// Files that a search includes, by their paths relative to the root of the workspace.
#[derive(Debug)]
struct Selection {
    base: PathBuf,
    names: Option<(GlobMatcher, NamesOnly)>,
    types: Option<Types>,
}

/// Whether a pattern applies to file names instead of paths.
type NamesOnly = bool;

impl Selection {
    fn new(input: &GrepInput, base: &Path) -> Result<Self, ToolError> {
        Ok(Self {
            base: base.to_owned(),
            names: input.glob.as_deref().map(names).transpose()?,
            types: input.file_type.as_deref().map(types).transpose()?,
        })
    }

    fn has(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        let name = path.file_name().map_or(path, Path::new);
        let named = self.names.as_ref().is_none_or(|(names, names_only)| {
            names.is_match(if *names_only { name } else { below })
        });
        let typed = |types: &Types| types.matched(path, false).is_whitelist();
        named && self.types.as_ref().is_none_or(typed)
    }
}

fn names(glob: &str) -> Result<(GlobMatcher, NamesOnly), ToolError> {
    let text = glob.trim();
    let text = text.strip_prefix("./").unwrap_or(text);
    let built = GlobBuilder::new(text).literal_separator(true).build();
    let glob =
        built.map_err(|error| invalid(format!("{text:?} is not a pattern: {}", error.kind())))?;
    Ok((glob.compile_matcher(), !text.contains('/')))
}

fn types(name: &str) -> Result<Types, ToolError> {
    let built = TypesBuilder::new().add_defaults().select(name).build();
    built.map_err(|_| invalid(format!("there is no file type {name:?}; use glob instead")))
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
