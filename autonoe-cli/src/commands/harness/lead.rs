//! `autonoe harness send`, `pause`, `resume`, `stop` and `kill`.

use std::process::ExitCode;

use autonoe_harness::{HarnessHandle, HarnessId};

use super::asked::HarnessAsked;
use super::which::{Chosen, chosen, not_led};
use super::{broken, waiting};
use crate::args::{HarnessKillArgs, HarnessMemberArgs, HarnessSendArgs, HarnessStopArgs};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Tells the agent of a member something.
pub(super) fn send(
    args: &HarnessSendArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    if args.text.trim().is_empty() {
        return Err(CliError::usage("there is nothing to tell"));
    }
    waiting(async {
        let chosen = chosen(&args.which, surroundings).await?;
        let member = chosen.member(&args.member)?;
        let handle = chosen.handle(&member)?;
        let sent = handle.send_instruction(&args.text).await;
        let number = sent.map_err(|error| not_led(&error, &member))?;
        let words =
            format!("{member} is told in its next turn, if it has one (instruction {number})");
        let asked = HarnessAsked {
            instruction: Some(number),
            ..asked(&chosen, "send", Some(member))
        };
        asked.tell(args.json, &words, surroundings)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Has a member or the fleet begin nothing more.
pub(super) fn pause(
    args: &HarnessMemberArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    waiting(async {
        let chosen = under_way(args, surroundings).await?;
        let member = named(&chosen, args)?;
        match &member {
            Some(member) => {
                let paused = chosen.handle(member)?.pause().await;
                paused.map_err(|error| not_led(&error, member))?;
            }
            None => {
                let paused = chosen.home.ask_pause(chosen.name());
                paused.map_err(|error| broken(&error))?;
            }
        }
        let words = format!("{} begins nothing more", who(&chosen, member.as_ref()));
        let asked = asked(&chosen, "pause", member);
        asked.tell(args.json, &words, surroundings)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Lets a member or the fleet go on.
pub(super) fn resume(
    args: &HarnessMemberArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    waiting(async {
        let chosen = under_way(args, surroundings).await?;
        let member = named(&chosen, args)?;
        match &member {
            Some(member) => {
                let resumed = chosen.handle(member)?.resume().await;
                resumed.map_err(|error| not_led(&error, member))?;
            }
            None => {
                let resumed = chosen.home.ask_resume(chosen.name());
                resumed.map_err(|error| broken(&error))?;
            }
        }
        let words = format!("{} goes on", who(&chosen, member.as_ref()));
        let asked = asked(&chosen, "resume", member);
        asked.tell(args.json, &words, surroundings)?;
        tell_if_nobody_leads(&chosen, "goes on with it", surroundings)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Ends a member or the fleet in order.
pub(super) fn stop(
    args: &HarnessStopArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let HarnessStopArgs {
        asked: args,
        reason,
    } = args;
    waiting(async {
        let chosen = under_way(args, surroundings).await?;
        let member = named(&chosen, args)?;
        match &member {
            Some(member) => {
                let stopped = chosen.handle(member)?.stop(reason).await;
                stopped.map_err(|error| not_led(&error, member))?;
            }
            None => {
                let stopped = chosen.home.ask_stop(chosen.name(), reason);
                stopped.map_err(|error| broken(&error))?;
            }
        }
        let words = format!("{} was told to end", who(&chosen, member.as_ref()));
        let asked = asked(&chosen, "stop", member);
        asked.tell(args.json, &words, surroundings)?;
        tell_if_nobody_leads(&chosen, "brings it to its end", surroundings)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Ends a member or the fleet with all that it has started, and waits for that.
pub(super) fn kill(
    args: &HarnessKillArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let HarnessKillArgs { asked: args, after } = args;
    waiting(async {
        let chosen = under_way(args, surroundings).await?;
        let member = named(&chosen, args)?;
        let all = match &member {
            Some(member) => vec![member.clone()],
            None => {
                // First, so that nobody is started in the place of who is killed.
                let stopped = chosen.home.ask_stop(chosen.name(), "killed");
                stopped.map_err(|error| broken(&error))?;
                chosen.started()?
            }
        };
        let mut killed = Vec::new();
        for member in &all {
            let handle = chosen.handle(member)?;
            killed.push(async move {
                let killed = handle.kill(*after).await;
                killed.map_err(|error| not_led(&error, member))
            });
        }
        for killed in futures::future::join_all(killed).await {
            killed?;
        }
        let words = format!("{} was killed", who(&chosen, member.as_ref()));
        let asked = HarnessAsked {
            members: all,
            ..asked(&chosen, "kill", member)
        };
        asked.tell(args.json, &words, surroundings)?;
        tell_if_nobody_leads(&chosen, "brings it to its end", surroundings)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Finds the fleet, and refuses one that has ended.
async fn under_way(
    args: &HarnessMemberArgs,
    surroundings: &Surroundings,
) -> Result<Chosen, CliError> {
    let chosen = chosen(&args.which, surroundings).await?;
    match chosen.fleet.result {
        None => Ok(chosen),
        Some(_) => {
            let message = format!("the fleet {} has ended", chosen.name());
            let told = CliError::failure(message);
            Err(told.with_hint("`autonoe harness status` shows what it came to"))
        }
    }
}

fn named(chosen: &Chosen, args: &HarnessMemberArgs) -> Result<Option<HarnessId>, CliError> {
    let member = args.member.as_deref();
    member.map(|name| chosen.member(name)).transpose()
}

fn who(chosen: &Chosen, member: Option<&HarnessId>) -> String {
    match member {
        Some(member) => member.to_string(),
        None => format!("the fleet {}", chosen.name()),
    }
}

fn asked(chosen: &Chosen, action: &'static str, member: Option<HarnessId>) -> HarnessAsked {
    let all = || chosen.fleet.plan.members.iter().map(|(id, _)| id.clone());
    HarnessAsked {
        fleet: chosen.name().to_owned(),
        action,
        whole_fleet: member.is_none(),
        members: member.map_or_else(|| all().collect(), |member| vec![member]),
        instruction: None,
    }
}

/// Says that nothing happens by itself if nobody leads the fleet, and what the next `run` does.
fn tell_if_nobody_leads(
    chosen: &Chosen,
    does: &str,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    let leader = chosen.home.coordinator(chosen.name());
    if leader.map_err(|error| broken(&error))?.is_none() {
        surroundings.note(&format!(
            "  hint: nobody leads this fleet now; the `autonoe harness run` that began it {does}"
        ));
    }
    Ok(())
}
