//! The files of the project.

use std::fs;
use std::io;
use std::path::Path;

use autonoe_core::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, Journal, Mode, ProbeFinding, Project,
    ProjectError, ProjectRunError, RunLock, SandboxSwitch,
};

use crate::error::{CliError, whole};

/// What is told of a directory that is no project.
pub(super) fn unusable(error: &CliError) -> ProbeFinding {
    let found = error.to_string();
    match error.hint() {
        Some(remedy) => ProbeFinding::problem("project", found, remedy),
        None => ProbeFinding::explained_problem("project", found),
    }
}

/// Looks at the files of the project, but for its configuration.
pub(super) fn files(project: &Project) -> Vec<ProbeFinding> {
    let mut findings = vec![
        writable(project),
        specification(project),
        ledger(project),
        journal(project),
    ];
    match RunLock::held(project) {
        Ok(None) => {}
        Ok(Some(held)) => findings.push(ProbeFinding::explained_problem(
            "run lock",
            held.to_string(),
        )),
        Err(error) => findings.push(ProbeFinding::explained_problem("run lock", whole(&error))),
    }
    findings
}

/// Checks `agent.json`, and returns the configuration of a run with it.
pub(super) fn config(
    project: &Project,
    switch: SandboxSwitch,
) -> Result<(ProbeFinding, EffectiveConfig), ProbeFinding> {
    const NAME: &str = "agent.json";
    let problem = |error| ProbeFinding::explained_problem(NAME, whole(&error));
    let config = AgentConfig::load(project.config_path()).map_err(problem)?;
    let found = match config {
        Some(_) => "valid",
        None => "there is none; what is built in counts",
    };
    let effective = EffectiveConfig::merge(config, Mode::Run, switch).map_err(problem)?;
    let found = match effective.warnings() {
        [] => ProbeFinding::good(NAME, found),
        warnings => ProbeFinding::explained_warning(NAME, warnings.join("; ")),
    };
    Ok((found, effective))
}

/// What is told of an `agent.json` whose mistake only the command knows.
pub(super) fn misconfigured(error: &CliError) -> ProbeFinding {
    ProbeFinding::explained_problem("agent.json", error.to_string())
}

fn specification(project: &Project) -> ProbeFinding {
    const NAME: &str = "SPEC.md";
    match project.specification() {
        Ok(path) => {
            let bytes = fs::metadata(path).map_or(0, |found| found.len());
            ProbeFinding::good(NAME, format!("{bytes} bytes"))
        }
        Err(ProjectError::NoSpecification { .. }) => {
            let remedy = "write what you want into it, or let `autonoe init` begin one";
            ProbeFinding::problem(NAME, "there is none", remedy)
        }
        Err(error) => ProbeFinding::explained_problem(NAME, whole(&error)),
    }
}

/// Tries to write, for owners and permissions do not tell of all that forbids it.
fn writable(project: &Project) -> ProbeFinding {
    const NAME: &str = "project";
    let root = project.root().display();
    let (path, source) = match project.check_writable() {
        Ok(()) => return ProbeFinding::good(NAME, root.to_string()),
        Err(ProjectError::Unwritable { path, source }) => (path, source),
        Err(error) => return ProbeFinding::explained_problem(NAME, whole(&error)),
    };
    let found = format!("{} cannot be written to: {source}", path.display());
    ProbeFinding::problem(NAME, found, remedy(source.kind(), &path))
}

/// Says what to do about a path that cannot be written to.
fn remedy(kind: io::ErrorKind, path: &Path) -> String {
    match kind {
        io::ErrorKind::ReadOnlyFilesystem => {
            "mount its file system for writing, or work in a copy elsewhere".to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on its file system".to_owned()
        }
        io::ErrorKind::PermissionDenied => format!(
            "run as its owner, or make it yours: sudo chown -R \"$(id -u)\" {}",
            quoted(path)
        ),
        _ => "check its owner and permissions, and the space left".to_owned(),
    }
}

/// Writes a path as a shell reads it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn ledger(project: &Project) -> ProbeFinding {
    const NAME: &str = "status.json";
    match FileDeliverableRepository::at(project.status_path()).load_now() {
        Err(error) => ProbeFinding::explained_problem(NAME, whole(&error)),
        Ok(None) => match project.check_journal_has_no_deliverables() {
            Ok(()) => ProbeFinding::good(NAME, "there is none yet"),
            Err(ProjectRunError::Ledger(error)) => {
                ProbeFinding::explained_problem(NAME, whole(&error))
            }
            // The line of the journal says why.
            Err(_) => ProbeFinding::good(NAME, "there is none"),
        },
        Ok(Some(snapshot)) => {
            let counts = snapshot.state.ledger.counts();
            let found = format!("{} of {} deliverables passed", counts.passed, counts.total);
            ProbeFinding::good(NAME, found)
        }
    }
}

fn journal(project: &Project) -> ProbeFinding {
    const NAME: &str = "journal";
    match Journal::read(&project.journal_path()) {
        Err(error) => ProbeFinding::explained_problem(NAME, whole(&error)),
        Ok(journal) => match journal.stories().len() {
            0 => ProbeFinding::good(NAME, "there is none yet"),
            1 => ProbeFinding::good(NAME, "1 run"),
            runs => ProbeFinding::good(NAME, format!("{runs} runs")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_to_write_has_its_own_remedy() {
        for (kind, words) in [
            (io::ErrorKind::ReadOnlyFilesystem, "mount its file system"),
            (io::ErrorKind::StorageFull, "make room"),
            (io::ErrorKind::QuotaExceeded, "make room"),
            (io::ErrorKind::PermissionDenied, r"'/srv/it'\''s'"),
            (io::ErrorKind::Other, "check its owner"),
        ] {
            let remedy = remedy(kind, Path::new("/srv/it's"));
            assert!(remedy.contains(words), "{kind}: {remedy}");
        }
    }
}
