//! The files of artifacts, by what is in them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::create_folder;
use sha2::{Digest, Sha256};

use super::{ArtifactName, SharedError};

/// What was copied.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) sha256: String,
    pub(super) size: u64,
}

/// Where the artifact of a name with this content is.
///
/// By content: to publish the same again changes nothing, and to publish something else leaves
/// what others are reading.
pub(super) fn place(folder: &Path, sha256: &str, name: &ArtifactName) -> PathBuf {
    folder.join(sha256).join(name.as_str())
}

/// Copies the file at `source` among the artifacts in `folder`, all of it or nothing.
///
/// Once this returns, a power cut does not undo it.
pub(super) fn copy_in(
    folder: &Path,
    name: &ArtifactName,
    source: &Path,
) -> Result<Copied, SharedError> {
    create_folder(folder).map_err(|error| failed(folder, "made", error))?;
    let from = open_plain(source)?;
    let incoming = folder.join(incoming_name());
    let copied = copy(from, source, &incoming).and_then(|copied| {
        let to = place(folder, &copied.sha256, name);
        put(folder, &incoming, &to).map_err(|error| failed(&to, "written", error))?;
        Ok(copied)
    });
    if copied.is_err() {
        // Half a copy is of no use to anybody; the error is told.
        let _ = fs::remove_file(&incoming);
    }
    copied
}

/// Tells whether what is at `path` is what was published.
pub(super) fn is_unchanged(path: &Path, sha256: &str) -> Result<bool, SharedError> {
    let file = open_plain(path)?;
    let read = hash(file, &mut io::sink());
    let (found, _) = read.map_err(|error| failed(path, "read", error))?;
    Ok(found == sha256)
}

/// Opens a file; a symlink is none, for it may lead anywhere.
fn open_plain(path: &Path) -> Result<File, SharedError> {
    let unread = |error| failed(path, "read", error);
    let seen = fs::symlink_metadata(path).map_err(unread)?;
    // Looked at before it is opened: to open a pipe is to wait for its writer.
    if !seen.is_file() {
        return Err(SharedError::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(unread)?;
    let opened = file.metadata().map_err(unread)?;
    match opened.is_file() && is_same_file(&seen, &opened) {
        true => Ok(file),
        false => Err(SharedError::NotAFile(path.to_owned())),
    }
}

fn copy(from: File, source: &Path, incoming: &Path) -> Result<Copied, SharedError> {
    let unwritten = |error| failed(incoming, "written", error);
    let mut to = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(incoming)
        .map_err(unwritten)?;
    let (sha256, size) = hash(from, &mut to).map_err(|error| failed(source, "copied", error))?;
    to.sync_all().map_err(unwritten)?;
    // Nobody has a reason to change it; who does all the same is found out.
    let mut permissions = to.metadata().map_err(unwritten)?.permissions();
    permissions.set_readonly(true);
    to.set_permissions(permissions).map_err(unwritten)?;
    Ok(Copied { sha256, size })
}

fn put(folder: &Path, incoming: &Path, to: &Path) -> io::Result<()> {
    let own = to.parent().unwrap_or(folder);
    create_folder(own)?;
    fs::rename(incoming, to)?;
    // Without this the new names may be lost in a power cut.
    File::open(own)?.sync_all()?;
    File::open(folder)?.sync_all()
}

/// Copies all there is and returns its hash and how much it was.
fn hash(mut from: File, to: &mut impl Write) -> io::Result<(String, u64)> {
    let (mut hash, mut size, mut part) = (Sha256::new(), 0, vec![0; 64 * 1024]);
    loop {
        let read = from.read(&mut part)?;
        if read == 0 {
            let digits = hash.finalize();
            let digits = digits.iter().map(|byte| format!("{byte:02x}"));
            return Ok((digits.collect(), size));
        }
        hash.update(&part[..read]);
        to.write_all(&part[..read])?;
        size += read as u64;
    }
}

/// A name that nobody else uses at the same time, and that no artifact can have.
fn incoming_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let nanos = jiff::Timestamp::now().as_nanosecond();
    format!(".incoming-{}-{nanos}-{number}", std::process::id())
}

#[cfg(unix)]
fn is_same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Where files have no numbers, they are known by their length alone.
#[cfg(not(unix))]
fn is_same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    one.len() == other.len()
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> SharedError {
    SharedError::Failed {
        path: path.to_owned(),
        doing,
        source,
    }
}
