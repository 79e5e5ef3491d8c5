//! Where the engine is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use autonoe_harness::{PipedProgram, ProgramEngine};
use autonoe_process::find_program;

use crate::args::EnginePlaceArgs;
use crate::error::CliError;
use crate::surroundings::{Surroundings, this_program};

/// The program that speaks with the server.
const PROGRAM: &str = "autonoe-worker";

/// Starts the program that has the engine.
pub(super) async fn find(
    args: &EnginePlaceArgs,
    surroundings: &Surroundings,
) -> Result<ProgramEngine, CliError> {
    let directory = &surroundings.working_dir;
    if directory.as_os_str().is_empty() {
        return Err(
            CliError::failure("the working directory is gone").with_hint("go to one that is there")
        );
    }
    let own = this_program();
    let beside = own.as_deref().and_then(Path::parent);
    let path = surroundings.environment.get(OsStr::new("PATH"));
    let program = match &args.engine_program {
        Some(named) => named_program(named, directory)?,
        None => known_program(beside, path.map(OsString::as_os_str))?,
    };
    let program = PipedProgram::new(program, directory)
        .args(arguments(args))
        .envs(surroundings.environment.clone());
    Ok(ProgramEngine::start(&program).await?)
}

fn named_program(named: &Path, directory: &Path) -> Result<PathBuf, CliError> {
    let path = directory.join(named);
    match path.is_file() {
        true => Ok(path),
        false => Err(missing(&named.display().to_string())),
    }
}

/// Finds the program beside this one, else by PATH.
fn known_program(beside: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, CliError> {
    let beside = beside.map(|folder| folder.join(PROGRAM));
    let found = beside.filter(|path| path.is_file());
    found
        .or_else(|| find_program(PROGRAM, path?))
        .ok_or_else(|| missing(PROGRAM))
}

fn missing(name: &str) -> CliError {
    CliError::failure(format!(
        "there is no program {name}, which speaks with the server"
    ))
    .with_hint(
        "`cargo install --locked --path autonoe-temporal/worker` installs autonoe-worker; \
         --engine-program names it",
    )
}

/// Returns what the program is told.
fn arguments(args: &EnginePlaceArgs) -> Vec<OsString> {
    let mut told: Vec<OsString> = vec!["engine".into()];
    let file = args.engine_config.as_deref().map(Path::as_os_str);
    for (option, value) in [
        ("--config", file),
        ("--address", args.address.as_deref().map(OsStr::new)),
        ("--namespace", args.namespace.as_deref().map(OsStr::new)),
        ("--queue", args.queue.as_deref().map(OsStr::new)),
    ] {
        if let Some(value) = value {
            // In one word, so that no value is taken for an option.
            let mut word = OsString::from(option);
            word.push("=");
            word.push(value);
            told.push(word);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder_with_program() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(PROGRAM);
        fs::write(&path, "").expect("writable");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
        folder
    }

    #[test]
    fn the_program_beside_this_one_counts_more_than_one_on_the_path() {
        let (here, there) = (folder_with_program(), folder_with_program());
        let empty = tempfile::tempdir().expect("a folder");
        let path = Some(there.path().as_os_str());

        let beside = known_program(Some(here.path()), path).expect("it is there");
        let by_path = known_program(Some(empty.path()), path).expect("it is there");
        let nowhere = known_program(Some(empty.path()), None).expect_err("there is none");

        assert_eq!(beside, here.path().join(PROGRAM));
        assert_eq!(by_path, there.path().join(PROGRAM));
        let hint = nowhere.hint().expect("what to do");
        assert!(hint.contains("autonoe-temporal/worker"), "{hint}");
    }

    #[test]
    fn a_program_that_was_named_is_no_other_one() {
        let folder = folder_with_program();

        let found = named_program(Path::new(PROGRAM), folder.path());
        let missing = named_program(Path::new("other"), folder.path());

        assert_eq!(found.expect("it is there"), folder.path().join(PROGRAM));
        assert!(missing.is_err());
    }

    #[test]
    fn what_is_said_of_the_server_is_handed_on() {
        let nothing = arguments(&EnginePlaceArgs::default());
        let all = arguments(&EnginePlaceArgs {
            engine_config: Some("c.json".into()),
            address: Some("http://h:1".to_owned()),
            namespace: Some("n".to_owned()),
            queue: Some("--q".to_owned()),
            engine_program: Some("p".into()),
        });

        assert_eq!(nothing, ["engine"]);
        let expected = [
            "engine",
            "--config=c.json",
            "--address=http://h:1",
            "--namespace=n",
            "--queue=--q",
        ];
        assert_eq!(all, expected);
    }
}
