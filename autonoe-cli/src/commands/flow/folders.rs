//! Where flows are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::Project;

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// The folder of a flow, and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowFolder {
    /// The name of the folder, or the path by which it was asked for.
    pub(super) name: String,
    /// The whole path.
    pub(super) path: PathBuf,
}

/// Returns the folder that holds the flows of a project.
pub(in crate::commands) fn flows_dir(project: &Project) -> PathBuf {
    project.state_dir().join("flows")
}

/// Finds all flows of a project, by name.
///
/// Every folder counts, also one that could not be run: who made it wants to hear why.
pub(super) fn all(project: &Project) -> Result<Vec<FlowFolder>, CliError> {
    let dir = flows_dir(project);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(&dir, &error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&dir, &error))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') {
            folders.push(FlowFolder { name, path });
        }
    }
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folders)
}

fn unreadable(dir: &Path, error: &io::Error) -> CliError {
    CliError::failure(format!("{} cannot be read: {error}", dir.display()))
}

/// Finds the flow that `word` means: a path if there is a `/` in it, else a flow of the project.
pub(super) fn named(
    word: &str,
    project: &Project,
    surroundings: &Surroundings,
) -> Result<FlowFolder, CliError> {
    if is_path(word) {
        return Ok(FlowFolder {
            name: word.to_owned(),
            path: surroundings.working_dir.join(word),
        });
    }
    let known = all(project)?;
    if let Some(found) = known.iter().find(|folder| folder.name == word) {
        return Ok(found.clone());
    }
    let names: Vec<_> = known.iter().map(|folder| folder.name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => format!("this project has none; to name a folder elsewhere, write ./{word}"),
        names => format!(
            "this project has {}; to name a folder elsewhere, write ./{word}",
            names.join(", ")
        ),
    };
    Err(CliError::usage(format!("there is no flow {word:?}")).with_hint(hint))
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word == "." || word == ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_a_name_by_its_spelling() {
        for (word, is_so) in [
            ("review", false),
            ("review.v2", false),
            ("./review", true),
            (".autonoe/flows/review", true),
            ("/srv/flows/review", true),
            (".", true),
            ("..", true),
        ] {
            assert_eq!(is_path(word), is_so, "{word}");
        }
    }
}
