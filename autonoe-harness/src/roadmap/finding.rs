//! Errors of roadmaps, with line and column.

use std::fmt;
use std::path::{Path, PathBuf};

/// Error of a roadmap: all of its mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadmapError {
    file: PathBuf,
    findings: Vec<RoadmapFinding>,
}

/// A mistake in a roadmap, with its position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RoadmapFinding {
    /// The line, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// The problem, and a suggestion.
    pub message: String,
}

impl RoadmapError {
    pub(super) fn new(file: &Path, mut findings: Vec<RoadmapFinding>) -> Self {
        findings.sort();
        findings.dedup();
        Self {
            file: file.to_owned(),
            findings,
        }
    }

    /// Returns all mistakes, by line.
    pub fn findings(&self) -> &[RoadmapFinding] {
        &self.findings
    }
}

impl RoadmapFinding {
    pub(super) fn new(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            column,
            message: message.into(),
        }
    }
}

impl fmt::Display for RoadmapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.findings.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            let RoadmapFinding {
                line,
                column,
                message,
            } = finding;
            write!(f, "{end}{}:{line}:{column}: {message}", self.file.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for RoadmapError {}
