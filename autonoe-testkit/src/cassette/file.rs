//! Cassettes in files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use super::format::Cassette;

impl Cassette {
    /// Reads a cassette from the file `path`, which is never changed.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no cassette, or is one of another version.
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
        // The version comes first: what another version means by the rest is
        // not for this one to judge.
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(corrupt)?;
        if version != Self::VERSION {
            return Err(CassetteError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        serde_json::from_slice(&bytes).map_err(corrupt)
    }

    /// Writes the cassette to the file `path`, in place of what was there.
    ///
    /// The text is the same each time for the same cassette, and fit for review.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
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

/// Why a cassette could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read.
    #[error("the cassette {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("the cassette {} cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{} does not hold a valid cassette", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The file is of a version that is not understood.
    #[error(
        "the cassette {} has version {found}, and only version {known} is understood; record it again",
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
