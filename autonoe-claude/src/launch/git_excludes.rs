//! Git excludes for files that the sandbox of Claude Code masks.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

/// The path of the user's excludes file, which `git` determines once for a backend. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserExcludes(Arc<OnceLock<Option<PathBuf>>>);

/// Renders an excludes file: the user's own patterns, then the masked files of `project`.
///
/// `git add -A` fails on the device that masks a file unless the file is ignored. It would add a mount
/// point that a killed session left.
///
/// It runs `git` if the path in `user_excludes` is unknown, and reads files, so it blocks the thread
/// for some milliseconds.
pub(super) fn git_excludes(
    project: &Path,
    environment: &BTreeMap<OsString, OsString>,
    user_excludes: &UserExcludes,
) -> String {
    let path = user_excludes
        .0
        .get_or_init(|| find_user_excludes(environment));
    let mut text = path
        .as_deref()
        .and_then(|file| fs::read_to_string(file).ok())
        .unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let prefix = prefix_in_repository(project);
    for name in MASKED_FILES {
        let path = project.join(name);
        if fs::symlink_metadata(&path).is_err() || is_mount_point(&path) {
            text.push_str(&format!("{prefix}/{name}\n"));
        }
    }
    text
}

/// Returns the excludes file of the user.
fn find_user_excludes(environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let configured = Command::new("git")
        .args([
            "config",
            "--global",
            "--type=path",
            "--get",
            "core.excludesFile",
        ])
        .env_clear()
        .envs(environment)
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    let directory = |name: &str| {
        let value = environment.get(OsStr::new(name));
        value.filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    match configured {
        Some(path) => Some(PathBuf::from(path.trim_end_matches('\n'))),
        None => directory("XDG_CONFIG_HOME")
            .or_else(|| directory("HOME").map(|home| home.join(".config")))
            .map(|config| config.join("git/ignore")),
    }
}

/// Returns the path of `project` in its repository, as the start of an anchored pattern.
fn prefix_in_repository(project: &Path) -> String {
    let root = project
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let inner = root.and_then(|root| project.strip_prefix(root).ok());
    let mut prefix = String::new();
    for part in inner.into_iter().flat_map(Path::components) {
        prefix.push('/');
        for letter in part.as_os_str().to_string_lossy().chars() {
            if "\\*?[ ".contains(letter) {
                prefix.push('\\');
            }
            prefix.push(letter);
        }
    }
    prefix
}

/// Files that the sandbox masks with a device while a command runs, if they do not exist.
pub(super) const MASKED_FILES: [&str; 26] = [
    ".autonoe",
    ".bash_profile",
    ".bashrc",
    ".claude/.cc-writes",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/launch.json",
    ".claude/loop.md",
    ".claude/output-styles",
    ".claude/routines",
    ".claude/scheduled_tasks.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills",
    ".claude/workflows",
    ".gitconfig",
    ".gitmodules",
    ".harness",
    ".idea",
    ".mcp.json",
    ".profile",
    ".ripgreprc",
    ".vscode",
    ".zprofile",
    ".zshrc",
];

/// Returns whether `path` is a mount point of a masked file: an empty file that nobody may write,
/// as bubblewrap creates it.
///
/// Claude Code removes mount points after each command, but not those of a command that is killed.
pub(super) fn is_mount_point(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        let mode = found.permissions().mode() & 0o777;
        found.is_file() && found.len() == 0 && mode == 0o444
    })
}

/// Removes the mount points that killed commands left in `project`.
pub(super) fn remove_mount_points(project: &Path) {
    for name in MASKED_FILES {
        let path = project.join(name);
        if is_mount_point(&path) {
            // It is not worth failing a session that has ended.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn environment(home: &Path) -> BTreeMap<OsString, OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        BTreeMap::from([("PATH".into(), path), ("HOME".into(), home.into())])
    }

    fn render(project: &Path, home: &Path) -> String {
        git_excludes(project, &environment(home), &UserExcludes::default())
    }

    #[test]
    fn missing_files_are_excluded_and_existing_ones_are_not() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join(".mcp.json"), "{}").expect("a file");
        let mount_point = folder.path().join(".profile");
        fs::write(&mount_point, "").expect("a file");
        fs::set_permissions(&mount_point, fs::Permissions::from_mode(0o444)).expect("it is ours");

        let text = render(folder.path(), Path::new("/nonexistent"));

        let lines: Vec<_> = text.lines().collect();
        assert!(lines.contains(&"/.bashrc"), "{text}");
        assert!(lines.contains(&"/.profile"), "{text}");
        assert!(!lines.contains(&"/.mcp.json"), "{text}");
    }

    #[test]
    fn patterns_are_anchored_at_the_root_of_the_repository() {
        let folder = tempfile::tempdir().expect("a directory");
        let project = folder.path().join("apps/my *app");
        fs::create_dir_all(&project).expect("directories");
        fs::create_dir(folder.path().join(".git")).expect("a directory");

        let text = render(&project, Path::new("/nonexistent"));

        assert!(text.contains("\n/apps/my\\ \\*app/.bashrc\n"), "{text}");
    }

    #[test]
    fn the_users_own_excludes_stay_in_force() {
        let home = tempfile::tempdir().expect("a directory");
        let project = tempfile::tempdir().expect("a directory");
        let config = home.path().join(".config/git");
        fs::create_dir_all(&config).expect("directories");
        fs::write(config.join("ignore"), "*.swp").expect("a file");
        let read = || render(project.path(), home.path());

        assert!(read().starts_with("*.swp\n/"), "{}", read());
        fs::write(home.path().join("mine"), "*.orig\n").expect("a file");
        fs::write(
            home.path().join(".gitconfig"),
            "[core]\nexcludesFile = ~/mine\n",
        )
        .expect("a file");
        assert!(read().starts_with("*.orig\n/"), "{}", read());
    }

    #[test]
    fn the_path_of_the_users_excludes_is_determined_once_and_its_content_each_time() {
        let home = tempfile::tempdir().expect("a directory");
        let project = tempfile::tempdir().expect("a directory");
        let excludes = UserExcludes::default();
        let config = "[core]\nexcludesFile = ~/mine\n";
        fs::write(home.path().join(".gitconfig"), config).expect("a file");

        for (patterns, other_config) in [("*.orig\n", config), ("*.rej\n", "")] {
            fs::write(home.path().join("mine"), patterns).expect("a file");
            fs::write(home.path().join(".gitconfig"), other_config).expect("a file");

            let text = git_excludes(project.path(), &environment(home.path()), &excludes);

            assert!(text.starts_with(&format!("{patterns}/")), "{text}");
        }
    }

    #[test]
    fn mount_points_are_removed_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a directory");
        let project = folder.path();
        fs::create_dir(project.join(".claude")).expect("a directory");
        for (name, text, mode) in [
            (".bashrc", "", 0o444),
            (".claude/skills", "", 0o444),
            (".mcp.json", "{}", 0o444),
            (".gitmodules", "", 0o644),
            ("notes.txt", "", 0o444),
        ] {
            fs::write(project.join(name), text).expect("a file");
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(project.join(name), mode).expect("it is ours");
        }

        remove_mount_points(project);

        for (name, is_there) in [
            (".bashrc", false),
            (".claude/skills", false),
            (".mcp.json", true),
            (".gitmodules", true),
            ("notes.txt", true),
        ] {
            assert_eq!(project.join(name).exists(), is_there, "{name}");
        }
    }
}
