//! `autonoe doctor`: checks whether a run could start.

mod backend;
mod model;
mod programs;
mod project;

use std::process::ExitCode;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_app::{
    BackendChoice, ChosenBackend, ChosenModel, FindModelError, ModelsFile, exit_code,
    invalid_sandbox_warning, sandbox_switch,
};
use autonoe_core::agent::{Availability, BackendProbe, ProbeFinding, ProbeState, SessionField};
use autonoe_core::project::{EffectiveConfig, SandboxSwitch};
use autonoe_core::{Mode, Project};
use schemars::JsonSchema;
use serde::Serialize;

use self::backend::{ProbeContext, SANDBOX};
use super::runtime::runtime;
use crate::args::DoctorArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns_within;
use crate::error::CliError;

/// Checks whether a run could start, and prints the problems.
pub(crate) fn doctor(args: &DoctorArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let runtime = runtime()?;
    let switch = sandbox_switch(args.no_sandbox, env);
    let report = runtime.block_on(examine(args, switch, env));
    env.print_as(args.json, &report, |report| report.format(env.columns))?;
    Ok(exit_code::success_if(report.can_run))
}

/// Output of `autonoe doctor --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoctorReport {
    /// Whether a run can start: no finding is a problem.
    can_run: bool,
    /// The checked backend.
    backend: String,
    /// All findings for a run on this backend.
    findings: Vec<ProbeFinding>,
    /// All backends: the checked one, and the others without findings.
    backends: Vec<BackendProbe>,
}

async fn examine(args: &DoctorArgs, switch: SandboxSwitch, env: &CliEnv) -> DoctorReport {
    let project = args.project.find(env);
    let known_project = project.as_ref().ok();
    let (backend, unusable) = match ChosenBackend::find(args.backend.as_ref(), known_project) {
        Ok(backend) => (backend, None),
        Err(error) => (ChosenBackend::default(), Some(error)),
    };
    let model = args.model.as_deref();
    let on_model = backend.on_model(model, known_project, env);
    let spec = backend.spec(env).ok().flatten();
    let (mut findings, backends) =
        probe(&backend, on_model.as_ref(), known_project, switch, env).await;
    let misread = invalid_sandbox_warning(args.no_sandbox, env);
    findings.extend(misread.map(|found| ProbeFinding::explained_warning(SANDBOX, found)));
    findings.push(programs::git(env));
    match project {
        Err(error) => findings.push(problem("project", &error)),
        Ok(project) => {
            let (of_project, effective) =
                examine_project(&project, switch, on_model, unusable.as_ref(), env);
            findings.extend(of_project);
            let model = args.model.as_ref().map(|_| SessionField::Model);
            let fields = effective
                .iter()
                .flat_map(EffectiveConfig::session_fields)
                .chain(model);
            findings.extend(spec.and_then(|spec| backend::unclaimed_field(&*spec, fields)));
        }
    }
    DoctorReport {
        can_run: !findings.iter().any(ProbeFinding::is_problem),
        backend: backend.choice.to_string(),
        findings,
        backends,
    }
}

/// Probes the backend of a run, and all other backends.
async fn probe(
    backend: &ChosenBackend,
    on_model: Option<&Result<ChosenModel, FindModelError>>,
    project: Option<&Project>,
    switch: SandboxSwitch,
    env: &CliEnv,
) -> (Vec<ProbeFinding>, Vec<BackendProbe>) {
    let models = project.and_then(|project| ModelsFile::load(project).ok().flatten());
    let place = ProbeContext {
        root: project.map_or(&env.working_dir, |project| project.root()),
        models: &models.unwrap_or_default(),
        env,
    };
    let mut findings = backend::source_findings(backend);
    let tag = backend.choice.tag();
    let chosen = async {
        match (on_model, backend.spec(env)) {
            (Some(chosen), _) => {
                let found = model::findings(chosen, project, switch, env).await;
                (backend::model_entry(&found), found)
            }
            (None, Ok(Some(spec))) => {
                let probe = place.probe(backend, &*spec).await;
                let found = backend::findings(tag, &probe, &*spec, switch);
                (probe, found)
            }
            (None, Ok(None)) => (BackendProbe::new(tag), Vec::new()),
            (None, Err(error)) => {
                let finding = problem("backend", &error);
                (
                    BackendProbe::new(tag).finding(finding.clone()),
                    vec![finding],
                )
            }
        }
    };
    let ((probe, found), mut backends) = tokio::join!(chosen, place.probe_others(tag));
    findings.extend(found);
    backends.push(probe);
    backends.sort_by(|one, other| one.backend.cmp(&other.backend));
    (findings, backends)
}

/// Checks the project and its configuration. Returns the configuration if it is valid.
fn examine_project(
    project: &Project,
    switch: SandboxSwitch,
    on_model: Option<Result<ChosenModel, FindModelError>>,
    unusable: Option<&CliError>,
    env: &CliEnv,
) -> (Vec<ProbeFinding>, Option<EffectiveConfig>) {
    let mut findings = project::files(project);
    match project::config(project, switch) {
        Err(problem) => {
            findings.push(problem);
            (findings, None)
        }
        Ok((found, effective)) => {
            // The command may reject parts of the file that the core accepts.
            findings.push(match unusable {
                Some(error) => ProbeFinding::explained_problem("agent.json", error.to_string()),
                None => found,
            });
            findings.push(policy(&effective));
            findings.extend(match on_model {
                Some(Ok(chosen)) => model::servers(&chosen, project, &effective, env),
                // The missing model is reported already.
                Some(Err(_)) => Vec::new(),
                None => programs::servers(&effective, env),
            });
            (findings, Some(effective))
        }
    }
}

/// Reports an error of the command with its hint.
fn problem(name: &str, error: &CliError) -> ProbeFinding {
    match error.hint() {
        Some(remedy) => ProbeFinding::problem(name, error.to_string(), remedy),
        None => ProbeFinding::explained_problem(name, error.to_string()),
    }
}

/// Summarises the permissions of agents.
fn policy(effective: &EffectiveConfig) -> ProbeFinding {
    debug_assert_eq!(effective.mode(), Mode::Run);
    let bash = effective.bash();
    let profiles: Vec<_> = bash
        .profiles
        .iter()
        .flatten()
        .map(|profile| profile.name())
        .collect();
    let mut parts = vec![if profiles.is_empty() {
        "no language profiles".to_owned()
    } else {
        format!("commands of {}", profiles.join(", "))
    }];
    let added = Vec::from_iter(bash.allow_commands.in_mode(effective.mode()));
    if !added.is_empty() {
        parts.push(format!("besides {}", added.join(", ")));
    }
    let grants = effective.grants().rules().count();
    parts.push(format!("{grants} permission rules"));
    let hooks = effective.hooks().len();
    if hooks > 0 {
        parts.push(format!("{hooks} hooks of your own"));
    }
    ProbeFinding::good("policy", parts.join("; "))
}

impl DoctorReport {
    /// Formats the findings and the backends as text, in lines of at most `width`. Nothing is cut.
    fn format(&self, width: Option<usize>) -> String {
        let mut rows = Vec::new();
        for finding in &self.findings {
            let mark = match finding.state {
                ProbeState::Good => "ok",
                ProbeState::Warning => "warning",
                ProbeState::Problem => "problem",
            };
            rows.push([
                mark.to_owned(),
                shorten(&finding.name),
                sanitize_line(finding.found.trim()),
            ]);
            let remedy = finding.remedy.as_deref();
            rows.extend(remedy.map(|remedy| {
                let remedy = format!("-> {}", sanitize_line(remedy.trim()));
                [String::new(), String::new(), remedy]
            }));
        }
        let problems = self.findings.iter().filter(|finding| finding.is_problem());
        let verdict = match (self.can_run, problems.count()) {
            (true, _) => "A run can start.".to_owned(),
            (false, 1) => "1 problem prevents a run.".to_owned(),
            (false, count) => format!("{count} problems prevent a run."),
        };
        let backends: Vec<_> = self.backends.iter().map(row).collect();
        format!(
            "{}\nValues of `--backend`:\n{}\n{verdict}\n",
            columns_within(0, &rows, width),
            columns_within(2, &backends, width)
        )
    }
}

/// Formats the availability of a backend in one row.
fn row(probe: &BackendProbe) -> [String; 3] {
    let (state, summary) = match probe.availability {
        Availability::Available => ("available", probe.summary()),
        Availability::Unavailable => ("unavailable", probe.summary()),
        Availability::Incomplete => {
            let form = BackendChoice::form_of(&probe.backend);
            let usage = form.map(|form| format!("write {form}"));
            ("", usage.unwrap_or_else(|| probe.summary()))
        }
    };
    [
        shorten(&probe.backend),
        state.to_owned(),
        sanitize_line(summary.trim()),
    ]
}
