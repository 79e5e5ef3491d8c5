//! `autonoe init`.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use autonoe_core::{Project, write_new_file};

use super::schema;
use crate::args::InitArgs;
use crate::columns::columns;
use crate::error::CliError;
use crate::surroundings::Surroundings;

const SPECIFICATION: &str = include_str!("init/SPEC.md");
const CONFIGURATION: &str = include_str!("init/agent.json");

/// Writes what a project begins with. What is there is left as it is.
pub(crate) fn init(args: &InitArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let state_dir = project.ensure_state_dir()?;
    let schema = schema::text("agent-config")?;
    let files = [
        (project.root().join("SPEC.md"), SPECIFICATION),
        (project.config_path(), CONFIGURATION),
        (state_dir.join("agent.schema.json"), schema.as_str()),
    ];
    let mut rows = Vec::new();
    for (path, text) in &files {
        let done = match write_new(path, text)? {
            Written::New => "wrote",
            Written::NotTouched => "left alone",
        };
        rows.push([done.to_owned(), shown(path, &project)]);
    }
    surroundings.say(&format!(
        "{}\nWrite into SPEC.md what you want. `autonoe doctor` looks whether a run could start, \
         `autonoe run` starts one.\n",
        columns(0, &rows)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What became of a file.
enum Written {
    New,
    NotTouched,
}

/// Writes a file if there is nothing in its place, be it a symlink that leads nowhere.
fn write_new(path: &Path, text: &str) -> Result<Written, CliError> {
    match write_new_file(path, text.as_bytes()) {
        Ok(()) => Ok(Written::New),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Written::NotTouched),
        Err(error) => Err(CliError::failure(format!(
            "{} cannot be written: {error}",
            path.display()
        ))),
    }
}

fn shown(path: &Path, project: &Project) -> String {
    let inside = path.strip_prefix(project.root()).unwrap_or(path);
    inside.display().to_string()
}

#[cfg(test)]
mod tests {
    use autonoe_core::AgentConfig;

    use super::*;

    #[test]
    fn the_first_configuration_is_one_that_is_understood() {
        let config = AgentConfig::parse(CONFIGURATION, Path::new("agent.json"));

        let schema = config.map(|config| config.schema).expect("it is valid");
        assert_eq!(schema.as_deref(), Some("./agent.schema.json"));
    }
}
