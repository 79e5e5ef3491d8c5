//! The tool Glob, which finds files by name.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::tool::ToolDescription;
use autonoe_core::{Tool, ToolError, ToolOutput};
use globset::{GlobBuilder, GlobMatcher};
use rustix::fs::{AtFlags, Stat, statat};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::config::ToolLimits;
use super::file_tool::{FileTools, cancelled, denied, invalid};
use super::search::{FoundFile, SearchBudget, Walk};
use super::workspace::Purpose;

/// Creates the tool Glob: finds files of the workspace by name, newest first.
pub(super) fn tool(files: &Arc<FileTools>) -> Arc<dyn Tool> {
    let description = format!(
        "Finds files of the workspace by their names, for example with `**/*.rs`. Lists up \
         to {} paths from its root, the newest first. Files that git ignores are left out.",
        files.limits.results
    );
    let description = ToolDescription::new("Glob", description).read_only();
    files.tool(description, FileTools::glob)
}

/// Input of Glob.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobInput {
    /// The pattern, for example `**/*.rs` or `src/**/*.{ts,tsx}`. Without a slash it is about
    /// the names of files in any directory.
    pub pattern: String,
    /// The directory to search, absolute or from the root of the workspace. Leave it out to
    /// search all of it.
    #[serde(default)]
    pub path: Option<String>,
}

impl FileTools {
    fn glob(&self, input: &GlobInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let base = input.path.as_deref().unwrap_or(".");
        let start = self.workspace.locate(base, Purpose::Read)?;
        let pattern = NamePattern::inside(&input.pattern, self.workspace.root(), start.path())?;
        let mut budget = SearchBudget::new(&self.limits, stop);
        let mut found: Vec<(Changed, PathBuf)> = Vec::new();
        Walk::new(
            &self.workspace,
            &mut budget,
            |file: &FoundFile<'_>, _: &mut _| {
                if pattern.matches(file.path)
                    && let Ok(stat) = statat(file.directory, file.name, AtFlags::SYMLINK_NOFOLLOW)
                {
                    found.push((changed(&stat), file.path.to_owned()));
                }
                ControlFlow::Continue(())
            },
        )
        .run(&start)?;
        if budget.is_cancelled() {
            return Err(cancelled());
        }
        // Newest first, then by name.
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        Ok(glob_output(
            &found,
            &self.limits,
            budget.incomplete_reason(),
        ))
    }
}

fn glob_output(
    found: &[(Changed, PathBuf)],
    limits: &ToolLimits,
    stop_reason: Option<&str>,
) -> ToolOutput {
    let mut text = String::new();
    let mut listed = 0;
    for (_, path) in found.iter().take(limits.results) {
        let line = format!("{}\n", path.display());
        if text.len() + line.len() > limits.output_bytes {
            break;
        }
        text.push_str(&line);
        listed += 1;
    }
    let total = found.len();
    if total == 0 {
        text.push_str("[no files found]\n");
    }
    if listed < total {
        text.push_str(&format!(
            "[{listed} of {total} files, the newest; use a narrower pattern for others]\n"
        ));
    }
    if let Some(reason) = stop_reason {
        text.push_str(&format!("[not complete: {reason}]\n"));
    }
    ToolOutput::new(text)
        .with_title(format!("Found {total} files"))
        .with_metadata("count", total)
        .with_metadata("truncated", listed < total || stop_reason.is_some())
}

/// Time of the last modification, in nanoseconds.
type Changed = i128;

fn changed(stat: &Stat) -> Changed {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}

/// Pattern for paths below a directory. Without a slash, it only applies to file names.
#[derive(Debug)]
pub(super) struct NamePattern {
    matcher: GlobMatcher,
    /// Directory that the pattern is relative to.
    base: PathBuf,
    names_only: bool,
}

impl NamePattern {
    /// Parses a pattern that is relative to `base`.
    pub(super) fn new(text: &str, base: &Path) -> Result<Self, ToolError> {
        let text = text.trim();
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(|error| invalid(format!("{text:?} is not a pattern: {}", error.kind())))?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            base: base.to_owned(),
            names_only: !text.contains('/'),
        })
    }

    /// Parses a pattern that may be absolute, but must not leave the workspace `root`.
    fn inside(text: &str, root: &Path, base: &Path) -> Result<Self, ToolError> {
        // The gate trims the pattern, too.
        let text = text.trim();
        let (text, base) = match Path::new(text).strip_prefix(root) {
            Ok(rest) if text.starts_with('/') => (rest.to_str().unwrap_or_default(), Path::new("")),
            _ if text.starts_with('/') => {
                return Err(denied(format!("{text:?} is outside the workspace")));
            }
            _ => (text, base),
        };
        if Path::new(text).iter().any(|part| part == "..") {
            return Err(denied("a pattern must not contain \"..\""));
        }
        Self::new(text, base)
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        match (self.names_only, path.strip_prefix(&self.base)) {
            (true, Ok(_)) => path
                .file_name()
                .is_some_and(|name| self.matcher.is_match(name)),
            (false, Ok(below)) => self.matcher.is_match(below),
            (_, Err(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_about_names_or_about_paths() {
        for (pattern, base, path, expected) in [
            ("*.rs", "", "main.rs", true),
            ("*.rs", "", "src/deep/main.rs", true),
            ("*.rs", "src", "src/deep/main.rs", true),
            ("*.rs", "", "main.ts", false),
            ("src/*.rs", "", "src/main.rs", true),
            ("src/*.rs", "", "src/deep/main.rs", false),
            ("**/*.rs", "", "main.rs", true),
            ("**/*.rs", "src", "src/a/b.rs", true),
            ("./src/**", "", "src/a/b.rs", true),
            ("deep/*.{rs,ts}", "src", "src/deep/a.ts", true),
            (" /proj/src/*.rs ", "other", "src/main.rs", true),
            ("/proj/**/x", "", "a/x", true),
        ] {
            let pattern = NamePattern::inside(pattern, Path::new("/proj"), Path::new(base));
            let matches = pattern.expect("a pattern").matches(Path::new(path));
            assert_eq!(matches, expected, "{path}");
        }
    }

    #[test]
    fn patterns_out_of_the_workspace_and_invalid_ones_are_refused() {
        for pattern in ["../*", "a/../../*", "/etc/*", "/projects/*", "{a", "[z-a]"] {
            let refused = NamePattern::inside(pattern, Path::new("/proj"), Path::new(""));
            assert!(refused.is_err(), "{pattern}");
        }
    }
}
