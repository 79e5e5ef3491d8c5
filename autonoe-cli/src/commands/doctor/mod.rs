//! `autonoe doctor`.

mod agent;
mod finding;
mod model;
mod programs;
mod project;
mod sandbox;

use std::process::ExitCode;

use autonoe_core::{EffectiveConfig, Mode, Project, SandboxSwitch};
use schemars::JsonSchema;
use serde::Serialize;

use self::finding::{Finding, shown};
use crate::args::DoctorArgs;
use crate::compose::{BackendChoice, misread_sandbox, sandbox_switch};
use crate::error::CliError;
use crate::exit_code;
use crate::surroundings::Surroundings;

/// Looks whether a run could start, and says what is in its way.
pub(crate) fn doctor(args: &DoctorArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let switch = sandbox_switch(args.no_sandbox, surroundings);
    let findings = examine(args, switch, surroundings)?;
    let can_run = !findings.iter().any(Finding::is_problem);
    match args.json {
        true => surroundings.say_json(&Examination {
            can_run,
            findings: &findings,
        })?,
        false => surroundings.say(&shown(&findings, can_run))?,
    }
    Ok(match can_run {
        true => ExitCode::SUCCESS,
        false => exit_code::FAILURE.into(),
    })
}

/// What `autonoe doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Examination<'a> {
    /// Whether a run could start: nothing of what was found is a problem.
    can_run: bool,
    /// All that was looked at.
    findings: &'a [Finding],
}

fn examine(
    args: &DoctorArgs,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Result<Vec<Finding>, CliError> {
    let project = args.project.find(surroundings);
    let found = project.as_ref().ok();
    let model = args.model.as_deref();
    let on_model = args.backend.on_model(model, found, surroundings);
    let mut findings = match &args.backend {
        BackendChoice::Claude => {
            let mut findings = agent::findings(surroundings)?;
            findings.push(sandbox::finding(switch, surroundings));
            findings
        }
        other => match &on_model {
            Some(chosen) => model::findings(chosen, found, switch, surroundings),
            None => Vec::from_iter(found.map(|project| backend(other, project, surroundings))),
        },
    };
    let misread = misread_sandbox(args.no_sandbox, surroundings);
    findings.extend(misread.map(sandbox::misread));
    findings.push(programs::git(surroundings));
    let project = match project {
        Ok(project) => project,
        Err(error) => {
            findings.push(project::unusable(&error));
            return Ok(findings);
        }
    };
    findings.extend(project::files(&project));
    match project::config(&project, switch) {
        Err(problem) => findings.push(problem),
        Ok((found, effective)) => {
            findings.push(found);
            findings.push(policy(&effective));
            findings.extend(match on_model {
                Some(Ok(chosen)) => model::servers(&chosen, &project, &effective, surroundings),
                // That there is no such model was found already.
                Some(Err(_)) => Vec::new(),
                None => programs::servers(&effective, surroundings),
            });
        }
    }
    Ok(findings)
}

/// Looks whether a backend that is told in JSON can be built.
fn backend(choice: &BackendChoice, project: &Project, surroundings: &Surroundings) -> Finding {
    const NAME: &str = "backend";
    match choice.build(project, Mode::Run, None, surroundings) {
        Ok(_) => Finding::good(NAME, "it can be built"),
        Err(error) => Finding::explained_problem(NAME, error.to_string()),
    }
}

/// Says in short what agents may do.
fn policy(effective: &EffectiveConfig) -> Finding {
    debug_assert_eq!(effective.mode(), Mode::Run);
    let bash = effective.bash();
    let profiles: Vec<_> = bash.profiles.iter().map(|profile| profile.name()).collect();
    let mut parts = vec![match profiles.is_empty() {
        true => "commands of no language".to_owned(),
        false => format!("commands of {}", profiles.join(", ")),
    }];
    let added = Vec::from_iter(bash.commands());
    if !added.is_empty() {
        parts.push(format!("besides {}", added.join(", ")));
    }
    let grants = effective.grants().rules().count();
    parts.push(format!("{grants} permission rules"));
    let hooks = effective.hooks().len();
    if hooks > 0 {
        parts.push(format!("{hooks} hooks of your own"));
    }
    Finding::good("policy", parts.join("; "))
}
