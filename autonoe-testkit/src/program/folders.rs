//! Contents of folders: files, sessions, processes and git repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use autonoe_core::gate::ProjectPaths;

/// Returns the names in `folder`, in order.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the names of the sessions that have their own folder or temporary files in `temporary`,
/// in order. The parent of their folders is not included.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn sessions_in(temporary: &Path) -> Vec<String> {
    let (parents, mut names): (Vec<_>, Vec<_>) = names_in(temporary)
        .into_iter()
        .partition(|name| ProjectPaths::is_session_parent(name));
    for parent in parents {
        names.extend(names_in(&temporary.join(parent).join(".autonoe")));
    }
    names.sort();
    names.dedup();
    names
}

/// Returns the ids and names of the running processes whose working directory is `folder`. Only on
/// Linux; on other systems it returns none.
pub fn processes_in(folder: &Path) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let process = |pid: u32| {
        let directory = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        (directory == folder).then(|| (pid, name.trim_end().to_owned()))
    };
    pids.filter_map(process).collect()
}

/// Returns the files of a project, in order, without those of Autonoe.
///
/// Folders are not included: the sandbox of a program may leave an empty one.
///
/// # Panics
///
/// If the project cannot be read.
pub fn files_in(project: &Path) -> Vec<String> {
    let (ours, mut files) = (project.join(".autonoe"), Vec::new());
    let mut folders = vec![project.to_owned()];
    while let Some(folder) = folders.pop() {
        for name in names_in(&folder) {
            match folder.join(name) {
                path if path == ours => {}
                path if path.is_dir() => folders.push(path),
                path => files.extend(path.strip_prefix(project).map(Path::to_owned)),
            }
        }
    }
    let mut names: Vec<_> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    names
}

/// Runs git in `folder`, as the user Ada and without the settings of this machine, and returns its
/// output.
///
/// # Panics
///
/// If git cannot be run, or fails.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
