//! Criterion: a file exists, optionally with certain content.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Criterion, Verification, VerificationContext};
use crate::executor::folder::{path_problem, resolve_inside};

/// Tolerance for modification times: kernels record the time of their last tick, slightly before
/// the clock's.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// Maximum size of a file that is searched for a text, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A file that exists and is not empty: `{"type": "file", "path": "index.html"}`.
///
/// ```
/// use autonoe_harness::executor::FileCriterion;
/// use autonoe_harness::Criterion;
///
/// let page = FileCriterion::new("index.html").contains("<form").modified();
///
/// assert_eq!(
///     page.describe(),
///     "the file `index.html` exists and is not empty, contains \"<form\" and is modified during \
///      this task",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FileCriterion {
    /// The path of the file, relative to the folder of the task.
    pub path: PathBuf,
    /// A text that the file must contain, literally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// The expected SHA-256 of the file, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether the file must have been written since the task started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modified: bool,
}

impl FileCriterion {
    /// Requires the file at `path` to exist and not to be empty.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            contains: None,
            sha256: None,
            modified: false,
        }
    }

    /// Requires the file to contain `text`.
    #[must_use]
    pub fn contains(mut self, text: impl Into<String>) -> Self {
        self.contains = Some(text.into());
        self
    }

    /// Requires the file to have this SHA-256.
    #[must_use]
    pub fn sha256(mut self, digits: impl Into<String>) -> Self {
        self.sha256 = Some(digits.into());
        self
    }

    /// Requires the file to be written since the task started.
    #[must_use]
    pub fn modified(mut self) -> Self {
        self.modified = true;
        self
    }

    /// Checks the file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn check(&self, file: &Path, started: Timestamp) -> io::Result<Verification> {
        let path = self.path.display();
        let failed = |problem: &str| Ok(Verification::failed(format!("the file {path} {problem}")));
        let metadata = match fs::metadata(file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return failed("does not exist");
            }
            Err(error) => return Err(error),
        };
        match () {
            () if !metadata.is_file() => return failed("is not a file"),
            () if metadata.len() == 0 => return failed("is empty"),
            () => {}
        }
        if self.modified {
            let written = Timestamp::try_from(metadata.modified()?).map_err(io::Error::other)?;
            if started.duration_since(written) > TICK {
                return failed("was not modified since the task started");
            }
        }
        if let Some(text) = &self.contains {
            if metadata.len() > LONGEST {
                return Err(io::Error::other(format!(
                    "it is larger than {LONGEST} bytes"
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
            "the file {path} meets its criteria"
        )))
    }
}

/// Hashes the bytes written to it.
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
        let mut parts = vec![format!(
            "the file `{}` exists and is not empty",
            self.path.display()
        )];
        let contains = self.contains.as_ref();
        parts.extend(contains.map(|text| format!("contains {text:?}")));
        let hash = self.sha256.as_ref();
        parts.extend(hash.map(|digits| format!("has the SHA-256 {digits}")));
        parts.extend(
            self.modified
                .then(|| "is modified during this task".to_owned()),
        );
        match parts.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => parts.concat(),
        }
    }

    fn problems(&self) -> Vec<String> {
        let file = self.path.display();
        let mut found: Vec<String> = path_problem(&self.path)
            .map(|problem| format!("the file {file:?}: {problem}"))
            .into_iter()
            .collect();
        if self.contains.as_deref() == Some("") {
            found.push(format!(
                "the text that the file {file:?} must contain is empty"
            ));
        }
        let is_hash = |digits: &String| {
            digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        if self.sha256.as_ref().is_some_and(|digits| !is_hash(digits)) {
            found.push(format!(
                "the SHA-256 of the file {file:?} is not 64 hexadecimal digits"
            ));
        }
        found
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let file = match resolve_inside(context.folder, &self.path) {
            Ok(file) => file,
            Err(reason) => return Verification::failed(reason),
        };
        let (criterion, started) = (self.clone(), context.result.started_at);
        let checked = tokio::task::spawn_blocking(move || criterion.check(&file, started)).await;
        let unverified = |reason: String| {
            Verification::unverified(format!(
                "cannot read the file {}: {reason}",
                self.path.display()
            ))
        };
        match checked {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => unverified(error.to_string()),
            Err(error) => unverified(error.to_string()),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), FileCriterion, "file", {
    "path": "index.html", "contains": "<form", "modified": true
});
