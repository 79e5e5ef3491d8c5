//! [`ProjectMemory`], a project's memory file as a section of a system prompt.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::agent::SessionSpec;

/// A memory file of a project, such as `AGENTS.md`, as a section of a system prompt.
///
/// It is for backends whose program does not read the file itself.
///
/// ```
/// use autonoe_core::gate::{Gate, Grants, ProjectPaths};
/// use autonoe_core::run::ProjectMemory;
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::Toolbox;
/// use autonoe_core::{RunId, SessionSpec};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// std::fs::write(project.join("AGENTS.md"), "Indent with tabs.")?;
/// let key = SessionKey { run: RunId::new("run"), number: 1 };
/// let gate = Gate::new(ProjectPaths::new(project), Grants::none());
/// let mut spec = SessionSpec::new(key, project, gate, Toolbox::new([]));
///
/// let memory = ProjectMemory::read(&spec, "AGENTS.md");
/// assert!(memory.section.is_some_and(|text| text.contains("Indent with tabs.")));
///
/// spec.project_memory = false;
/// assert_eq!(ProjectMemory::read(&spec, "AGENTS.md").section, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectMemory {
    /// The section, with a heading. `None` if there is nothing to add.
    pub section: Option<String>,
    /// The reason why the agent gets less than the whole file.
    pub warning: Option<String>,
}

impl ProjectMemory {
    /// The largest part of a file that is used. The rest is cut off.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Reads the file `name` in the directory of the session.
    ///
    /// There is no section if [`SessionSpec::project_memory`] is off, or if the file is missing or
    /// blank. A file that cannot be read is skipped with a warning. So is a link that leads outside
    /// the directory: an agent could have created it.
    pub fn read(spec: &SessionSpec, name: &str) -> Self {
        if !spec.project_memory {
            return Self::default();
        }
        match read_inside(&spec.cwd, name) {
            Ok(Found::Text { text, is_cut }) => Self::new(name, &text, is_cut),
            Ok(Found::Nothing) => Self::default(),
            Ok(Found::NotAFile) => Self::skipped(name, "it is not a regular file"),
            Ok(Found::Outside) => Self::skipped(name, "it is a link to a file outside the project"),
            Err(error) => Self::skipped(name, &error.to_string()),
        }
    }

    fn new(name: &str, text: &str, is_cut: bool) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::default();
        }
        let limit = Self::MAX_BYTES / 1024;
        let note = if is_cut {
            format!("\n\n[{name} is cut here, after {limit} KiB. Read the file for the rest.]")
        } else {
            String::new()
        };
        Self {
            section: Some(format!(
                "Instructions for coding agents from {name} of this project:\n\n\
                 <project_memory>\n{text}{note}\n</project_memory>"
            )),
            warning: is_cut.then(|| {
                format!(
                    "{name} is larger than {limit} KiB, so the agent receives only its \
                     beginning"
                )
            }),
        }
    }

    fn skipped(name: &str, reason: &str) -> Self {
        Self {
            section: None,
            warning: Some(format!("{name} is not given to the agent: {reason}")),
        }
    }
}

/// The entry at a path in a project.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Text { text: String, is_cut: bool },
    Nothing,
    NotAFile,
    Outside,
}

/// Reads the file `name` in `project`. Links are followed as long as they stay in `project`.
fn read_inside(project: &Path, name: &str) -> io::Result<Found> {
    let path = project.join(name);
    let resolved = match path.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if !resolved.starts_with(project.canonicalize()?) {
        return Ok(Found::Outside);
    }
    // Checked before it is opened: opening a pipe waits for its writer.
    if !resolved.metadata()?.is_file() {
        return Ok(Found::NotAFile);
    }
    let file = File::open(&resolved)?;
    // A process can replace the file by a link between the check and the opening.
    if path.canonicalize()? != resolved
        || !is_same_file(&resolved.symlink_metadata()?, &file.metadata()?)
    {
        return Ok(Found::Outside);
    }
    let mut bytes = Vec::new();
    let limit = ProjectMemory::MAX_BYTES;
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > limit;
    bytes.truncate(limit);
    let text = String::from_utf8_lossy(&bytes);
    // The cut may be in the middle of a character.
    let text = if is_cut {
        text.trim_end_matches(char::REPLACEMENT_CHARACTER)
    } else {
        &text
    };
    Ok(Found::Text {
        text: text.to_owned(),
        is_cut,
    })
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.file_type() == other.file_type() && one.len() == other.len()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::gate::{Gate, Grants, ProjectPaths};
    use crate::time::{RunId, SessionKey};
    use crate::tool::Toolbox;

    const NAME: &str = "AGENTS.md";

    fn spec(project: &Path) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new(project), Grants::none());
        SessionSpec::new(key, project, gate, Toolbox::new([]))
    }

    /// Creates a folder with a project and a file beside it, and reads the memory of the project.
    fn memory(arrange: impl FnOnce(&Path) -> io::Result<()>) -> ProjectMemory {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        fs::create_dir(&project).expect("writable");
        fs::write(folder.path().join("outside.md"), "outside").expect("writable");
        arrange(&project).expect("it can be arranged");
        ProjectMemory::read(&spec(&project), NAME)
    }

    #[test]
    fn the_text_is_a_section_with_a_heading() {
        let memory = memory(|project| fs::write(project.join(NAME), "\nUse tabs.\n\n"));

        let expected = "Instructions for coding agents from AGENTS.md of this project:\n\n\
                        <project_memory>\nUse tabs.\n</project_memory>";
        assert_eq!(memory.section.as_deref(), Some(expected));
        assert_eq!(memory.warning, None);
    }

    #[test]
    fn a_missing_or_blank_file_and_a_missing_project_have_no_section() {
        let blank = memory(|project| fs::write(project.join(NAME), " \n"));
        let broken_link = memory(|project| symlink("gone", project.join(NAME)));

        for memory in [
            memory(|_| Ok(())),
            blank,
            broken_link,
            memory(|project| fs::remove_dir(project)),
        ] {
            assert_eq!(memory, ProjectMemory::default());
        }
    }

    #[test]
    fn nothing_is_read_when_project_memory_is_off() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(NAME), "Use tabs.").expect("writable");
        let mut spec = spec(folder.path());
        spec.project_memory = false;

        assert_eq!(ProjectMemory::read(&spec, NAME), ProjectMemory::default());
    }

    #[test]
    fn links_inside_the_project_are_followed() {
        let beside = memory(|project| {
            fs::write(project.join("CLAUDE.md"), "Use tabs.")?;
            symlink("CLAUDE.md", project.join(NAME))
        });
        let below = memory(|project| {
            fs::create_dir(project.join("docs"))?;
            fs::write(project.join("docs/agents.md"), "Use tabs.")?;
            symlink(project.join("docs/agents.md"), project.join(NAME))
        });

        for memory in [beside, below] {
            assert!(
                memory
                    .section
                    .is_some_and(|text| text.contains("Use tabs."))
            );
            assert_eq!(memory.warning, None);
        }
    }

    #[test]
    fn links_to_outside_are_not_followed() {
        let direct = memory(|project| symlink("../outside.md", project.join(NAME)));
        let absolute = memory(|project| symlink("/etc/passwd", project.join(NAME)));
        let by_folder = memory(|project| {
            symlink("..", project.join("docs"))?;
            symlink("docs/outside.md", project.join(NAME))
        });

        for memory in [direct, absolute, by_folder] {
            assert_eq!(memory.section, None);
            let warning = memory.warning.expect("a warning");
            assert!(warning.contains("outside the project"), "{warning}");
        }
    }

    #[test]
    fn anything_but_a_regular_file_is_skipped_with_a_warning() {
        let folder = memory(|project| fs::create_dir(project.join(NAME)));
        let socket =
            memory(|project| std::os::unix::net::UnixListener::bind(project.join(NAME)).map(drop));

        for memory in [folder, socket] {
            assert_eq!(memory.section, None);
            let warning = memory.warning.expect("a warning");
            assert!(warning.contains("not a regular file"), "{warning}");
        }
    }

    #[test]
    fn a_large_file_is_cut_between_characters_with_a_note() {
        let max = ProjectMemory::MAX_BYTES;
        let whole = memory(|project| fs::write(project.join(NAME), "a".repeat(max)));
        assert_eq!(whole.warning, None);

        // The limit is in the middle of a character of two bytes.
        let memory =
            memory(|project| fs::write(project.join(NAME), format!("a{}", "ä".repeat(max))));

        let section = memory.section.expect("a section");
        let text = format!(
            "a{}\n\n[AGENTS.md is cut here, after 64 KiB.",
            "ä".repeat(max / 2 - 1)
        );
        assert!(section.contains(&text));
        let warning = memory.warning.expect("a warning");
        assert!(warning.contains("larger than 64 KiB"), "{warning}");
    }
}
