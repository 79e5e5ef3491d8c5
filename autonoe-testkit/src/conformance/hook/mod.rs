//! Conformance suites for hooks.

mod calls;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use autonoe_core::gate::{Gate, ProjectPaths};
use autonoe_core::{HookDecision, PreToolUseHook};
use futures::FutureExt;
use tokio::task::JoinSet;

use self::calls::SampleCall;
use super::checks::{CheckOutcome, Checks, Conformance, Flaw, Marker, panic_text};

/// Checks a [`PreToolUseHook`] against its contract, with calls of every kind and unusual ones.
///
/// The suite cannot verify that a hook decides *well*: that needs its own tests. As in a [`Gate`],
/// a hook is only called for calls that it matches. A hook that blocks its thread blocks the suite
/// too.
///
/// ```
/// use autonoe_core::{HookDecision, ToolKind, hook_fn};
/// use autonoe_testkit::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let no_web = hook_fn("no-web", |call, _| match &call.kind {
///     ToolKind::Fetch { .. } => HookDecision::block("this project works offline"),
///     _ => HookDecision::Pass,
/// });
///
/// conformance::pre_tool_use_hook(no_web).await.assert();
/// # });
/// ```
pub async fn pre_tool_use_hook(hook: impl PreToolUseHook + 'static) -> Conformance {
    suite(Arc::new(hook), Memory::MayHave).await
}

/// Checks the same, and that the hook always decides the same for the same call.
///
/// For a hook without state, such as a guard.
pub async fn stateless_pre_tool_use_hook(hook: impl PreToolUseHook + 'static) -> Conformance {
    suite(Arc::new(hook), Memory::HasNone).await
}

/// Whether a hook may remember earlier calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    MayHave,
    HasNone,
}

async fn suite(hook: Arc<dyn PreToolUseHook>, memory: Memory) -> Conformance {
    let marker = Marker::in_dir(&std::env::temp_dir());
    let calls = Arc::new(calls::all(&marker));
    let mut checks = Checks::new("pre tool use hook");
    checks.run_sync("the name is not blank and always the same", || name(&*hook));

    let first = check_all(&hook, &calls).await;
    let repeated = check_all(&hook, &calls).await;
    // A hook that gives no answers does not give any concurrently either.
    let answering = !first.contains(&Answer::TooLate);
    let at_once = if answering {
        check_concurrently(&hook, &calls).await
    } else {
        Vec::new()
    };
    let together = || {
        at_once
            .iter()
            .map(|(place, answer)| (&calls[*place], answer))
    };
    let answers = || calls.iter().zip(&first).chain(together());
    checks.each("no call makes it panic", answers(), no_panic);
    checks.each("every call is answered in time", answers(), in_time);
    checks.each("a block says why", answers(), has_reason);
    if memory == Memory::HasNone {
        checks.each(
            "the same call gets the same answer",
            calls.iter().zip(&first).zip(&repeated),
            same,
        );
        let pairs = at_once
            .iter()
            .map(|(place, answer)| ((&calls[*place], &first[*place]), answer));
        checks.each("calls at the same time get the same answers", pairs, same);
    }
    checks.run_sync("no call is carried out", || marker.is_absent());
    checks.finish()
}

fn no_panic((call, answer): (&SampleCall, &Answer)) -> CheckOutcome {
    match answer {
        Answer::Panicked(text) => Err(Flaw::Failed(format!("{}: {text}", call.label))),
        _ => Ok(()),
    }
}

fn in_time((call, answer): (&SampleCall, &Answer)) -> CheckOutcome {
    let limit = Gate::DEFAULT_TIME_LIMIT;
    ensure!(
        *answer != Answer::TooLate,
        "{}: no answer after {limit:?}",
        call.label
    );
    Ok(())
}

fn has_reason((call, answer): (&SampleCall, &Answer)) -> CheckOutcome {
    match answer {
        Answer::Decided(HookDecision::Block { reason, .. }) if reason.trim().is_empty() => {
            Err(Flaw::Failed(format!("{}: the reason is blank", call.label)))
        }
        _ => Ok(()),
    }
}

fn name(hook: &dyn PreToolUseHook) -> CheckOutcome {
    let name = hook.name().to_owned();
    ensure!(!name.trim().is_empty(), "the name is {name:?}");
    let second = hook.name();
    ensure!(name == second, "the name was {name:?}, then {second:?}");
    Ok(())
}

/// The answer of a hook.
#[derive(Debug, PartialEq)]
enum Answer {
    /// The hook does not match the call.
    NotMatched,
    Decided(HookDecision),
    Panicked(String),
    TooLate,
}

/// Checks one call after the other, up to the first without an answer.
async fn check_all(hook: &Arc<dyn PreToolUseHook>, calls: &[SampleCall]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for call in calls {
        answers.push(check_call(&**hook, call).await);
        if answers.last() == Some(&Answer::TooLate) {
            break;
        }
    }
    answers
}

async fn check_call(hook: &dyn PreToolUseHook, SampleCall { call, .. }: &SampleCall) -> Answer {
    match catch_unwind(AssertUnwindSafe(|| hook.matches(call))) {
        Ok(true) => {}
        Ok(false) => return Answer::NotMatched,
        Err(panic) => return Answer::Panicked(panic_text(panic)),
    }
    let project_paths = ProjectPaths::new("/srv/project");
    // A panic may occur before the first wait, when the future is created.
    let check = AssertUnwindSafe(async { hook.check(call, &project_paths).await }).catch_unwind();
    match tokio::time::timeout(Gate::DEFAULT_TIME_LIMIT, check).await {
        Ok(Ok(decision)) => Answer::Decided(decision),
        Ok(Err(panic)) => Answer::Panicked(panic_text(panic)),
        Err(_elapsed) => Answer::TooLate,
    }
}

/// Checks all calls concurrently from separate tasks, each call twice.
async fn check_concurrently(
    hook: &Arc<dyn PreToolUseHook>,
    calls: &Arc<Vec<SampleCall>>,
) -> Vec<(usize, Answer)> {
    let mut tasks = JoinSet::new();
    for place in (0..calls.len()).chain((0..calls.len()).rev()) {
        let (hook, calls) = (hook.clone(), calls.clone());
        tasks.spawn(async move { (place, check_call(&*hook, &calls[place]).await) });
    }
    tasks.join_all().await
}

fn same(((call, first), repeated): ((&SampleCall, &Answer), &Answer)) -> CheckOutcome {
    // Another check reports panics.
    let comparable = !matches!(
        (first, repeated),
        (Answer::Panicked(_), Answer::Panicked(_))
    );
    ensure!(
        !comparable || first == repeated,
        "{}: first {first:?}, then {repeated:?}",
        call.label
    );
    Ok(())
}
