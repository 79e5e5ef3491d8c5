//! A file that must be there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Criterion, Verification, Verifying};
use crate::executor::folder::{inside, problem_with};

/// Kernels write down the time of a change as of their last tick, a little before the clock's.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// The longest file that is searched for a text, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A file that is there and not empty: `{"type": "file", "path": "index.html"}`.
///
/// ```
/// use autonoe_harness::{Criterion, FileCriterion};
///
/// let page = FileCriterion::new("index.html").containing("<form").modified();
///
/// assert_eq!(
///     page.describe(),
///     "the file `index.html` is there and not empty, contains \"<form\" and is written in the \
///      course of this task",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FileCriterion {
    /// The file, a path from the folder of the task.
    pub path: PathBuf,
    /// A text that must be in it, as it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// The SHA-256 of what must be in it, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether it must have been written since the task began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modified: bool,
}

impl FileCriterion {
    /// Has the file at `path` be there and not be empty.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            contains: None,
            sha256: None,
            modified: false,
        }
    }

    /// Has it contain `text`.
    #[must_use]
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.contains = Some(text.into());
        self
    }

    /// Has it be just what has this SHA-256.
    #[must_use]
    pub fn with_sha256(mut self, digits: impl Into<String>) -> Self {
        self.sha256 = Some(digits.into());
        self
    }

    /// Has it be written since the task began.
    #[must_use]
    pub fn modified(mut self) -> Self {
        self.modified = true;
        self
    }

    /// Looks at the file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn look(&self, file: &Path, began: Timestamp) -> io::Result<Verification> {
        let shown = self.path.display();
        let failed = |what: &str| Ok(Verification::failed(format!("the file {shown} {what}")));
        let metadata = match fs::metadata(file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return failed("is not there"),
            Err(error) => return Err(error),
        };
        match () {
            () if !metadata.is_file() => return failed("is not a file"),
            () if metadata.len() == 0 => return failed("is empty"),
            () => {}
        }
        if self.modified {
            let written = Timestamp::try_from(metadata.modified()?).map_err(io::Error::other)?;
            if began.duration_since(written) > TICK {
                return failed("was not written since the task began");
            }
        }
        if let Some(text) = &self.contains {
            if metadata.len() > LONGEST {
                return Err(io::Error::other(format!(
                    "it is longer than {LONGEST} bytes"
                )));
            }
            let bytes = fs::read(file)?;
            let is_there = bytes
                .windows(text.len().max(1))
                .any(|window| window == text.as_bytes());
            if !is_there {
                return failed(&format!("does not contain {text:?}"));
            }
        }
        if let Some(expected) = &self.sha256 {
            let mut hasher = Sha256::new();
            io::copy(&mut File::open(file)?, &mut Writer(&mut hasher))?;
            let digits: String = hasher
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            if !digits.eq_ignore_ascii_case(expected) {
                return failed(&format!("has the SHA-256 {digits}"));
            }
        }
        Ok(Verification::passed(format!(
            "the file {shown} is there as it should be"
        )))
    }
}

/// Hashes what is written to it.
struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[typetag::serde(name = "file")]
#[async_trait]
impl Criterion for FileCriterion {
    fn describe(&self) -> String {
        let mut said = vec![format!(
            "the file `{}` is there and not empty",
            self.path.display()
        )];
        let contains = self.contains.as_ref();
        said.extend(contains.map(|text| format!("contains {text:?}")));
        let hash = self.sha256.as_ref();
        said.extend(hash.map(|digits| format!("has the SHA-256 {digits}")));
        said.extend(
            self.modified
                .then(|| "is written in the course of this task".to_owned()),
        );
        match said.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => said.concat(),
        }
    }

    fn problems(&self) -> Vec<String> {
        let file = self.path.display();
        let mut found: Vec<String> = problem_with(&self.path)
            .map(|problem| format!("the file {file:?}: {problem}"))
            .into_iter()
            .collect();
        if self.contains.as_deref() == Some("") {
            found.push(format!("the file {file:?} is to contain an empty text"));
        }
        let is_hash = |digits: &String| {
            digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        if self.sha256.as_ref().is_some_and(|digits| !is_hash(digits)) {
            found.push(format!("the file {file:?} has a SHA-256 that is not one"));
        }
        found
    }

    async fn verify(&self, look: &Verifying<'_>) -> Verification {
        let file = match inside(look.folder, &self.path) {
            Ok(file) => file,
            Err(reason) => return Verification::failed(reason),
        };
        let (criterion, began) = (self.clone(), look.result.started_at);
        let looked = tokio::task::spawn_blocking(move || criterion.look(&file, began)).await;
        let unverified = |why: String| {
            Verification::unverified(format!(
                "the file {} cannot be read: {why}",
                self.path.display()
            ))
        };
        match looked {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => unverified(error.to_string()),
            Err(error) => unverified(error.to_string()),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), FileCriterion, "file", {
    "path": "index.html", "contains": "<form", "modified": true
});
