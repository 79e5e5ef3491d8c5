//! Why the program does not work.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use autonoe_core::Failure;
use autonoe_harness::{BridgeError, TravelError};
use autonoe_temporal::{ConnectError, WorkerError};

/// Why the program does not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerProblem {
    #[error("{0}")]
    Usage(String),
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is no settings file", path.display())]
    Settings {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("there is no program {}", named.as_deref().unwrap_or(Path::new("autonoe")).display())]
    NoProgram { named: Option<PathBuf> },
    #[error("sessions cannot be carried out here: {0}")]
    Trial(Failure),
    #[error("the program cannot begin")]
    Runtime(#[source] io::Error),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    #[error(transparent)]
    Remote(#[from] TravelError),
}

impl WorkerProblem {
    pub(crate) fn usage(message: &str) -> Self {
        Self::Usage(message.to_owned())
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unreadable { path, source }
    }

    /// Returns 2 for what was asked for in a wrong way, as other programs do.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Settings { .. } | Self::Remote(_) | Self::Trial(_) => 2,
            _ => 1,
        }
    }

    /// Returns what lies behind it.
    pub(crate) fn detail(&self) -> String {
        let mut detail = String::new();
        let mut source = self.source();
        while let Some(error) = source {
            detail += &format!(": {error}");
            source = error.source();
        }
        detail
    }

    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoProgram { .. } => {
                "install it with `cargo install --path autonoe-cli`, or name it with --autonoe"
            }
            Self::Connect(ConnectError::Unreachable { .. }) => {
                "for a try, `temporal server start-dev` starts a server"
            }
            _ => return None,
        })
    }

    /// Tells it to a person.
    pub(crate) fn print(&self) {
        let mut text = format!("error: {self}{}\n", self.detail());
        if let Some(hint) = self.hint() {
            text += &format!("  hint: {hint}\n");
        }
        // Nothing can be done about a screen that is gone.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
