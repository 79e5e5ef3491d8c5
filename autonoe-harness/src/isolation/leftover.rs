//! Lock files of a git that was killed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::IsolationError;

/// How exact the times are that processes began at.
const INEXACT: Duration = Duration::from_secs(2);

/// How long a git that works there gets to come to its end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes those of `files` that a git of ours made after `since` and did not live to remove.
///
/// A file that another git may have made, because one lives there that is older than the file, is
/// waited for.
///
/// # Errors
///
/// [`IsolationError::Busy`] if that one goes on and on.
pub(super) async fn remove_locks(
    files: &[PathBuf],
    since: SystemTime,
    folders: &[&Path],
) -> Result<(), IsolationError> {
    let began = tokio::time::Instant::now();
    for file in files {
        loop {
            let made = match fs::metadata(file).and_then(|found| found.modified()) {
                Ok(made) => made,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(IsolationError::io(file)(error)),
            };
            // The times of files are inexact as well.
            if made + Duration::from_millis(20) < since {
                // It was there before: not ours, and git will say so.
                break;
            }
            let Some(pid) = older_git(made, folders) else {
                tracing::warn!("removed a lock of a git that was killed");
                match fs::remove_file(file) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(IsolationError::io(file)(error));
                    }
                    _ => break,
                }
            };
            if began.elapsed() > PATIENCE {
                let file = file.clone();
                return Err(IsolationError::Busy { file, pid });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Finds a git that works in one of `folders` since before `made`.
fn older_git(made: SystemTime, folders: &[&Path]) -> Option<u32> {
    let boot = boot_time();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let Some((name, ticks)) = name_and_start(*pid) else {
            return false;
        };
        let works_there = || {
            let at = fs::read_link(format!("/proc/{pid}/cwd")).ok();
            at.is_none_or(|at| folders.iter().any(|folder| at.starts_with(folder)))
        };
        let is_older = || match boot {
            Some(boot) => boot + Duration::from_millis(ticks.saturating_mul(10)) <= made + INEXACT,
            None => true,
        };
        (name == "git" || name.starts_with("git-")) && is_older() && works_there()
    })
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
        remove_locks(&files, later, &[folder.path()])
            .await
            .expect("nothing to do");
        assert!(file.exists());

        remove_locks(&files, made, &[folder.path()])
            .await
            .expect("nobody holds it");
        assert!(!file.exists());
    }
}
