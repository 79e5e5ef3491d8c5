//! Memory files of the project, such as `CLAUDE.md`.

use std::fs;
use std::path::Path;

use autonoe_core::SessionSpec;

use super::{ClaudeOptions, SettingSources};

/// Maximum nesting depth of rule directories.
const MAX_DEPTH: usize = 8;

/// Returns whether Claude Code loads the memory files of the project.
///
/// It would load them together with the project's settings, whose hooks run outside the gate. So the
/// project is passed as an additional directory, from which only memory is loaded.
pub(super) fn has_memory(options: &ClaudeOptions, spec: &SessionSpec) -> bool {
    let is_wanted = spec.project_memory && options.setting_sources == SettingSources::None;
    is_wanted && is_contained(&spec.cwd)
}

/// Returns whether no memory file is a symbolic link out of the project.
///
/// An agent could otherwise link a private file, which the next session would send to the model.
fn is_contained(project: &Path) -> bool {
    let Ok(root) = project.canonicalize() else {
        return false;
    };
    let folder = project.join(".claude");
    let files = [project.join("CLAUDE.md"), folder.join("CLAUDE.md")];
    let is_inside = files.iter().all(|file| leads_into(file, &root))
        && rules_lead_into(&folder.join("rules"), &root, MAX_DEPTH);
    if !is_inside {
        tracing::warn!(
            project = %project.display(),
            "the memory files of the project are not loaded: one is a symlink to a file outside \
             the project"
        );
    }
    is_inside
}

fn rules_lead_into(rules: &Path, root: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(rules) else {
        return true;
    };
    leads_into(rules, root)
        && depth > 0
        && entries.flatten().all(|entry| {
            let path = entry.path();
            leads_into(&path, root) && rules_lead_into(&path, root, depth - 1)
        })
}

/// Returns whether `path` is in `root` once links are followed. A missing file is.
fn leads_into(path: &Path, root: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with(root)) || !path.exists()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn memory_is_loaded_unless_a_file_leads_out_of_the_project() {
        for (link, target, is_contained_there) in [
            ("CLAUDE.md", "AGENTS.md", true),
            ("CLAUDE.md", "missing.md", true),
            ("CLAUDE.md", "../secret", false),
            (".claude/CLAUDE.md", "../../secret", false),
            (".claude/rules/a.md", "../../../secret", false),
            (".claude/rules/deep/a.md", "../../../../secret", false),
            (".claude/rules/deep/b", "../../../../folder", false),
            (".claude/rules/deep/b", "..", false),
        ] {
            let folder = tempfile::tempdir().expect("a directory");
            let project = folder.path().join("project");
            fs::create_dir_all(project.join(".claude/rules/deep")).expect("directories");
            fs::create_dir(folder.path().join("folder")).expect("a directory");
            fs::write(folder.path().join("secret"), "x").expect("a file");
            fs::write(project.join("AGENTS.md"), "x").expect("a file");
            symlink(target, project.join(link)).expect("a link");

            assert_eq!(
                is_contained(&project),
                is_contained_there,
                "{link} -> {target}"
            );
        }
    }
}
