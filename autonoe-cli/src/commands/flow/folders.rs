//! Finds the folders of flows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_app::text::flows_dir;
use autonoe_core::Project;

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// The folder of a flow and its display name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowFolder {
    /// The name of the folder, or the path from the command line.
    pub(super) name: String,
    /// The full path.
    pub(super) path: PathBuf,
}

/// Finds all flows of a project, sorted by name.
///
/// Invalid flows are included, so that their errors are reported.
pub(super) fn find_all(project: &Project) -> Result<Vec<FlowFolder>, CliError> {
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

/// Finds the flow for `argument`: a path if it contains a `/`, otherwise a flow of the project.
pub(super) fn find(
    argument: &str,
    project: &Project,
    env: &CliEnv,
) -> Result<FlowFolder, CliError> {
    if is_path(argument) {
        return Ok(FlowFolder {
            name: argument.to_owned(),
            path: env.working_dir.join(argument),
        });
    }
    let known = find_all(project)?;
    if let Some(found) = known.iter().find(|folder| folder.name == argument) {
        return Ok(found.clone());
    }
    let names: Vec<_> = known.iter().map(|folder| folder.name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => format!(
            "this project has no flows; to select another folder, write a path such as ./{argument}"
        ),
        names => format!(
            "this project has {}; to select another folder, write a path such as ./{argument}",
            names.join(", ")
        ),
    };
    Err(CliError::usage(format!("unknown flow {argument:?}")).with_hint(hint))
}

fn is_path(argument: &str) -> bool {
    argument.contains('/') || argument == "." || argument == ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_distinguished_from_a_name_by_its_spelling() {
        for (word, expected) in [
            ("review", false),
            ("review.v2", false),
            ("./review", true),
            (".autonoe/flows/review", true),
            ("/srv/flows/review", true),
            (".", true),
            ("..", true),
        ] {
            assert_eq!(is_path(word), expected, "{word}");
        }
    }
}
