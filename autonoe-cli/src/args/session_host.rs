//! Options of `autonoe session-host`.

use autonoe_core::{Destructive, Mode, ThinkingBudget};
use clap::Args;

use super::agent::model;
use super::money_and_time::thinking;
use super::{AgentArgs, LimitArgs, ModeChoice, OutputArgs, OutputFormat, ProjectArgs};
use crate::compose::BackendChoice;

/// Options of `autonoe session-host`.
///
/// They are those of `autonoe run` that are about single sessions. What a run may spend, and when
/// it ends, is the business of the engine that drives it.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Worker programs start this command in a project, with pipes, and ask one question \
    in lines of JSON. When their end is closed before the answer, the session is let go: its agent \
    is ended and nothing is recorded. There is no reason to call it by hand.\n\n\
    Exit codes: 0 it has answered, 1 failure, 2 wrong usage, 130 whoever asked is gone."
)]
pub(crate) struct SessionHostArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// What the run is for
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    mode: ModeChoice,
    /// What runs the agent, as for `autonoe run` [default: that of .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND", help_heading = "Agent")]
    backend: Option<BackendChoice>,
    /// The model [default: the backend's own]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model, help_heading = "Agent")]
    model: Option<String>,
    /// The model of sessions that plan [default: that of the others]
    #[arg(long, short = 'P', value_name = "MODEL", value_parser = model, help_heading = "Agent")]
    plan_model: Option<String>,
    /// Let the agent think, with 1024 tokens or more [default: off; without a number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking, help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// Let the agent use `rm` and `mv` inside the project, `git clean` and `git push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
    /// Switch the sandbox of the agent off; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long, help_heading = "Safety")]
    no_sandbox: bool,
}

impl SessionHostArgs {
    pub(crate) fn mode(&self) -> Mode {
        self.mode.into()
    }

    pub(crate) fn destructive(&self) -> Destructive {
        match self.allow_destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        }
    }

    /// Returns which agent works. It has no limits of its own.
    pub(crate) fn agent(&self) -> AgentArgs {
        AgentArgs {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: self.plan_model.clone(),
            thinking: self.thinking,
            limits: LimitArgs::default(),
            no_sandbox: self.no_sandbox,
        }
    }

    /// Returns how a session is shown: standard output is for who asked.
    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs {
            debug: false,
            quiet: true,
            output: OutputFormat::Text,
        }
    }
}
