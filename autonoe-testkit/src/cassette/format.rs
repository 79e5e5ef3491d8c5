//! The data format of a cassette, with its errors, and its files.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use autonoe_core::agent::{AgentErrorKind, SessionField};
use autonoe_core::event::InstructionName;
use autonoe_core::{AgentError, Capabilities, StreamEvent};
use serde::{Deserialize, Serialize};

/// The sessions of a run, as a backend played them.
///
/// It contains the prompts for the agent and all responses, in order. It also contains the
/// decisions of the gate and the results of tools, as the
/// [`ToolStatus`](autonoe_core::tool::ToolStatus) of each response. It contains no times and no
/// environment. A [`Recorder`](super::Recorder) creates a cassette, and a
/// [`Replayer`](super::Replayer) plays it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cassette {
    pub(super) version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) backend: Option<Capabilities>,
    pub(super) sessions: Vec<RecordedSession>,
}

impl Cassette {
    /// The version of the format that this library writes, and the only one that it reads.
    pub const VERSION: u32 = 1;

    pub(super) fn new(backend: Option<Capabilities>, sessions: Vec<RecordedSession>) -> Self {
        Self {
            version: Self::VERSION,
            backend,
            sessions,
        }
    }

    /// Returns the capabilities of the backend, if it was probed.
    pub fn backend(&self) -> Option<&Capabilities> {
        self.backend.as_ref()
    }

    /// Returns the sessions in the order of their start.
    pub fn sessions(&self) -> &[RecordedSession] {
        &self.sessions
    }
}

/// One session of a cassette.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedSession {
    /// The number of the session in the run.
    pub number: u32,
    /// The name of the session's instruction.
    pub instruction: InstructionName,
    /// The requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of the tools that Autonoe offered to the agent.
    pub tools: Vec<String>,
    /// The error if the backend created no client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RecordedFailure>,
    /// The prompts with their responses.
    pub turns: Vec<RecordedTurn>,
}

/// A prompt and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedTurn {
    /// The prompt.
    pub prompt: String,
    /// The items of the stream, in order.
    pub stream: Vec<RecordedItem>,
    /// End of the stream.
    pub end: RecordedEnd,
}

/// One item of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedItem {
    /// An event.
    Event(StreamEvent),
    /// An error.
    Error(RecordedFailure),
}

impl RecordedItem {
    pub(super) fn new(item: &Result<StreamEvent, AgentError>) -> Self {
        match item {
            Ok(event) => Self::Event(event.clone()),
            Err(error) => Self::Error(RecordedFailure::new(error)),
        }
    }
}

/// End of a recorded stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEnd {
    /// The backend ended it.
    Closed,
    /// The reader dropped it first: after the `End`, or because of a timeout.
    LeftOpen,
}

impl Cassette {
    /// Reads a cassette from the file `path`, which is never changed.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a cassette, or has another version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let corrupt = |source| CassetteError::Corrupt {
            path: path.to_owned(),
            source,
        };
        let bytes = fs::read(path).map_err(|source| CassetteError::Read {
            path: path.to_owned(),
            source,
        })?;
        // The version is read first, because the rest of another version may have another meaning.
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(corrupt)?;
        if version != Self::VERSION {
            return Err(CassetteError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        serde_json::from_slice(&bytes).map_err(corrupt)
    }

    /// Writes the cassette to the file `path` and replaces its previous content.
    ///
    /// The text is deterministic and suitable for review.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        let path = path.as_ref();
        let write = || -> io::Result<()> {
            let mut text = serde_json::to_string_pretty(self)?;
            text.push('\n');
            fs::write(path, text)
        };
        write().map_err(|source| CassetteError::Write {
            path: path.to_owned(),
            source,
        })
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// An error of reading or writing a cassette.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read.
    #[error("cannot read the cassette {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the cassette {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The file is not a cassette.
    #[error("{} is not a valid cassette", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The parse error, with its position.
        source: serde_json::Error,
    },
    /// The file has an unsupported version.
    #[error(
        "the cassette {} has version {found}, and this program reads version {known}; record it \
         again",
        path.display(),
        known = Cassette::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// An error of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedFailure {
    /// The stable name of the error's kind.
    pub code: String,
    /// The error message.
    pub message: String,
    /// The messages of all causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Advice for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The wait that the other side requested, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

const KINDS: [AgentErrorKind; 10] = [
    AgentErrorKind::NotAvailable,
    AgentErrorKind::Authentication,
    AgentErrorKind::Billing,
    AgentErrorKind::Configuration,
    AgentErrorKind::Unsupported,
    AgentErrorKind::Protocol,
    AgentErrorKind::Crashed,
    AgentErrorKind::Timeout,
    AgentErrorKind::Overloaded,
    AgentErrorKind::Other,
];

/// Returns every kind of error.
fn kinds() -> impl Iterator<Item = AgentErrorKind> {
    let unclaimed = SessionField::ALL.map(AgentErrorKind::Unclaimed);
    KINDS.into_iter().chain(unclaimed)
}

impl RecordedFailure {
    pub(super) fn new(error: &AgentError) -> Self {
        let causes: Vec<String> = std::iter::successors(error.source(), |cause| (*cause).source())
            .map(ToString::to_string)
            .collect();
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            cause: (!causes.is_empty()).then(|| causes.join(": ")),
            remedy: error.remedy().map(str::to_owned),
            retry_after_ms: error
                .delay()
                .map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    pub(super) fn error(&self) -> AgentError {
        let kind = kinds()
            .find(|kind| kind.code() == self.code)
            .unwrap_or(AgentErrorKind::Other);
        let mut error = AgentError::new(kind, self.message.clone());
        if let Some(cause) = &self.cause {
            error = error.with_source(cause.clone());
        }
        if let Some(remedy) = &self.remedy {
            error = error.with_remedy(remedy.clone());
        }
        if let Some(millis) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(millis));
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_a_round_trip() {
        for kind in kinds() {
            let error = AgentError::new(kind, "it broke")
                .with_source("the disk is full")
                .with_remedy("make room")
                .with_retry_after(Duration::from_secs(7));
            let recorded = RecordedFailure::new(&error);

            let second = RecordedFailure::new(&recorded.error());

            assert_eq!(second, recorded);
            assert_eq!(recorded.error().kind(), kind);
        }
    }
}
