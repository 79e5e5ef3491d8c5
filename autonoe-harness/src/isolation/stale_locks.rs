//! Removes lock files left by a killed git process.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::IsolationError;

/// Tolerance for the start times of processes.
const INEXACT: Duration = Duration::from_secs(2);

/// Time to wait for a running git process to end.
const STALE_LOCK_AGE: Duration = Duration::from_secs(10);

/// Time that a lock that other programs could have created must stay unchanged before it counts as
/// left behind: longer than any program but git keeps one.
pub(super) const QUIET: Duration = Duration::from_secs(2);

/// Poll interval.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes those of `files` that one of our git processes created after `since` and did not remove
/// before it was killed: files of this user that no process has open, that stay unchanged for
/// `quiet`, and that no live git process could own.
///
/// If another git process may have created the file, because it works in `folders` and is older
/// than the file, this waits for it.
///
/// # Errors
///
/// [`IsolationError::Busy`] if that process does not end.
pub(super) async fn remove_locks(
    files: &[PathBuf],
    since: SystemTime,
    quiet: Duration,
    folders: &[&Path],
) -> Result<(), IsolationError> {
    let started = Instant::now();
    for file in files {
        let mut seen = None;
        loop {
            let found = match fs::symlink_metadata(file) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(IsolationError::io(file)(error)),
            };
            let modified = found.modified().map_err(IsolationError::io(file))?;
            // File times are inexact as well.
            let is_before = modified + Duration::from_millis(20) < since;
            if is_before || Some(found.uid()) != own_user() {
                // Not our lock; git will report it.
                break;
            }
            let now = (found.ino(), modified, found.len());
            let at = match seen {
                Some((before, at)) if before == now => at,
                _ => Instant::now(),
            };
            seen = Some((now, at));
            match owner(file, modified, folders) {
                Some(pid) if started.elapsed() > STALE_LOCK_AGE => {
                    let file = file.clone();
                    return Err(IsolationError::Busy { file, pid });
                }
                None if at.elapsed() >= quiet => {
                    tracing::warn!(file = %file.display(), "removed a lock of a git that was killed");
                    match fs::remove_file(file) {
                        Err(error) if error.kind() != ErrorKind::NotFound => {
                            return Err(IsolationError::io(file)(error));
                        }
                        _ => break,
                    }
                }
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }
    Ok(())
}

/// Finds a process that may have created the lock: one that has it open, or a git process that has
/// been working in one of `folders` since before the lock was created.
fn owner(lock: &Path, modified: SystemTime, folders: &[&Path]) -> Option<u32> {
    let boot = boot_time();
    let own = own_user();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let Some((name, ticks)) = name_and_start(*pid) else {
            return false;
        };
        let user = fs::metadata(format!("/proc/{pid}")).ok();
        let user = user.map(|found| found.uid());
        if user != own && user != Some(0) {
            return false;
        }
        if has_open(*pid, lock) {
            return true;
        }
        let is_older = || match boot {
            Some(boot) => {
                boot + Duration::from_millis(ticks.saturating_mul(10)) <= modified + INEXACT
            }
            None => true,
        };
        let is_git = name == "git" || name.starts_with("git-");
        is_git && is_older() && works_in(*pid, folders)
    })
}

fn has_open(pid: u32, file: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    let mut open = open.flatten().flatten();
    open.any(|entry| fs::read_link(entry.path()).is_ok_and(|to| to == file))
}

/// Returns whether a git process works in one of `folders`: its working directory, its arguments or
/// its environment point there.
fn works_in(pid: u32, folders: &[&Path]) -> bool {
    let at = fs::read_link(format!("/proc/{pid}/cwd")).ok();
    let is_there = at.is_none_or(|at| folders.iter().any(|folder| at.starts_with(folder)));
    let names: Vec<_> = folders
        .iter()
        .filter_map(|folder| folder.to_str())
        .collect();
    let mentions = |file: &str, prefix: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let text = super::git::text(&bytes);
        let mut words = text.split('\0').filter(|word| word.starts_with(prefix));
        words.any(|word| names.iter().any(|name| word.contains(name)))
    };
    is_there || mentions("cmdline", "") || mentions("environ", "GIT_")
}

fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|found| found.uid())
}

fn name_and_start(pid: u32) -> Option<(String, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let ticks = fields.nth(18)?.parse().ok()?;
    (!has_ended).then(|| (name.to_owned(), ticks))
}

fn boot_time() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(UNIX_EPOCH + Duration::from_secs(line.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_older_lock_is_not_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("index.lock");
        fs::write(&file, "").expect("a file");
        let modified = fs::metadata(&file).and_then(|found| found.modified());
        let modified = modified.expect("a time");
        let files = [file.clone(), folder.path().join("missing.lock")];

        let later = modified + Duration::from_secs(1);
        remove_locks(&files, later, Duration::ZERO, &[folder.path()])
            .await
            .expect("nothing to do");
        assert!(file.exists());

        remove_locks(&files, modified, Duration::ZERO, &[folder.path()])
            .await
            .expect("nobody holds it");
        assert!(!file.exists());
    }

    #[tokio::test]
    async fn an_open_lock_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().canonicalize().expect("there");
        let file = file.join("index.lock");
        // As another implementation of git does while it writes.
        let open = fs::File::create(&file).expect("a file");
        let files = [file.clone()];

        let removing = remove_locks(&files, UNIX_EPOCH, Duration::ZERO, &[]);
        let removing = tokio::time::timeout(Duration::from_millis(300), removing).await;

        assert!(removing.is_err(), "{removing:?}");
        assert!(file.exists());
        drop(open);
        let removed = remove_locks(&files, UNIX_EPOCH, Duration::ZERO, &[]).await;
        removed.expect("it is free");
        assert!(!file.exists());
    }
}
