//! Files of a project that the sandbox of Claude Code masks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    use super::*;

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
