//! `GatedValidator`, which judges a command by the Bash policy and the gate of a run.

use std::path::PathBuf;

use autonoe_app::SessionSetup;
use autonoe_app::text::sanitize_line;
use autonoe_core::gate::policy::{BashValidator, Denial, Explanation, Layer, Policy, Verdict};
use autonoe_core::gate::{Gate, GateDecision, SymlinksOnDisk};
use autonoe_core::project::{AgentConfig, EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::SpecContext;
use autonoe_core::{Mode, SessionRunner, ToolCall};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::args::{CheckArgs, destructive};
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Guards that apply to every project. All other denials come from settings.
const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

/// Judges commands as a run in the project does.
///
/// The policy explains its verdict. The gate also consults the other guards, the hooks and the
/// grants.
pub(super) struct GatedValidator {
    validator: BashValidator,
    gate: Gate,
    project: PathBuf,
    mode: Mode,
    runtime: Runtime,
}

impl GatedValidator {
    /// Builds the validator from the options and the settings of the project.
    pub(super) fn build(args: &CheckArgs, env: &CliEnv) -> Result<Self, CliError> {
        let project = args.project.find(env)?;
        let config = AgentConfig::load(project.config_path())?;
        let destructive = destructive(args.allow_destructive);
        let mode: Mode = args.mode.into();
        let effective = EffectiveConfig::merge(config, mode, SandboxSwitch::default())?
            .destructive(destructive);
        for warning in effective.warnings() {
            env.print_note(&format!("warning: {}", sanitize_line(warning)));
        }
        let mut bash = effective.bash().clone();
        if !args.profiles.is_empty() {
            bash.profiles = Some(args.profiles.iter().copied().collect());
        }
        let project_paths = match env.home() {
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
        let gate = SessionSetup::new(None, None, env)
            .apply(builder)
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

    /// Judges `command`. The verdict is the decision of the gate.
    pub(super) fn explain(&self, command: &str) -> Explanation {
        let mut found = self.validator.explain(command);
        let call = ToolCall::new("Bash", json!({ "command": command }))
            .in_dir(&self.project)
            .in_mode(self.mode);
        let decision = self.runtime.block_on(self.gate.decide(&call));
        if let (GateDecision::Deny { by, reason, remedy }, true) =
            (decision, found.verdict.is_allowed())
        {
            let layer = if GUARDS.contains(&by.as_str()) {
                Layer::Baseline
            } else {
                Layer::User
            };
            let mut denial = Denial::new(by, layer, reason);
            denial.remedy = remedy.map(Into::into);
            found.verdict = Verdict::Deny(denial);
        }
        found
    }
}
