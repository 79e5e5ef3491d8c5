//! The files of the project.

use std::fs;

use autonoe_core::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, Journal, Mode, Project, ProjectError,
    RunLock, SandboxSwitch,
};

use super::finding::Finding;
use crate::error::whole;

/// What is told of a directory that is no project.
pub(super) fn unusable(error: &ProjectError) -> Finding {
    Finding::explained_problem("project", whole(error))
}

/// Looks at the files of the project, but for its configuration.
pub(super) fn files(project: &Project) -> Vec<Finding> {
    let mut findings = vec![
        Finding::good("project", project.root().display().to_string()),
        specification(project),
        ledger(project),
        journal(project),
    ];
    match RunLock::held(project) {
        Ok(None) => {}
        Ok(Some(held)) => findings.push(Finding::explained_problem("run lock", held.to_string())),
        Err(error) => findings.push(Finding::explained_problem("run lock", whole(&error))),
    }
    findings
}

/// Looks at `agent.json`, and returns what it comes to.
pub(super) fn config(
    project: &Project,
    switch: SandboxSwitch,
) -> Result<(Finding, EffectiveConfig), Finding> {
    const NAME: &str = "agent.json";
    let problem = |error| Finding::explained_problem(NAME, whole(&error));
    let config = AgentConfig::load(project.config_path()).map_err(problem)?;
    let found = match config {
        Some(_) => "valid",
        None => "there is none; what is built in counts",
    };
    let effective = EffectiveConfig::merge(config, Mode::Run, switch).map_err(problem)?;
    Ok((Finding::good(NAME, found), effective))
}

fn specification(project: &Project) -> Finding {
    const NAME: &str = "SPEC.md";
    let path = match project.specification() {
        Ok(path) => path,
        Err(ProjectError::NoSpecification { .. }) => {
            let remedy = "write what you want into it, or let `autonoe init` begin one";
            return Finding::problem(NAME, "there is none", remedy);
        }
        Err(error) => return Finding::explained_problem(NAME, whole(&error)),
    };
    match fs::read(&path) {
        Err(error) => Finding::problem(
            NAME,
            format!("it cannot be read: {error}"),
            "check its owner and permissions",
        ),
        Ok(bytes) if bytes.trim_ascii().is_empty() => {
            Finding::problem(NAME, "it is blank", "write down what is to be built")
        }
        Ok(bytes) => Finding::good(NAME, format!("{} bytes", bytes.len())),
    }
}

fn ledger(project: &Project) -> Finding {
    const NAME: &str = "status.json";
    match FileDeliverableRepository::at(project.status_path()).load_now() {
        Err(error) => Finding::explained_problem(NAME, whole(&error)),
        Ok(None) => Finding::good(NAME, "there is none yet"),
        Ok(Some(snapshot)) => {
            let counts = snapshot.state.ledger.counts();
            let found = format!("{} of {} deliverables passed", counts.passed, counts.total);
            Finding::good(NAME, found)
        }
    }
}

fn journal(project: &Project) -> Finding {
    const NAME: &str = "journal";
    match Journal::read(&project.journal_path()) {
        Err(error) => Finding::explained_problem(NAME, whole(&error)),
        Ok(journal) => match journal.stories().len() {
            0 => Finding::good(NAME, "there is none yet"),
            1 => Finding::good(NAME, "1 run"),
            runs => Finding::good(NAME, format!("{runs} runs")),
        },
    }
}
