//! Results that are pages or pictures, in a file of the user's choice.

use std::fs;
use std::path::Path;

use autonoe_core::Project;

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Writes `what`, for example `the page`, where `--output` says: to standard output for `-`, else
/// to a file, whose path is the result then.
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
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    if folder.is_some_and(|folder| folder.starts_with(project.state_dir())) {
        return Err(CliError::usage(format!(
            "{what} would stand among the files of Autonoe; name another place with --output"
        )));
    }
    fs::write(&path, text).map_err(|error| {
        CliError::failure(format!("{} cannot be written: {error}", path.display())).with_hint(
            format!("name another file with --output, or print {what} with --output -"),
        )
    })?;
    surroundings.say(&format!("{}\n", path.display()))
}
