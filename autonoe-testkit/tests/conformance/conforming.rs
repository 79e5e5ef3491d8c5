//! Autonoe's own implementations pass the suites.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use autonoe_core::agent::{HookCoverage, Support};
use autonoe_core::gate::policy::{Denial, DenyAll, Layer, Verdict};
use autonoe_core::gate::{AutonoeGuard, BashGuard, FileScope, ProjectPaths};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::{Capabilities, HookDecision, PreToolUseHook, ToolKind, hook_fn};
use autonoe_testkit::conformance::{
    self, BashCase, Conformance, agent_client, bash_contract, bash_security_cases,
    deliverable_repository, reopened_repository, stateless_pre_tool_use_hook,
};

use crate::conformance::scripted_harness::ScriptedHarness;

#[tokio::test(start_paused = true)]
async fn the_repository_in_memory_conforms() {
    let report = deliverable_repository(async || Arc::new(MemoryRepository::new()) as Arc<_>).await;

    report.assert();
    assert_eq!(report.passed().len(), 16);
    assert_eq!(report.skipped(), []);
}

#[tokio::test(start_paused = true)]
async fn the_repository_in_memory_conforms_when_it_is_shared() {
    let places: Mutex<HashMap<usize, Arc<MemoryRepository>>> = Mutex::default();

    let report = reopened_repository(async |place| {
        places
            .lock()
            .expect("not poisoned")
            .entry(place)
            .or_default()
            .clone() as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 4);
}

/// Scripted agents execute nothing, so a sandbox has nothing to confine.
const ENCLOSED: &str = "an agent in the outer sandbox writes to its project alone";

fn skipped(report: &Conformance) -> Vec<&str> {
    let skipped = report.skipped().iter();
    skipped.map(|skipped| skipped.check.as_str()).collect()
}

// Shows: interfaces/agent-client/lifecycle-sessions-are-independent
// Shows: framework/callbacks/tool-start-order
#[tokio::test(start_paused = true)]
async fn scripted_agents_conform() {
    let report = agent_client(&ScriptedHarness::default()).await;

    report.assert();
    assert_eq!(skipped(&report), [ENCLOSED]);
}

// Shows: framework/callbacks/what-backend-cannot-tell
#[tokio::test(start_paused = true)]
async fn scripted_agents_conform_with_model_events() {
    let report = agent_client(&ScriptedHarness::default().calling_models()).await;

    report.assert();
    assert_eq!(skipped(&report), [ENCLOSED]);
}

#[tokio::test(start_paused = true)]
async fn scripted_agents_conform_when_they_can_be_steered() {
    let report = agent_client(&ScriptedHarness::claiming(|it| {
        it.with_steering(Support::Yes)
    }))
    .await;

    report.assert();
}

#[tokio::test(start_paused = true)]
async fn unsupported_capabilities_are_skipped_and_listed() {
    let nothing =
        |_: Capabilities| Capabilities::new("scripted agents").with_hooks(HookCoverage::Partial);

    let report = agent_client(&ScriptedHarness::claiming(nothing)).await;

    report.assert();
    assert_eq!(
        skipped(&report),
        [
            "a spent quota is reported with its reset",
            "the gate decides once about every call, before its answer",
            "the gate receives name, input, session, directory and mode",
            "a shell command reaches the gate as one",
            "a denied call is answered as denied",
            "the reason of a denial reaches the agent",
            "a denied command does not run",
            "a denied tool of ours does not run",
            "our tool runs once and receives its whole input",
            "the output of our tool reaches the agent",
            "an error of our tool reaches the agent as one",
            "tools that are called at once get each their own answer",
            "tokens are reported where the backend claims it",
            ENCLOSED,
            "gate and tools continue when the stream is not polled",
            "a tool runs although the stream is not polled during the decision",
            "a dropped stream ends the tool that runs",
        ]
    );
}

fn only_ls(command: &str) -> Verdict {
    match command {
        "ls" => Verdict::Allow,
        _ => Verdict::Deny(
            Denial::new("only-ls", Layer::User, "only ls may run")
                .at(0..command.len())
                .instead("use ls"),
        ),
    }
}

#[tokio::test(start_paused = true)]
async fn built_in_guards_and_closure_hooks_pass_the_hook_conformance() {
    let project_paths = || ProjectPaths::new("/srv/project").with_home("/home/someone");
    let hooks: [Arc<dyn PreToolUseHook>; 7] = [
        hook_fn("pass", |_, _| HookDecision::Pass),
        hook_fn("approve", |_, _| HookDecision::Approve),
        hook_fn("no-web", |call, _| match &call.kind {
            ToolKind::Fetch { url } => HookDecision::block(format!("{url:?} is far away")),
            _ => HookDecision::Pass,
        }),
        Arc::new(BashGuard::new(Arc::new(DenyAll))),
        Arc::new(BashGuard::new(Arc::new(only_ls))),
        Arc::new(FileScope::new(project_paths())),
        Arc::new(AutonoeGuard::new(project_paths())),
    ];

    for hook in hooks {
        let report = stateless_pre_tool_use_hook(hook.clone()).await;

        assert_eq!(report.failures(), [], "{hook:?}: {report}");
        assert_eq!(report.passed().len(), 7);
    }
}

#[test]
fn deny_all_and_a_closure_conform() {
    for report in [bash_contract(DenyAll), bash_contract(only_ls)] {
        report.assert();
        assert_eq!(report.passed().len(), 6);
    }
}

#[test]
fn a_policy_can_bring_its_own_table() {
    let cases = [
        BashCase::allowed("ls"),
        BashCase::denied("ls;"),
        BashCase::denied(""),
    ];

    let report = bash_security_cases(only_ls, &cases);

    report.assert();
    assert_eq!(
        report.passed(),
        ["\"ls\" is allowed", "\"ls;\" is denied", "\"\" is denied"]
    );
}

#[test]
fn the_registered_specs_conform() {
    let report = conformance::specs();

    report.assert();
    assert_eq!(report.passed().len(), 14);
}
