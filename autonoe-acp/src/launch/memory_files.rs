//! Finds the memory files that Gemini CLI reads.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;

/// The memory file of Gemini CLI.
const NAME: &str = "GEMINI.md";

/// Refuses a session without project memory in a project where Gemini CLI would find a memory file.
///
/// No setting turns the file off: version 0.61.0 adds the names in `context.fileName` to the
/// default name. A folder that is not trusted has no memory, but no MCP servers either.
///
/// # Errors
///
/// The project has a memory file.
pub(super) async fn refuse(project: &Path) -> Result<(), AgentError> {
    let project = project.to_owned();
    let search = tokio::task::spawn_blocking(move || find(&project));
    let found = search.await.map_err(|error| {
        let message = format!("the search for {NAME} failed");
        AgentError::new(AgentErrorKind::Other, message).with_source(error)
    })?;
    let Some(file) = found else {
        return Ok(());
    };
    let message = format!(
        "Gemini CLI reads {} even though projectMemory is off",
        file.display()
    );
    let error = AgentError::new(AgentErrorKind::Unsupported, message);
    Err(error.with_remedy("remove the file, set projectMemory to true, or use another backend"))
}

/// Returns a memory file that the program reads for a session in `project`.
///
/// The program reads the files from the root of the repository down to the project when it starts.
/// A file in a folder below is read when the agent opens a file there.
fn find(project: &Path) -> Option<PathBuf> {
    let repository = project
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let above = project
        .ancestors()
        .skip(1)
        .take_while(|folder| repository.is_some_and(|repository| folder.starts_with(repository)))
        .map(|folder| folder.join(NAME))
        .find(|file| is_there(file));
    above.or_else(|| find_below(project))
}

/// Searches `root` and all folders in it. Links to folders are not followed.
fn find_below(root: &Path) -> Option<PathBuf> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let file = folder.join(NAME);
        if is_there(&file) {
            return Some(file);
        }
        // Nothing can be read in a folder that cannot be listed.
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(
            entries
                .filter(|entry| entry.file_name() != ".git")
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    None
}

/// A broken link counts too: its target may be created later.
fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_the_project_and_up_to_the_repository_are_found() {
        for (repository, file, expected) in [
            (None, None, false),
            (None, Some("top/project/GEMINI.md"), true),
            (None, Some("top/project/a/b/GEMINI.md"), true),
            (None, Some("top/GEMINI.md"), false),
            (Some("top"), Some("top/GEMINI.md"), true),
            (Some("top"), Some("top/beside/GEMINI.md"), false),
            (Some("top"), Some("GEMINI.md"), false),
            (Some("top/project"), Some("top/GEMINI.md"), false),
            (
                Some("top/project"),
                Some("top/project/.git/GEMINI.md"),
                false,
            ),
            (None, Some("top/project/AGENTS.md"), false),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            let project = root.path().join("top/project");
            fs::create_dir_all(&project).expect("writable");
            if let Some(repository) = repository {
                fs::create_dir_all(root.path().join(repository).join(".git")).expect("writable");
            }
            if let Some(file) = file {
                let file = root.path().join(file);
                fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
                fs::write(file, "Use tabs.").expect("writable");
            }

            let found = find(&project);

            assert_eq!(
                found.is_some(),
                expected,
                "{repository:?} {file:?} {found:?}"
            );
        }
    }

    #[test]
    fn a_broken_link_counts() {
        let root = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("gone", root.path().join(NAME)).expect("writable");

        assert!(find(root.path()).is_some());
    }
}
