//! `autonoe init`: writes the first files of a project.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use autonoe_core::Project;
use autonoe_core::project::write_new_file;

use super::schema;
use crate::args::InitArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns;
use crate::error::CliError;

const SPECIFICATION: &str = include_str!("init/SPEC.md");
const CONFIGURATION: &str = include_str!("init/agent.json");

/// Writes the first files of a project. Existing files are left unchanged.
pub(crate) fn init(args: &InitArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let state_dir = project.ensure_state_dir()?;
    let schema = schema::schema_text("agent-config")?;
    let files = [
        (project.root().join("SPEC.md"), SPECIFICATION),
        (project.config_path(), CONFIGURATION),
        (state_dir.join("agent.schema.json"), schema.as_str()),
    ];
    let mut rows = Vec::new();
    for (path, text) in &files {
        rows.push([
            write_new(path, text)?.to_owned(),
            display_path(path, &project),
        ]);
    }
    env.print(&format!(
        "{}\nDescribe what to build in SPEC.md. `autonoe doctor` checks whether a run can start, \
         and `autonoe run` starts one.\n",
        columns(0, &rows)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file unless the path exists, even as a dangling symlink. Returns what was done.
fn write_new(path: &Path, text: &str) -> Result<&'static str, CliError> {
    match write_new_file(path, text.as_bytes()) {
        Ok(()) => Ok("wrote"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok("kept"),
        Err(error) => Err(CliError::failure(format!(
            "{} cannot be written: {error}",
            path.display()
        ))),
    }
}

fn display_path(path: &Path, project: &Project) -> String {
    let relative = path.strip_prefix(project.root()).unwrap_or(path);
    relative.display().to_string()
}

#[cfg(test)]
mod tests {
    use autonoe_core::project::AgentConfig;

    use super::*;

    #[test]
    fn the_first_configuration_is_valid() {
        let config = AgentConfig::parse(CONFIGURATION, Path::new("agent.json"));

        let schema = config.map(|config| config.schema).expect("it is valid");
        assert_eq!(schema.as_deref(), Some("./agent.schema.json"));
    }
}
