//! Lock files of a git that was killed.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::IsolationError;

/// How exact the times are that processes began at.
const INEXACT: Duration = Duration::from_secs(2);

/// How long a git that works there gets to come to its end.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a lock that others could have made as well must stay as it is before it counts as left:
/// longer than anything but git keeps one.
pub(super) const QUIET: Duration = Duration::from_secs(2);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes those of `files` that a git of ours made after `since` and did not live to remove: files
/// of this user that nobody has open, that stay as they are for `quiet`, and of which no git that
/// lives could be the owner.
///
/// A file that another git may have made, because one works in `folders` that is older than the file,
/// is waited for.
///
/// # Errors
///
/// [`IsolationError::Busy`] if that one goes on and on.
pub(super) async fn remove_locks(
    files: &[PathBuf],
    since: SystemTime,
    quiet: Duration,
    folders: &[&Path],
) -> Result<(), IsolationError> {
    let began = Instant::now();
    for file in files {
        let mut seen = None;
        loop {
            let found = match fs::symlink_metadata(file) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(IsolationError::io(file)(error)),
            };
            let made = found.modified().map_err(IsolationError::io(file))?;
            // The times of files are inexact as well.
            let is_before = made + Duration::from_millis(20) < since;
            if is_before || Some(found.uid()) != own_user() {
                // Not ours, and git will say so.
                break;
            }
            let now = (found.ino(), made, found.len());
            let at = match seen {
                Some((before, at)) if before == now => at,
                _ => Instant::now(),
            };
            seen = Some((now, at));
            match owner(file, made, folders) {
                Some(pid) if began.elapsed() > PATIENCE => {
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

/// Finds a process that may have made the lock: one that has it open, or a git that works in one of
/// `folders` since before it was made.
fn owner(lock: &Path, made: SystemTime, folders: &[&Path]) -> Option<u32> {
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
            Some(boot) => boot + Duration::from_millis(ticks.saturating_mul(10)) <= made + INEXACT,
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

/// Tells whether a git works in one of `folders`: it stands there, or was told about it.
fn works_in(pid: u32, folders: &[&Path]) -> bool {
    let at = fs::read_link(format!("/proc/{pid}/cwd")).ok();
    let stands_there = at.is_none_or(|at| folders.iter().any(|folder| at.starts_with(folder)));
    let names: Vec<_> = folders
        .iter()
        .filter_map(|folder| folder.to_str())
        .collect();
    let told = |about: &str, begins: &str| {
        let told = fs::read(format!("/proc/{pid}/{about}")).unwrap_or_default();
        let told = super::git::text(&told);
        let mut told = told.split('\0').filter(|word| word.starts_with(begins));
        told.any(|word| names.iter().any(|name| word.contains(name)))
    };
    stands_there || told("cmdline", "") || told("environ", "GIT_")
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
    async fn a_lock_from_before_is_somebody_elses() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("index.lock");
        fs::write(&file, "").expect("a file");
        let made = fs::metadata(&file).and_then(|found| found.modified());
        let made = made.expect("a time");
        let files = [file.clone(), folder.path().join("missing.lock")];

        let later = made + Duration::from_secs(1);
        remove_locks(&files, later, Duration::ZERO, &[folder.path()])
            .await
            .expect("nothing to do");
        assert!(file.exists());

        remove_locks(&files, made, Duration::ZERO, &[folder.path()])
            .await
            .expect("nobody holds it");
        assert!(!file.exists());
    }

    #[tokio::test]
    async fn a_lock_that_somebody_has_open_is_waited_for() {
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
        removed.expect("nobody has it");
        assert!(!file.exists());
    }
}
