//! Results that are pages or pictures, in a file of the user's choice.

use std::io;
use std::path::{Component, Path};

use autonoe_core::{Project, ProjectPaths, replace_file_durably};

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Writes `what`, for example `the page`, where `--output` says: to standard output for `-`, else
/// to a file, whose path is the result then.
///
/// Agents can create symlinks in the project, so none is followed there.
pub(super) fn write_output(
    text: &str,
    output: &Path,
    what: &str,
    project: &Project,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    if output == Path::new("-") {
        return surroundings.say(text);
    }
    let path = surroundings.working_dir.join(output);
    check(&path, what, project)?;
    let written = replace_output(&path, text.as_bytes());
    written.map_err(|error| {
        CliError::failure(format!("{} cannot be written: {error}", path.display())).with_hint(
            format!("name another file with --output, or print {what} with --output -"),
        )
    })?;
    surroundings.say(&format!("{}\n", path.display()))
}

/// Checks that the folder of `path` is where its path says, and not among the files of Autonoe.
fn check(path: &Path, what: &str, project: &Project) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    let Ok(real) = folder.canonicalize() else {
        return Ok(());
    };
    let mut state = ProjectPaths::STATE_FOLDERS.iter();
    if state.any(|name| real.starts_with(project.root().join(name))) {
        return Err(CliError::usage(format!(
            "{what} would stand among the files of Autonoe; name another place with --output"
        )));
    }
    let mut roots = [Some(project.root()), project.link()].into_iter().flatten();
    let goes_up = folder.components().any(|part| part == Component::ParentDir);
    let seems_inside = !goes_up && roots.any(|root| folder.starts_with(root));
    match seems_inside && !real.starts_with(project.root()) {
        true => Err(CliError::failure(format!(
            "a symlink in {} leads out of the project",
            folder.display()
        ))
        .with_hint(format!(
            "remove it, name another file with --output, or print {what} with --output -"
        ))),
        false => Ok(()),
    }
}

/// Replaces the file at `path`. Anything else than a file is left as it is.
fn replace_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(io::Error::other("it is a symlink")),
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => replace_file_durably(path, bytes),
    }
}
