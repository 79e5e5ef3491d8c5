//! `autonoe check`: judges shell commands by the policy of the project.

mod answer;
mod input;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{io, mem};

use autonoe_app::text::sanitize_line;
use autonoe_app::{AgentOptions, SessionSetup, exit_code};
use autonoe_core::gate::policy::{BashValidator, Denial, Explanation, Layer, Policy, Verdict};
use autonoe_core::gate::{Gate, GateDecision, SymlinksOnDisk};
use autonoe_core::project::{AgentConfig, EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::SpecContext;
use autonoe_core::{Mode, SessionRunner, ToolCall};
use serde_json::json;
use tokio::runtime::Runtime;

pub(super) use self::answer::{Answer, LineAnswer};
use self::answer::{Unanswered, format_verdict};
use self::input::{next_line, parse_command};
use crate::args::CheckArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::results::{ReaderState, write_result};

/// Byte order mark that some editors put before UTF-8 text.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Prints whether an agent may run a command, and why not.
pub(crate) fn check(args: &CheckArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    // A failed check must not look like a denial.
    judge(args, env).map_err(CliError::into_usage)
}

fn judge(args: &CheckArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let validator = GatedValidator::build(args, env)?;
    let command = match args.command.as_deref() {
        None | Some("-") => {
            if io::stdin().is_terminal() {
                env.print_note("reading commands from standard input, one JSON string per line");
            }
            return judge_lines(&validator);
        }
        Some(command) if command.trim().is_empty() => {
            return Err(CliError::usage("the command is empty"));
        }
        Some(command) => command,
    };
    let explanation = validator.explain(command);
    let answer = Answer::new(command, &explanation);
    env.print_as(args.json, &answer, |_| {
        format_verdict(command, &explanation)
    })?;
    Ok(exit_code::success_if(explanation.verdict.is_allowed()))
}

/// Answers every line of standard input with one line of JSON.
fn judge_lines(validator: &GatedValidator) -> Result<ExitCode, CliError> {
    let unreadable =
        |error: io::Error| CliError::failure(format!("standard input cannot be read: {error}"));
    let mut worst = 0;
    let mut answers = 0_u64;
    let mut stdin = io::stdin().lock();
    let mut is_first = true;
    while let Some(line) = next_line(&mut stdin).map_err(unreadable)? {
        let mark: &[u8] = if mem::take(&mut is_first) {
            UTF8_MARK
        } else {
            b""
        };
        let line = line.strip_prefix(mark).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        answers += 1;
        let explanation = parse_command(line).map(|command| {
            let explanation = validator.explain(&command);
            (command, explanation)
        });
        let (answer, code) = match &explanation {
            Ok((command, explanation)) => {
                let is_denied = !explanation.verdict.is_allowed();
                let answer = LineAnswer::Answer(Answer::new(command, explanation));
                (answer, u8::from(is_denied) * exit_code::FAILURE)
            }
            Err(error) => {
                let error = error.clone();
                (
                    LineAnswer::Unanswered(Unanswered { error }),
                    exit_code::USAGE,
                )
            }
        };
        let answer = serde_json::to_string(&answer).map_err(|error| {
            CliError::failure(format!("the output cannot be written as JSON: {error}"))
        })?;
        worst = worst.max(code);
        if write_result(&format!("{answer}\n"))? == ReaderState::Closed {
            // The reader closed the pipe.
            break;
        }
    }
    if answers == 0 {
        // No command was judged, so none was allowed.
        let error = CliError::usage("standard input has no command");
        return Err(error.with_hint("write one JSON string per line, for example \"npm test\""));
    }
    Ok(worst.into())
}

/// Guards that apply to every project. All other denials come from settings.
const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

/// Judges commands as a run in the project does.
///
/// The policy explains its verdict. The gate also consults the other guards, the hooks and the
/// grants.
struct GatedValidator {
    validator: BashValidator,
    gate: Gate,
    project: PathBuf,
    mode: Mode,
    runtime: Runtime,
}

impl GatedValidator {
    /// Builds the validator from the options and the settings of the project.
    fn build(args: &CheckArgs, env: &CliEnv) -> Result<Self, CliError> {
        let project = args.project.find(env)?;
        let config = AgentConfig::load(project.config_path())?;
        let agent = AgentOptions {
            is_destructive: args.allow_destructive,
            ..AgentOptions::default()
        };
        let mode: Mode = args.mode.into();
        let effective = EffectiveConfig::merge(config, mode, SandboxSwitch::default())?
            .destructive(agent.destructive());
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
        let gate = SessionSetup::new(&agent, env)
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
    fn explain(&self, command: &str) -> Explanation {
        let mut explanation = self.validator.explain(command);
        let call = ToolCall::new("Bash", json!({ "command": command }))
            .in_dir(&self.project)
            .in_mode(self.mode);
        let decision = self.runtime.block_on(self.gate.decide(&call));
        if let (GateDecision::Deny { by, reason, remedy }, true) =
            (decision, explanation.verdict.is_allowed())
        {
            let layer = if GUARDS.contains(&by.as_str()) {
                Layer::Baseline
            } else {
                Layer::User
            };
            let mut denial = Denial::new(by, layer, reason);
            denial.remedy = remedy.map(Into::into);
            explanation.verdict = Verdict::Deny(denial);
        }
        explanation
    }
}
