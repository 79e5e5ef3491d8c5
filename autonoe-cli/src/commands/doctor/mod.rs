//! `autonoe doctor`.

mod backend;
mod finding;
mod model;
mod programs;
mod project;
mod sandbox;

use std::process::ExitCode;

use autonoe_core::{
    BackendProbe, EffectiveConfig, Mode, ProbeFinding, Project, SandboxSwitch, SessionField,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::backend::Place;
use self::finding::shown;
use crate::args::DoctorArgs;
use crate::compose::{
    ChosenBackend, ChosenModel, ModelsFile, NoModel, misread_sandbox, sandbox_switch,
};
use crate::error::CliError;
use crate::exit_code;
use crate::surroundings::Surroundings;

/// Looks whether a run could start, and says what is in its way.
pub(crate) fn doctor(args: &DoctorArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    let switch = sandbox_switch(args.no_sandbox, surroundings);
    let found = runtime.block_on(examine(args, switch, surroundings));
    let can_run = !found.findings.iter().any(ProbeFinding::is_problem);
    match args.json {
        true => surroundings.say_json(&Examination {
            can_run,
            backend: found.backend,
            findings: &found.findings,
            backends: &found.backends,
        })?,
        false => surroundings.say(&shown(&found.findings, &found.backends, can_run))?,
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
    /// The backend that was looked for.
    backend: String,
    /// All that was looked at for a run on this backend.
    findings: &'a [ProbeFinding],
    /// All backends that there are: the one that was looked for, and the others with nothing
    /// said of them.
    backends: &'a [BackendProbe],
}

/// All that was found.
struct Found {
    backend: String,
    findings: Vec<ProbeFinding>,
    backends: Vec<BackendProbe>,
}

async fn examine(args: &DoctorArgs, switch: SandboxSwitch, surroundings: &Surroundings) -> Found {
    let project = args.project.find(surroundings);
    let found = project.as_ref().ok();
    let (backend, unusable) = match ChosenBackend::find(args.backend.as_ref(), found) {
        Ok(backend) => (backend, None),
        Err(error) => (ChosenBackend::default(), Some(error)),
    };
    let model = args.model.as_deref();
    let on_model = backend.on_model(model, found, surroundings);
    let spec = backend.spec(surroundings).ok().flatten();
    let (mut findings, backends) =
        look(&backend, on_model.as_ref(), found, switch, surroundings).await;
    let misread = misread_sandbox(args.no_sandbox, surroundings);
    findings.extend(misread.map(sandbox::misread));
    findings.push(programs::git(surroundings));
    match project {
        Err(error) => findings.push(project::unusable(&error)),
        Ok(project) => {
            let (of_project, effective) =
                examine_project(&project, switch, on_model, unusable.as_ref(), surroundings);
            findings.extend(of_project);
            let model = args.model.as_ref().map(|_| SessionField::Model);
            let fields = effective.iter().flat_map(EffectiveConfig::session_fields);
            let fields = fields.chain(model);
            findings.extend(spec.and_then(|spec| backend::unclaimed_field(&*spec, fields)));
        }
    }
    Found {
        backend: backend.choice.to_string(),
        findings,
        backends,
    }
}

/// Looks at the backend of a run, and at all others.
async fn look(
    backend: &ChosenBackend,
    on_model: Option<&Result<ChosenModel, NoModel>>,
    project: Option<&Project>,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> (Vec<ProbeFinding>, Vec<BackendProbe>) {
    let models = project.and_then(|project| ModelsFile::load(project).ok().flatten());
    let place = Place {
        root: project.map_or(&surroundings.working_dir, |project| project.root()),
        models: &models.unwrap_or_default(),
        surroundings,
    };
    let mut findings = backend::named(backend);
    let tag = backend.choice.tag();
    let chosen = async {
        match (on_model, backend.spec(surroundings)) {
            (Some(chosen), _) => {
                let found = model::findings(chosen, project, switch, surroundings).await;
                (backend::on_model(&found), found)
            }
            (None, Ok(Some(spec))) => {
                let probe = place.look(backend, &*spec).await;
                let found = backend::findings(tag, &probe, &*spec, switch);
                (probe, found)
            }
            (None, Ok(None)) => (BackendProbe::new(tag), Vec::new()),
            (None, Err(error)) => {
                let finding = backend::unusable(&error);
                (
                    BackendProbe::new(tag).finding(finding.clone()),
                    vec![finding],
                )
            }
        }
    };
    let ((probe, found), mut backends) = tokio::join!(chosen, place.look_at_others(tag));
    findings.extend(found);
    backends.push(probe);
    backends.sort_by(|one, other| one.backend.cmp(&other.backend));
    (findings, backends)
}

/// Looks at the project and its configuration, and returns that if it is valid.
fn examine_project(
    project: &Project,
    switch: SandboxSwitch,
    on_model: Option<Result<ChosenModel, NoModel>>,
    unusable: Option<&CliError>,
    surroundings: &Surroundings,
) -> (Vec<ProbeFinding>, Option<EffectiveConfig>) {
    let mut findings = project::files(project);
    match project::config(project, switch) {
        Err(problem) => {
            findings.push(problem);
            (findings, None)
        }
        Ok((found, effective)) => {
            // What only we understand of the file may be wrong all the same.
            findings.push(match unusable {
                Some(error) => project::misconfigured(error),
                None => found,
            });
            findings.push(policy(&effective));
            findings.extend(match on_model {
                Some(Ok(chosen)) => model::servers(&chosen, project, &effective, surroundings),
                // That there is no such model was found already.
                Some(Err(_)) => Vec::new(),
                None => programs::servers(&effective, surroundings),
            });
            (findings, Some(effective))
        }
    }
}

/// Says in short what agents may do.
fn policy(effective: &EffectiveConfig) -> ProbeFinding {
    debug_assert_eq!(effective.mode(), Mode::Run);
    let bash = effective.bash();
    let profiles = bash.profiles.iter().flatten();
    let profiles: Vec<_> = profiles.map(|profile| profile.name()).collect();
    let mut parts = vec![match profiles.is_empty() {
        true => "commands of no language".to_owned(),
        false => format!("commands of {}", profiles.join(", ")),
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
