//! The named checks of the suite.

use std::panic::AssertUnwindSafe;

use autonoe_core::tool::ToolStatus;
use futures::FutureExt;

use super::fixture::Subject;
use super::played::PlayedSession;
use super::sessions::{
    COMMAND, Session, Sessions, TEXT, calls_gate, missing, over, pairs, runs, takes_tools,
    text_scenario, two_calls, uses,
};
use super::{
    AgentHarness, calls, control, lifetimes, observer_events, probe_tool, sessions, turns,
    unclaimed,
};
use crate::conformance::checks::{CheckOutcome, Checks, Flaw, panicked};

pub(super) async fn probe(checks: &mut Checks, harness: &dyn AgentHarness) {
    checks
        .run(
            "a probe answers, and twice the same",
            lifetimes::probes_alike(harness),
        )
        .await;
}

pub(super) fn turns(checks: &mut Checks, sessions: &Sessions) {
    checks.each("every turn ends", sessions.all(), |session| match session {
        Ok(PlayedSession {
            label,
            turn: Err(Flaw::Failed(problem)),
            ..
        }) => Err(Flaw::Failed(format!("{label}: {problem}"))),
        Err(Flaw::Failed(problem)) => Err(Flaw::Failed(problem.clone())),
        _ => Ok(()),
    });
    over(
        checks,
        "a turn starts with Started, once",
        sessions.all(),
        turns::starts_once,
    );
    over(
        checks,
        "a turn ends with End or an error, and nothing comes after",
        sessions.all(),
        turns::ends_once,
    );
    over(
        checks,
        "what the agent says arrives",
        [&sessions.says],
        |it| turns::has_text(it, TEXT),
    );
    let completed = sessions.completed();
    over(
        checks,
        "a turn that is finished ends as completed",
        completed,
        turns::completes,
    );
    over(
        checks,
        "an agent that fails does not complete",
        [&sessions.breaks],
        turns::is_no_success,
    );
    over(
        checks,
        "a spent quota is reported with its reset",
        [&sessions.quota],
        turns::hits_quota,
    );
}

pub(super) fn gate(checks: &mut Checks, sessions: &Sessions) {
    let with_calls = sessions.calling();
    pairs(
        checks,
        "every call is answered once, after it was shown",
        &with_calls,
        calls::are_answered_once,
    );
    pairs(
        checks,
        "the gate decides once about every call, before its answer",
        &with_calls,
        |it, count| {
            calls_gate(&sessions.capabilities)?;
            calls::are_gated_once(it, count)
        },
    );
    pairs(
        checks,
        "the gate receives name, input, session, directory and mode",
        &with_calls,
        |it, _| {
            calls_gate(&sessions.capabilities)?;
            calls::are_described(it)
        },
    );
    over(
        checks,
        "a shell command reaches the gate as one",
        [&sessions.command],
        |it| {
            calls_gate(&sessions.capabilities)?;
            calls::is_a_shell_command(it, COMMAND)
        },
    );
    over(
        checks,
        "an allowed call is not answered as denied",
        [&sessions.command],
        |it| calls::have_status(it, &[ToolStatus::Ok, ToolStatus::Error]),
    );
    let denied = [&sessions.denied_command, &sessions.denied_tools];
    over(
        checks,
        "a denied call is answered as denied",
        denied,
        |it| calls::have_status(it, &[ToolStatus::Denied]),
    );
    over(
        checks,
        "the reason of a denial reaches the agent",
        denied,
        calls::reasons_arrive,
    );
    over(
        checks,
        "a denied command does not run",
        [&sessions.denied_command],
        |_| sessions.marker.is_absent(),
    );
    over(
        checks,
        "a denied tool of ours does not run",
        [&sessions.denied_tools],
        calls::do_not_run,
    );
}

pub(super) fn own_tools(checks: &mut Checks, sessions: &Sessions) {
    over(
        checks,
        "our tool runs once and receives its whole input",
        [&sessions.tool],
        |it| calls::run_once_with_their_input(it, &[probe_tool::with_fragile_input()]),
    );
    over(
        checks,
        "the output of our tool reaches the agent",
        [&sessions.tool],
        calls::outputs_arrive,
    );
    let failing = [&sessions.failing_tool];
    over(
        checks,
        "an error of our tool reaches the agent as one",
        failing,
        calls::errors_arrive,
    );
    over(
        checks,
        "tools that are called at once get each their own answer",
        [&sessions.tools_at_once],
        |it| {
            calls::run_once_with_their_input(it, &two_calls())?;
            calls::outputs_arrive(it)
        },
    );
}

pub(super) fn observer_events(checks: &mut Checks, sessions: &Sessions) {
    let claimed = &sessions.capabilities.events;
    let completed = sessions.completed();
    over(
        checks,
        "observers receive the events that the backend claims, and no others",
        completed,
        |it| observer_events::matches_claims(it, claimed),
    );
    over(
        checks,
        "the parts of a model's answer add up to the answer",
        [&sessions.says],
        |it| observer_events::pieces_make_the_answer(it, claimed, TEXT),
    );
    over(
        checks,
        "each model call has its own span and one end",
        sessions.all(),
        observer_events::calls_have_one_end_at_their_place,
    );
    over(
        checks,
        "the usage of the model calls is the usage of the session",
        completed,
        |it| observer_events::usage_adds_up(it, claimed),
    );
    over(
        checks,
        "tokens are reported where the backend claims it",
        completed,
        |it| observer_events::has_tokens(it, sessions.capabilities.tokens),
    );
    over(
        checks,
        "progress that is shown is hidden",
        sessions.all(),
        observer_events::notes_are_hidden,
    );
}

/// Requests each session option that the backend does not claim.
pub(super) async fn unclaimed(checks: &mut Checks, subject: &Subject<'_>, sessions: &Sessions) {
    for field in unclaimed::fields(&sessions.capabilities) {
        let name = field.field.name();
        let check = format!("`{name}` is refused, which the backend does not claim");
        run(
            checks,
            subject,
            &check,
            unclaimed::is_refused(subject, field),
        )
        .await;
    }
}

/// Runs a check, and looks for processes that its sessions left.
async fn run(
    checks: &mut Checks,
    subject: &Subject<'_>,
    check: &str,
    finding: impl Future<Output = CheckOutcome>,
) {
    checks.run(check, finding).await;
    // The process check reports the result.
    let _ = subject.check_leftover_processes(check).await;
}

/// Reports the processes that any session left. Runs after all other checks.
pub(super) fn processes(checks: &mut Checks, subject: &Subject<'_>, sessions: &Sessions) {
    let name = "no process outlives its session";
    let findings = subject.process_findings();
    if findings.is_empty() {
        checks.run_sync(name, || Err(missing(&sessions.says)));
        return;
    }
    checks.each(name, findings, |finding| finding);
}

pub(super) async fn outer_sandbox(checks: &mut Checks, subject: &Subject<'_>, sessions: &Sessions) {
    let claimed = sessions.capabilities.outer_sandbox;
    run(
        checks,
        subject,
        "an agent in the outer sandbox writes to its project alone",
        sessions::agent_is_confined(subject, claimed),
    )
    .await;
}

pub(super) async fn lifetimes(checks: &mut Checks, subject: &Subject<'_>, sessions: &Sessions) {
    let calling = match takes_tools(&sessions.capabilities) {
        Ok(()) => uses([probe_tool::answers(1)]),
        Err(_) => runs(COMMAND),
    };
    let progress = lifetimes::progress_without_polling(subject, &calling);
    run(
        checks,
        subject,
        "gate and tools continue when the stream is not polled",
        async {
            takes_tools(&sessions.capabilities).or(calls_gate(&sessions.capabilities))?;
            progress.await
        },
    )
    .await;
    let calls_probe_tool = uses([probe_tool::answers(1)]);
    let progress = lifetimes::progress_behind_a_slow_gate(subject, &calls_probe_tool);
    run(
        checks,
        subject,
        "a tool runs although the stream is not polled during the decision",
        async {
            takes_tools(&sessions.capabilities).and(calls_gate(&sessions.capabilities))?;
            progress.await
        },
    )
    .await;
    let disposal = |session: &Session| match session {
        Ok(PlayedSession {
            disposal: Err(Flaw::Failed(problem)),
            ..
        }) => Err(Flaw::Failed(problem.clone())),
        Ok(_) => Ok(()),
        Err(_) => Err(missing(session)),
    };
    checks.run_sync("dispose returns after a finished turn", || {
        disposal(&sessions.says)
    });
    checks.run_sync("dispose returns after an error", || {
        disposal(&sessions.breaks)
    });
    let stop = AssertUnwindSafe(lifetimes::stop_sessions(subject)).catch_unwind();
    let outcome = stop.await.unwrap_or_else(|panic| Err(panicked(panic)));
    let stopped = outcome.as_ref().map_err(Flaw::clone);
    checks.run_sync(
        "dispose returns after a stream dropped in the middle",
        || stopped.clone()?.disposal.clone(),
    );
    let unused = lifetimes::dispose_without_a_turn(subject);
    run(
        checks,
        subject,
        "dispose returns when no prompt was sent",
        unused,
    )
    .await;
    checks.run_sync(
        "a client dropped in the middle has no effect on others",
        || stopped.clone()?.starts.clone(),
    );
    let no_process = "no process outlives a session that is stopped";
    match stopped.map(|stopped| &stopped.processes) {
        Ok(found) if !found.is_empty() => checks.each(no_process, found, Clone::clone),
        Ok(_) => checks.run_sync(no_process, || {
            Err(Flaw::Untestable("no session started".into()))
        }),
        Err(flaw) => checks.run_sync(no_process, || Err(flaw)),
    }
    run(
        checks,
        subject,
        "a dropped stream ends the tool that runs",
        async {
            takes_tools(&sessions.capabilities)?;
            lifetimes::a_running_tool_ends(subject).await
        },
    )
    .await;
    let side_by_side = match takes_tools(&sessions.capabilities) {
        Ok(()) => uses(two_calls()),
        Err(_) => text_scenario(),
    };
    run(
        checks,
        subject,
        "two sessions run side by side",
        lifetimes::side_by_side(subject, &side_by_side),
    )
    .await;
}

pub(super) async fn control(checks: &mut Checks, subject: &Subject<'_>) {
    run(
        checks,
        subject,
        "an interruption ends the turn as interrupted",
        control::interrupts(subject),
    )
    .await;
    run(
        checks,
        subject,
        "a steering message is delivered or refused",
        control::steers(subject),
    )
    .await;
    run(
        checks,
        subject,
        "a control can be used after its session",
        control::outlives_its_session(subject, &text_scenario()),
    )
    .await;
}
