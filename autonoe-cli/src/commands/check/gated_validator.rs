//! The Bash policy and the gate of a run, asked about one command.

use std::path::PathBuf;

use autonoe_core::{
    AgentConfig, BashValidator, Denial, Destructive, EffectiveConfig, Explanation, Gate,
    GateDecision, Layer, Mode, Policy, SandboxSwitch, SessionRunner, SpecContext, SymlinksOnDisk,
    ToolCall, Verdict,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::args::CheckArgs;
use crate::compose::Equipment;
use crate::error::CliError;
use crate::present::harmless_line;
use crate::surroundings::Surroundings;

/// Guards that hold for every project; other blocks come from settings.
const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

/// Judges commands as a run in the project does: by the policy, which explains its verdict, and
/// by the gate, which also asks the other guards, the hooks and the grants.
pub(super) struct GatedValidator {
    validator: BashValidator,
    gate: Gate,
    project: PathBuf,
    mode: Mode,
    runtime: Runtime,
}

impl GatedValidator {
    /// Builds it from the options and the settings of the project.
    pub(super) fn build(args: &CheckArgs, surroundings: &Surroundings) -> Result<Self, CliError> {
        let project = args.project.find(surroundings)?;
        let config = AgentConfig::load(project.config_path())?;
        let destructive = match args.allow_destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        };
        let mode: Mode = args.mode.into();
        let effective = EffectiveConfig::merge(config, mode, SandboxSwitch::default())?
            .destructive(destructive);
        for warning in effective.warnings() {
            surroundings.note(&format!("warning: {}", harmless_line(warning)));
        }
        let mut bash = effective.bash().clone();
        if !args.profiles.is_empty() {
            bash.profiles = Some(args.profiles.iter().copied().collect());
        }
        let project_paths = match surroundings.home() {
            Some(home) => project.paths().with_home(home),
            None => project.paths(),
        };
        let policy = Policy::new(project_paths.policy_scope(mode), bash)
            .map_err(|error| CliError::failure(error.to_string()))?;
        let validator = BashValidator::new(policy).with_symlinks(SymlinksOnDisk);
        let mut builder = SessionRunner::builder(&project_paths.project);
        if let Some(link) = &project_paths.project_link {
            builder = builder.project_link(link);
        }
        let builder = effective.apply(builder, &SpecContext::new(project_paths.clone()))?;
        let gate = Equipment::new(None, None, surroundings)
            .put_into(builder)
            .bash_security(validator.clone())
            .build_gate()
            .map_err(|error| CliError::failure(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
        Ok(Self {
            validator,
            gate,
            project: project_paths.project,
            mode,
            runtime,
        })
    }

    /// Judges `command`; the verdict is the decision of the gate.
    pub(super) fn explain(&self, command: &str) -> Explanation {
        let mut found = self.validator.explain(command);
        let call = ToolCall::new("Bash", json!({ "command": command }))
            .in_dir(&self.project)
            .in_mode(self.mode);
        let decision = self.runtime.block_on(self.gate.decide(&call));
        if let (GateDecision::Deny { by, reason, remedy }, true) =
            (decision, found.verdict.is_allowed())
        {
            let layer = match GUARDS.contains(&by.as_str()) {
                true => Layer::Baseline,
                false => Layer::User,
            };
            let mut denial = Denial::new(by, layer, reason);
            denial.remedy = remedy.map(Into::into);
            found.verdict = Verdict::Deny(denial);
        }
        found
    }
}
