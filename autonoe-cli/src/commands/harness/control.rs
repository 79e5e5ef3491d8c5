//! `autonoe harness send`, `pause`, `resume`, `stop` and `kill`: commands that control a fleet.

use std::process::ExitCode;

use autonoe_harness::folder::FolderError;
use autonoe_harness::handle::HandleError;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetHome, MemberHandle};
use schemars::JsonSchema;
use serde::Serialize;

use super::fleet_selection::{FleetSelection, control_error, select_fleet};
use crate::args::{HarnessKillArgs, HarnessMemberArgs, HarnessSendArgs, HarnessStopArgs};
use crate::cli_env::CliEnv;
use crate::commands::runtime::block_on;
use crate::error::{CliError, OrFailure};

/// Sends a message to the agent of a member.
pub(super) fn send(args: &HarnessSendArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    if args.text.trim().is_empty() {
        return Err(CliError::usage("the message is empty"));
    }
    block_on(async {
        let chosen = select_fleet(&args.selection, env).await?;
        let member = chosen.member(&args.member)?;
        let handle = chosen.handle(&member)?;
        let sent = handle.send_instruction(&args.text).await;
        let number = sent.map_err(|error| control_error(&error, &member))?;
        let message =
            format!("{member} gets the message in its next turn, if it has one (message {number})");
        let request = HarnessRequest {
            instruction: Some(number),
            ..new_request(&chosen, "send", Some(member))
        };
        env.print_as(args.json, &request, |_| format!("{message}\n"))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Pauses a member or the fleet: no new work starts until it is resumed.
pub(super) fn pause(args: &HarnessMemberArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    block_on(async {
        let state = "starts no new work until it is resumed";
        perform(
            (args, "pause", state),
            async |member| member.pause().await,
            |home, fleet| home.request_pause(fleet),
            env,
        )
        .await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Resumes a member or the fleet.
pub(super) fn resume(args: &HarnessMemberArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    block_on(async {
        let chosen = perform(
            (args, "resume", "is resumed"),
            async |member| member.resume().await,
            |home, fleet| home.request_resume(fleet),
            env,
        )
        .await?;
        hint_without_coordinator(&chosen, "resumes it", env)
    })
}

/// Stops a member or the fleet gracefully.
pub(super) fn stop(args: &HarnessStopArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let reason = &args.reason;
    block_on(async {
        let chosen = perform(
            (&args.target, "stop", "is stopping"),
            async |member| member.stop(reason).await,
            |home, fleet| home.request_stop(fleet, reason),
            env,
        )
        .await?;
        hint_without_coordinator(&chosen, "ends it", env)
    })
}

/// Performs an action on a member or on the whole fleet, and prints the request with the new state.
async fn perform(
    (args, action, state): (&HarnessMemberArgs, &'static str, &str),
    on_member: impl AsyncFnOnce(&MemberHandle) -> Result<(), HandleError>,
    on_fleet: impl FnOnce(&FleetHome, &str) -> Result<(), FolderError>,
    env: &CliEnv,
) -> Result<FleetSelection, CliError> {
    let chosen = running_fleet(args, env).await?;
    let member = requested_member(&chosen, args)?;
    match &member {
        Some(member) => on_member(&chosen.handle(member)?)
            .await
            .map_err(|error| control_error(&error, member))?,
        None => on_fleet(&chosen.home, chosen.name()).or_failure()?,
    }
    let message = format!("{} {state}", target(&chosen, member.as_ref()));
    let request = new_request(&chosen, action, member);
    env.print_as(args.json, &request, |_| format!("{message}\n"))?;
    Ok(chosen)
}

/// Kills a member or the fleet with all processes that it started, and waits until they have ended.
pub(super) fn kill(args: &HarnessKillArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let HarnessKillArgs {
        target: args,
        after,
    } = args;
    block_on(async {
        let chosen = running_fleet(args, env).await?;
        let member = requested_member(&chosen, args)?;
        let all = match &member {
            Some(member) => vec![member.clone()],
            None => {
                // Stops the fleet first, so that no member replaces a killed one.
                chosen
                    .home
                    .request_stop(chosen.name(), "killed")
                    .or_failure()?;
                chosen.started()?
            }
        };
        let mut killed = Vec::new();
        for member in &all {
            let handle = chosen.handle(member)?;
            killed.push(async move {
                let killed = handle.kill(*after).await;
                killed.map_err(|error| control_error(&error, member))
            });
        }
        for killed in futures::future::join_all(killed).await {
            killed?;
        }
        let message = format!("{} was killed", target(&chosen, member.as_ref()));
        let request = HarnessRequest {
            members: all,
            ..new_request(&chosen, "kill", member)
        };
        env.print_as(args.json, &request, |_| format!("{message}\n"))?;
        hint_without_coordinator(&chosen, "ends it", env)
    })
}

/// Finds the fleet. Returns an error if it has ended.
async fn running_fleet(args: &HarnessMemberArgs, env: &CliEnv) -> Result<FleetSelection, CliError> {
    let chosen = select_fleet(&args.selection, env).await?;
    match chosen.fleet.result {
        None => Ok(chosen),
        Some(_) => {
            let message = format!("the fleet {} has ended", chosen.name());
            let error = CliError::failure(message);
            Err(error.with_hint("run `autonoe harness status` to see the result"))
        }
    }
}

fn requested_member(
    chosen: &FleetSelection,
    args: &HarnessMemberArgs,
) -> Result<Option<MemberId>, CliError> {
    let member = args.member.as_deref();
    member.map(|name| chosen.member(name)).transpose()
}

fn target(chosen: &FleetSelection, member: Option<&MemberId>) -> String {
    match member {
        Some(member) => member.to_string(),
        None => format!("the fleet {}", chosen.name()),
    }
}

fn new_request(
    chosen: &FleetSelection,
    action: &'static str,
    member: Option<MemberId>,
) -> HarnessRequest {
    let all = || chosen.fleet.member_ids().cloned();
    HarnessRequest {
        fleet: chosen.name().to_owned(),
        action,
        whole_fleet: member.is_none(),
        members: member.map_or_else(|| all().collect(), |member| vec![member]),
        instruction: None,
    }
}

/// Prints a hint if no coordinator runs the fleet: only the next `run` performs the request.
fn hint_without_coordinator(
    chosen: &FleetSelection,
    does: &str,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let coordinator = chosen.home.coordinator(chosen.name());
    if coordinator.or_failure()?.is_none() {
        env.print_note(&format!(
            "  hint: this fleet has no coordinator now; the `autonoe harness run` command that \
             started it {does}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Output of `autonoe harness send`, `pause`, `resume`, `stop` and `kill` with `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct HarnessRequest {
    /// The fleet.
    fleet: String,
    /// The request: `send`, `pause`, `resume`, `stop` or `kill`.
    action: &'static str,
    /// Whether the request was for the whole fleet, including members that were not started.
    whole_fleet: bool,
    /// The members that received the request.
    members: Vec<MemberId>,
    /// The number of the instruction, for `send`.
    instruction: Option<u64>,
}
