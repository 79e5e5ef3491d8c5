//! Files that survive a power cut, for crates that keep some beside a project's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::durable;

/// Replaces the file at `path`, or makes it, so that a crash or a power cut leaves the old or the
/// new one, and never a part.
///
/// Once this returns, a crash does not undo it. The file is written under another name in the same
/// folder first, `.NAME.tmp`; two writers at once must see to it that they are not.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("status.json");
/// autonoe_core::replace_file_durably(&path, b"{}")?;
///
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The system refuses it; the old file is there.
pub fn replace_file_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    durable::replace(path, &beside(path, "tmp")?, bytes)
}

/// Makes a file at `path` that was not there, as a whole or not at all, however many try it at once.
///
/// Once this returns, a crash or a power cut does not undo it. Who finds the file finds all of it.
///
/// ```
/// use std::io::ErrorKind;
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("outcome.json");
/// autonoe_core::create_file_durably(&path, b"first")?;
///
/// let second = autonoe_core::create_file_durably(&path, b"second");
///
/// assert_eq!(second.unwrap_err().kind(), ErrorKind::AlreadyExists);
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or the system refuses it. The file system must
/// be one that can give a file two names.
pub fn create_file_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let written = beside(path, &format!("{process}-{count}.new"))?;
    durable::replace(
        &written,
        &beside(path, &format!("{process}-{count}.tmp"))?,
        bytes,
    )?;
    // A second name can be given only where there is none: that makes one of many the first.
    let linked = fs::hard_link(&written, path);
    let _ = fs::remove_file(&written);
    linked?;
    durable::sync_folder_of(path)
}

fn beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(path.with_file_name(format!(".{}.{ending}", name.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn of_many_who_make_a_file_one_is_the_first_and_the_file_is_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("order.json");

        let makers: Vec<_> = (0..16)
            .map(|maker: u8| {
                let path = path.clone();
                thread::spawn(move || create_file_durably(&path, &[maker; 4096]).map(|()| maker))
            })
            .collect();
        let made = makers
            .into_iter()
            .map(|maker| maker.join().expect("no panic"));
        let (first, others): (Vec<_>, Vec<_>) = made.partition(Result::is_ok);

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
