//! Durable file replacement and creation for other crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::durable;

/// Replaces or creates the file at `path` so that a crash or a power cut leaves the old or the new
/// file, never a part.
///
/// Once this returns, a crash does not undo it. The file is first written under another name in the
/// same folder, `.NAME.tmp`; callers must prevent concurrent writers.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("status.json");
/// autonoe_core::project::replace_file_durably(&path, b"{}")?;
///
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The system refuses the write; the old file is unchanged.
pub fn replace_file_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    durable::replace(path, &sibling_path(path, "tmp")?, bytes)
}

/// Creates a file at `path`, completely or not at all, even if several callers try it concurrently.
///
/// Once this returns, a crash or a power cut does not undo it. A visible file is always complete.
///
/// ```
/// use std::io::ErrorKind;
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("outcome.json");
/// autonoe_core::project::create_file_durably(&path, b"first")?;
///
/// let second = autonoe_core::project::create_file_durably(&path, b"second");
///
/// assert_eq!(second.unwrap_err().kind(), ErrorKind::AlreadyExists);
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or the system refuses the write. The file
/// system must support hard links.
pub fn create_file_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let written = sibling_path(path, &format!("{process}-{count}.new"))?;
    durable::replace(
        &written,
        &sibling_path(path, &format!("{process}-{count}.tmp"))?,
        bytes,
    )?;
    // A hard link can be created only if there is no file of that name: that makes exactly one of
    // the callers the first.
    let linked = fs::hard_link(&written, path);
    let _ = fs::remove_file(&written);
    linked?;
    durable::sync_parent_folder(path)
}

fn sibling_path(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(path.with_file_name(format!(".{}.{ending}", name.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn of_concurrent_creators_one_is_the_first_and_the_file_is_complete() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("order.json");

        let makers: Vec<_> = (0..16)
            .map(|maker: u8| {
                let path = path.clone();
                thread::spawn(move || create_file_durably(&path, &[maker; 4096]).map(|()| maker))
            })
            .collect();
        let results = makers
            .into_iter()
            .map(|maker| maker.join().expect("no panic"));
        let (first, others): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);

        assert_eq!(first.len(), 1);
        let kinds = others.iter().filter_map(|other| other.as_ref().err());
        assert!(
            kinds
                .map(io::Error::kind)
                .all(|kind| kind == io::ErrorKind::AlreadyExists)
        );
        let first = *first[0].as_ref().expect("the first");
        assert_eq!(fs::read(&path).expect("there"), [first; 4096]);
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }
}
