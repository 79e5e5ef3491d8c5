//! The files of one endless stream.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::project::Project;

const VERSION: u32 = 1;

/// The longest head of a file.
const LONGEST_HEAD: u64 = 256;

/// The first line of a file: where in the stream it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    #[serde(rename = "v")]
    version: u32,
    /// How many bytes of the stream are in files before this one.
    pub(super) base: u64,
}

impl Head {
    pub(super) fn at(base: u64) -> Self {
        Self {
            version: VERSION,
            base,
        }
    }

    /// Reads the head of a file; `None` if it has none, or one that is not known here.
    pub(super) fn of(file: &mut File) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(LONGEST_HEAD).read_to_end(&mut start)?;
        let head = start.split(|byte| *byte == b'\n').next().unwrap_or(&start);
        let head: Option<Self> = serde_json::from_slice(head).ok();
        Ok(head.filter(|head| head.version == VERSION))
    }
}

/// The file that is written.
pub(super) fn current(project: &Project) -> PathBuf {
    project.events_dir().join("events.jsonl")
}

/// The one before it.
pub(super) fn earlier(project: &Project) -> PathBuf {
    project.events_dir().join("events.1.jsonl")
}

/// Opens a file of the stream to read it; `None` if there is none.
pub(super) fn open(path: &Path) -> io::Result<Option<(File, Head)>> {
    let mut file = match path.symlink_metadata() {
        // Anything else may be waited for, or lead elsewhere.
        Ok(found) if found.is_file() => File::open(path)?,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Head::of(&mut file)?.map(|head| (file, head)))
}
