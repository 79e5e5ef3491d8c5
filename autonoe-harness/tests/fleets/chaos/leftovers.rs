//! Checks that nothing is left after a fleet.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::counting::Ended;
use crate::fleets::fixture::{Project, eventually};

/// Fails if anything is left but the kept work that the outcome names.
pub(super) async fn nothing_is_left(ended: &Ended<'_>) {
    let (project, outcome) = (ended.project, ended.outcome);
    // A process that has reported its end may still be exiting.
    eventually("the end of all processes", || living(project).is_empty()).await;
    project.assert_no_member_process();
    assert_eq!(project.home().coordinator("f").expect("readable"), None);

    let unmerged: BTreeSet<String> = outcome
        .unmerged_work
        .iter()
        .map(|it| it.branch.clone())
        .collect();
    let mut branches: BTreeSet<_> = project.branches().into_iter().collect();
    assert!(branches.remove("main"));
    assert_eq!(branches, unmerged);
    if outcome.success {
        let is_another_way = |branch: &String| branch.contains(".way-");
        assert!(unmerged.iter().all(is_another_way), "{unmerged:?}");
    }
    let folders: BTreeSet<PathBuf> = outcome
        .unmerged_work
        .iter()
        .map(|it| it.folder.clone())
        .collect();
    for folder in worktrees(project) {
        assert!(folders.contains(&folder), "{folder:?} is left");
    }
    for path in in_folder(&project.home().worktrees_folder()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Lock files stay: removing one could break the lock of another process.
        let is_lock = name == ".lock" || name.starts_with(".merge-");
        let is_known = is_lock || [".gitignore", ".step.new"].contains(&&*name);
        // The folder of the fleet exists as long as it is not empty.
        let inner = in_folder(&path);
        let is_unmerged = !inner.is_empty() && inner.iter().all(|path| folders.contains(path));
        assert!(is_known || is_unmerged, "{path:?} is left: {inner:?}");
    }
    let locks = locks_in(&project.path().join(".git"));
    assert!(locks.is_empty(), "{locks:?}");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.git(&["fsck", "--strict", "--no-dangling"]);
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Returns the worktrees that git knows, except that of the project.
fn worktrees(project: &Project) -> Vec<PathBuf> {
    let list = project.git(&["worktree", "list", "--porcelain"]);
    let folders = list
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "));
    folders.skip(1).map(PathBuf::from).collect()
}

/// Returns the remaining lock files of git.
fn locks_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in in_folder(folder) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(locks_in(&path));
        } else if path.extension().is_some_and(|end| end == "lock") {
            found.push(path);
        }
    }
    found
}

/// Returns the processes that belong to the project.
fn living(project: &Project) -> Vec<String> {
    let place = project.sibling_path("");
    let place = place.to_string_lossy().trim_end_matches('/').to_owned();
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let of_project = processes.filter_map(|entry| {
        let path = entry.path();
        let texts = ["cmdline", "environ"].map(|file| fs::read(path.join(file)));
        let mut texts: Vec<String> = texts
            .into_iter()
            .flatten()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        texts.extend(fs::read_link(path.join("cwd")).map(|cwd| cwd.to_string_lossy().into_owned()));
        let is_own = texts.iter().any(|text| text.contains(&place));
        is_own.then(|| texts.first().cloned().unwrap_or_default())
    });
    of_project.collect()
}
