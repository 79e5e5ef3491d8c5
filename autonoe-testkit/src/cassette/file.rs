//! Loads and saves cassette files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use super::format::Cassette;

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
