//! Checks the files of the project, for `autonoe doctor`.

use std::fs;
use std::io;
use std::path::Path;

use autonoe_app::text::pluralize;
use autonoe_core::agent::ProbeFinding;
use autonoe_core::event::InstructionName;
use autonoe_core::project::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, Journal, ProjectError,
    ProjectInstructions, ProjectRunError, RunLock, SandboxSwitch, StatusRecord,
};
use autonoe_core::{Mode, Project};

use crate::error::error_chain;

/// Checks the files of the project, except its configuration.
pub(super) fn files(project: &Project) -> Vec<ProbeFinding> {
    let mut findings = vec![
        writable(project),
        specification(project),
        ledger(project),
        journal(project),
    ];
    findings.extend(instructions(project));
    match RunLock::held(project) {
        Ok(None) => {}
        Ok(Some(held)) => findings.push(ProbeFinding::explained_problem(
            "run lock",
            held.to_string(),
        )),
        Err(error) => findings.push(ProbeFinding::explained_problem(
            "run lock",
            error_chain(&error),
        )),
    }
    findings
}

/// Checks `agent.json`, and returns the effective configuration of a run.
pub(super) fn config(
    project: &Project,
    switch: SandboxSwitch,
) -> Result<(ProbeFinding, EffectiveConfig), ProbeFinding> {
    const NAME: &str = "agent.json";
    let problem = |error| ProbeFinding::explained_problem(NAME, error_chain(&error));
    let config = AgentConfig::load(project.config_path()).map_err(problem)?;
    let found = match config {
        Some(_) => "valid",
        None => "not found; using the built-in defaults",
    };
    let effective = EffectiveConfig::merge(config, Mode::Run, switch).map_err(problem)?;
    let found = match effective.warnings() {
        [] => ProbeFinding::good(NAME, found),
        warnings => ProbeFinding::explained_warning(NAME, warnings.join("; ")),
    };
    Ok((found, effective))
}

fn specification(project: &Project) -> ProbeFinding {
    const NAME: &str = "SPEC.md";
    match project.specification() {
        Ok(found) => {
            let bytes = fs::metadata(found.path()).map_or(0, |found| found.len());
            ProbeFinding::good(NAME, format!("{bytes} bytes"))
        }
        Err(ProjectError::NoSpecification { .. }) => {
            let remedy = "create it with `autonoe init`, then describe what to build";
            ProbeFinding::problem(NAME, "not found", remedy)
        }
        Err(error) => ProbeFinding::explained_problem(NAME, error_chain(&error)),
    }
}

/// Checks by writing, because owners and permissions do not show everything that prevents it.
fn writable(project: &Project) -> ProbeFinding {
    const NAME: &str = "project";
    let root = project.root().display();
    let (path, source) = match project.check_writable() {
        Ok(()) => return ProbeFinding::good(NAME, root.to_string()),
        Err(ProjectError::Unwritable { path, source }) => (path, source),
        Err(error) => return ProbeFinding::explained_problem(NAME, error_chain(&error)),
    };
    let found = format!("{} cannot be written to: {source}", path.display());
    ProbeFinding::problem(NAME, found, remedy(source.kind(), &path))
}

/// Returns the remedy for a path that cannot be written to.
fn remedy(kind: io::ErrorKind, path: &Path) -> String {
    match kind {
        io::ErrorKind::ReadOnlyFilesystem => {
            "mount the file system for writing, or use a copy of the project on another one"
                .to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space on the file system".to_owned()
        }
        io::ErrorKind::PermissionDenied => format!(
            "run as its owner, or change the owner: sudo chown -R \"$(id -u)\" {}",
            shell_quoted(path)
        ),
        _ => "check the owner, the permissions and the free space".to_owned(),
    }
}

/// Quotes a path for a shell.
fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn ledger(project: &Project) -> ProbeFinding {
    const NAME: &str = "status.json";
    match FileDeliverableRepository::from_path(project.status_path()).load_now() {
        Err(error) => ProbeFinding::explained_problem(NAME, error_chain(&error)),
        Ok(None) => match project.check_journal_has_no_deliverables() {
            Ok(()) => ProbeFinding::good(NAME, "not created yet"),
            Err(ProjectRunError::Ledger(error)) => {
                ProbeFinding::explained_problem(NAME, error_chain(&error))
            }
            // The finding about the journal gives the reason.
            Err(_) => ProbeFinding::good(NAME, "not found"),
        },
        Ok(Some(snapshot)) => {
            let warnings = StatusRecord::field_warnings(&snapshot.state);
            if !warnings.is_empty() {
                return ProbeFinding::explained_warning(NAME, warnings.join("; "));
            }
            let counts = snapshot.state.ledger.counts();
            let found = format!("{} of {} deliverables passed", counts.passed, counts.total);
            ProbeFinding::good(NAME, found)
        }
    }
}

fn journal(project: &Project) -> ProbeFinding {
    const NAME: &str = "journal";
    match Journal::read(&project.journal_path()) {
        Err(error) => ProbeFinding::explained_problem(NAME, error_chain(&error)),
        Ok(journal) => match journal.run_histories().len() {
            0 => ProbeFinding::good(NAME, "not created yet"),
            runs => ProbeFinding::good(NAME, pluralize(runs as u64, "run")),
        },
    }
}

/// Checks the instructions of the project. Those of a sync do not prevent a run.
fn instructions(project: &Project) -> Vec<ProbeFinding> {
    let texts = ProjectInstructions::new(project.state_dir());
    let names = [
        (InstructionName::Initializer, true),
        (InstructionName::Coding, true),
        (InstructionName::Sync, false),
        (InstructionName::Verify, false),
    ];
    let mut findings = Vec::new();
    for (name, is_of_run) in names {
        let Err(error) = texts.find(&name) else {
            continue;
        };
        let (name, found) = (format!("{name}.md"), error_chain(&error));
        findings.push(if is_of_run {
            ProbeFinding::explained_problem(name, found)
        } else {
            ProbeFinding::explained_warning(name, found)
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_error_has_its_own_remedy() {
        for (kind, words) in [
            (io::ErrorKind::ReadOnlyFilesystem, "mount the file system"),
            (io::ErrorKind::StorageFull, "free space"),
            (io::ErrorKind::QuotaExceeded, "free space"),
            (io::ErrorKind::PermissionDenied, r"'/srv/it'\''s'"),
            (io::ErrorKind::Other, "check the owner"),
        ] {
            let remedy = remedy(kind, Path::new("/srv/it's"));
            assert!(remedy.contains(words), "{kind}: {remedy}");
        }
    }
}
