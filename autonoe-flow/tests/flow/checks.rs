//! Checks of steps, by the contract of checks.

use std::sync::Mutex;
use std::time::Duration;

use autonoe_flow::check::{NoJudge, StepCheckContext, StepCheckResult, StepChecker, ToolOutcome};
use autonoe_flow::command::{CommandOutcome, NoCommands};
use autonoe_flow::definition::{ActionOutcome, Check, PromptRef};
use autonoe_flow::{CommandRunner, FlowError, FlowErrorKind, JudgeVerdict, StepJudge};
use serde_json::{Value, json};

use ActionOutcome::{Failed, Succeeded};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A judge with a fixed verdict, which records what it received.
struct Records(Option<JudgeVerdict>, Mutex<Vec<Value>>);

impl Records {
    fn with(verdict: Option<JudgeVerdict>) -> Self {
        Self(verdict, Mutex::default())
    }
}

#[async_trait::async_trait]
impl StepJudge for Records {
    async fn judge(
        &self,
        prompt: &PromptRef,
        answer: &StepCheckContext<'_>,
    ) -> Result<Option<JudgeVerdict>, FlowError> {
        let evidence: Value = serde_json::from_str(&answer.evidence()).expect("JSON");
        let received = json!({"prompt": prompt, "evidence": evidence});
        self.1.lock().expect("no panic").push(received);
        Ok(self.0.clone())
    }
}

/// Ends every command in one way, and records the commands.
struct Ends(CommandOutcome, Mutex<Vec<String>>);

impl Ends {
    fn with(end: CommandOutcome) -> Self {
        Self(end, Mutex::default())
    }

    fn run(&self) -> Vec<String> {
        self.1.lock().expect("no panic").clone()
    }
}

#[async_trait::async_trait]
impl CommandRunner for Ends {
    async fn run(&self, command: &[String], _: Duration) -> Result<CommandOutcome, BoxError> {
        self.1.lock().expect("no panic").push(command.join(" "));
        Ok(self.0)
    }
}

fn check(json: Value) -> Check {
    serde_json::from_value(json).expect("a check")
}

fn called(calls: &[(&str, ActionOutcome)]) -> Vec<ToolOutcome> {
    let calls = calls.iter();
    calls
        .map(|&(tool, outcome)| ToolOutcome::new(tool, outcome))
        .collect()
}

fn response<'a>(text: &'a str, actions: &'a [ToolOutcome]) -> StepCheckContext<'a> {
    StepCheckContext::new(text).with_actions(actions)
}

async fn checked(json: Value, answer: &StepCheckContext<'_>) -> StepCheckResult {
    let checker = StepChecker::new(&NoJudge, &NoCommands);
    checker
        .check(&check(json), answer)
        .await
        .expect("it can tell")
}

fn result(passed: bool, reason: &str) -> StepCheckResult {
    StepCheckResult {
        passed,
        reason: Some(reason.to_owned()),
    }
}

#[tokio::test]
async fn a_check_by_keyword_reads_only_the_text_parts() {
    let words = json!({"type": "keyword", "keywords": ["APPROVED", "LGTM"]});
    let all = json!({"type": "keyword", "keywords": ["APPROVED", "LGTM"], "mode": "all"});
    // Names and outputs of tools are not text of the agent.
    let actions = called(&[("APPROVED", Succeeded)]);
    for (json, text, expected) in [
        (&words, "LGTM!", result(true, "the agent said `LGTM`")),
        (
            &words,
            "approved",
            result(false, "the agent said none of `APPROVED`, `LGTM`"),
        ),
        (
            &words,
            "UNAPPROVED",
            result(false, "the agent said none of `APPROVED`, `LGTM`"),
        ),
        (
            &all,
            "LGTM",
            result(false, "the agent did not say `APPROVED`"),
        ),
        (
            &all,
            "LGTM, APPROVED",
            result(true, "the agent said `APPROVED`, `LGTM`"),
        ),
    ] {
        let answer = response(text, &actions);
        assert_eq!(checked(json.clone(), &answer).await, expected, "{text}");
    }
}

#[tokio::test]
async fn a_check_by_action_reads_only_the_results_of_actions() {
    let twice =
        json!({"type": "action", "actions": [{"type": "tool", "tool": "Bash", "times": 2}]});
    let fails = json!({"type": "action", "actions": [
        {"type": "tool", "tool": "Bash", "outcome": "failed"},
    ]});
    let as_expected = || result(true, "every expected action happened");
    for (json, calls, expected) in [
        (
            &twice,
            &[][..],
            result(false, "the tool `Bash` was not called"),
        ),
        (
            &twice,
            &[("Bash", Succeeded)],
            result(
                false,
                "only 1 of the calls of the tool `Bash` succeeded; the check expects at least 2",
            ),
        ),
        (
            &twice,
            &[("Bash", Succeeded), ("Bash", Failed), ("Bash", Succeeded)],
            as_expected(),
        ),
        (
            &twice,
            &[("Bash", Succeeded), ("Bash", Succeeded), ("Bash", Failed)],
            result(
                false,
                "the last call of the tool `Bash` failed, but should have succeeded",
            ),
        ),
        (
            &fails,
            &[("Bash", Succeeded), ("Bash", Failed), ("Read", Succeeded)],
            as_expected(),
        ),
    ] {
        // Whatever the agent claims about it.
        let actions = called(calls);
        let answer = response("I ran Bash twice and all is well.", &actions);
        assert_eq!(checked(json.clone(), &answer).await, expected, "{calls:?}");
    }
}

#[tokio::test]
async fn our_own_tools_have_the_same_name_with_every_backend() {
    for (expected, called_as) in [
        ("set_status", "mcp__autonoe__set_status"),
        ("mcp__autonoe__set_status", "set_status"),
    ] {
        let json = json!({"type": "action", "actions": [{"type": "tool", "tool": expected}]});
        let actions = called(&[(called_as, Succeeded)]);
        assert!(checked(json, &response("", &actions)).await.passed);
    }
    let json = json!({"type": "action", "actions": [{"type": "tool", "tool": "set_status"}]});
    let actions = called(&[("mcp__other__set_status", Succeeded)]);
    assert!(!checked(json, &response("", &actions)).await.passed);
}

// Shows: flows/checks/commands
#[tokio::test]
async fn only_an_exit_code_is_the_answer_of_a_command() {
    let ended = [
        CommandOutcome::Exited { code: 0 },
        CommandOutcome::Exited { code: 3 },
        CommandOutcome::Signalled { number: 9 },
        CommandOutcome::TimedOut {
            after: Duration::from_secs(600),
        },
    ];
    for (outcome, expected) in [
        ("succeeded", [true, false, false, false]),
        ("failed", [false, true, false, false]),
    ] {
        let json = json!({"type": "action", "actions": [
            {"type": "command", "command": ["cargo", "test"], "outcome": outcome},
        ]});
        for (end, passed) in ended.into_iter().zip(expected) {
            let commands = Ends::with(end);
            let checker = StepChecker::new(&NoJudge, &commands);
            let found = checker
                .check(&check(json.clone()), &StepCheckContext::new(""))
                .await;
            assert_eq!(
                found.expect("it can tell").passed,
                passed,
                "{outcome} {end}"
            );
        }
    }
}

#[tokio::test]
async fn expected_actions_are_compared_in_order_until_the_first_mismatch() {
    let commands = Ends::with(CommandOutcome::Exited { code: 1 });
    let json = json!({"type": "action", "actions": [
        {"type": "tool", "tool": "Edit"},
        {"type": "command", "command": ["cargo", "test"]},
        {"type": "command", "command": ["cargo", "doc"]},
    ]});
    let checker = StepChecker::new(&NoJudge, &commands);

    let without = checker
        .check(&check(json.clone()), &StepCheckContext::new(""))
        .await;
    assert_eq!(
        without.expect("it can tell"),
        result(false, "the tool `Edit` was not called")
    );
    assert_eq!(commands.run(), Vec::<String>::new());

    let edited = called(&[("Edit", Succeeded)]);
    let with = checker.check(&check(json), &response("", &edited)).await;
    let expected = "the command `cargo` ended with exit code 1, but should have succeeded";
    assert_eq!(with.expect("it can tell"), result(false, expected));
    assert_eq!(commands.run(), ["cargo test"]);
}

#[tokio::test]
async fn a_command_that_cannot_be_run_is_an_error_and_never_a_pass() {
    for outcome in ["succeeded", "failed"] {
        let json = json!({"type": "action", "actions": [
            {"type": "command", "command": ["cargo"], "outcome": outcome},
        ]});
        let checker = StepChecker::new(&NoJudge, &NoCommands);

        let error = checker
            .check(&check(json), &StepCheckContext::new(""))
            .await
            .expect_err("it cannot tell");

        assert_eq!(error.kind(), FlowErrorKind::StepCheck);
        assert!(error.is_recoverable());
    }
}

fn judged() -> (Check, Vec<ToolOutcome>) {
    let mut failed = ToolOutcome::new("Bash", Failed);
    failed.input = Some(r#"{"command":"npm test"}"#.to_owned());
    failed.output = Some("1 failed".to_owned());
    (
        check(json!({"type": "prompt", "prompt": "prompts/judge.md"})),
        vec![failed],
    )
}

#[tokio::test]
async fn a_check_by_prompt_returns_the_verdict_of_a_judge_of_the_whole_response() {
    let (check, actions) = judged();
    for passed in [true, false] {
        let judge = Records::with(Some(JudgeVerdict {
            passed,
            reason: "the tests say so".to_owned(),
        }));

        let found = StepChecker::new(&judge, &NoCommands)
            .check(&check, &response("PASS, I am sure.", &actions))
            .await;

        assert_eq!(
            found.expect("it can tell"),
            result(passed, "the tests say so")
        );
        let received = judge.1.into_inner().expect("no panic");
        let expected = json!({
            "prompt": {"path": "prompts/judge.md"},
            "evidence": {
                "response": "PASS, I am sure.",
                "toolCalls": [{
                    "tool": "Bash", "outcome": "failed",
                    "input": r#"{"command":"npm test"}"#, "output": "1 failed",
                }],
            },
        });
        assert_eq!(received, [expected]);
    }
}

#[tokio::test]
async fn a_judge_without_a_verdict_is_an_error_and_never_a_pass() {
    let (check, actions) = judged();

    let found = StepChecker::new(&Records::with(None), &NoCommands)
        .check(&check, &response("PASS, I am sure.", &actions))
        .await;

    let error = found.expect_err("nobody judged");
    assert_eq!(error.kind(), FlowErrorKind::StepCheck);
    assert_eq!(
        error.to_string(),
        "the model that judges the step gave no verdict"
    );
}
