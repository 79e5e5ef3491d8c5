//! Checks of steps, by the contract of checks.

use std::sync::Mutex;
use std::time::Duration;

use autonoe_core::agent::{CostTotal, SessionReport};
use autonoe_core::event::Failure;
use autonoe_core::session::{Judge, JudgeQuestion, Judged};
use autonoe_core::tool::JudgeVerdict;
use autonoe_core::{Budget, CostUsd};
use autonoe_flow::check::{
    CheckVerdict, CommandOutcome, NoCommands, StepResponse, ToolOutcome, check_step,
};
use autonoe_flow::definition::{ActionOutcome, Check};
use autonoe_flow::{CommandRunner, FlowErrorKind};
use serde_json::{Value, json};

use crate::driver::evidence;

use ActionOutcome::{Failed, Succeeded};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A judge with a fixed verdict, which records the prompts that it received.
struct Records(Option<JudgeVerdict>, Mutex<Vec<String>>);

impl Records {
    fn with(verdict: Option<JudgeVerdict>) -> Self {
        Self(verdict, Mutex::default())
    }
}

#[async_trait::async_trait]
impl Judge for Records {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Judged, Failure> {
        self.1
            .lock()
            .expect("no panic")
            .push(question.prompt.to_owned());
        Ok(Judged {
            verdict: self.0.clone(),
            session: session(),
        })
    }
}

/// The session of a judge.
fn session() -> SessionReport {
    let mut session = SessionReport::completed();
    session.cost = CostTotal::known(CostUsd::from_cents(5));
    session
}

const QUESTION: JudgeQuestion<'static> = JudgeQuestion {
    name: "a-check",
    prompt: "Is it good?",
    model: None,
    budget: Budget {
        cost_usd: None,
        tokens: None,
        time: None,
    },
};

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

/// A judge that cannot start a session.
struct NoSessions;

#[async_trait::async_trait]
impl Judge for NoSessions {
    async fn judge(&self, _: &JudgeQuestion<'_>) -> Result<Judged, Failure> {
        Err(Failure::permanent("no_judge", "no model is configured"))
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

fn response<'a>(text: &'a str, actions: &'a [ToolOutcome]) -> StepResponse<'a> {
    StepResponse { text, actions }
}

async fn checked(json: Value, response: &StepResponse<'_>) -> CheckVerdict {
    check_step(&check(json), response, &NoCommands, None)
        .await
        .result
        .expect("it can tell")
}

fn result(passed: bool, reason: &str) -> CheckVerdict {
    CheckVerdict {
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
            let check = check(json.clone());
            let found = check_step(&check, &response("", &[]), &commands, None).await;
            assert_eq!(
                found.result.expect("it can tell").passed,
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
    let check = check(json);

    let without = check_step(&check, &response("", &[]), &commands, None).await;
    assert_eq!(
        without.result.expect("it can tell"),
        result(false, "the tool `Edit` was not called")
    );
    assert_eq!(commands.run(), Vec::<String>::new());

    let edited = called(&[("Edit", Succeeded)]);
    let with = check_step(&check, &response("", &edited), &commands, None).await;
    let expected = "the command `cargo` ended with exit code 1, but should have succeeded";
    assert_eq!(with.result.expect("it can tell"), result(false, expected));
    assert_eq!(commands.run(), ["cargo test"]);
}

#[tokio::test]
async fn a_command_that_cannot_be_run_is_an_error_and_never_a_pass() {
    for outcome in ["succeeded", "failed"] {
        let json = json!({"type": "action", "actions": [
            {"type": "command", "command": ["cargo"], "outcome": outcome},
        ]});

        let error = check_step(&check(json), &response("", &[]), &NoCommands, None)
            .await
            .result
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

        let response = response("PASS, I am sure.", &actions);
        let found = check_step(&check, &response, &NoCommands, Some((&judge, QUESTION))).await;

        assert_eq!(
            found.result.expect("it can tell"),
            result(passed, "the tests say so")
        );
        assert_eq!(found.session, Some(session()));
        let received = judge.1.into_inner().expect("no panic");
        let [prompt] = received.as_slice() else {
            panic!("{received:?}");
        };
        let (task, evidence) = evidence(prompt);
        assert_eq!(task, "Is it good?");
        let expected = json!({
            "response": "PASS, I am sure.",
            "toolCalls": [{
                "tool": "Bash", "outcome": "failed",
                "input": r#"{"command":"npm test"}"#, "output": "1 failed",
            }],
        });
        assert_eq!(evidence, expected);
    }
}

#[tokio::test]
async fn a_judge_without_a_verdict_is_an_error_and_never_a_pass() {
    let (check, actions) = judged();
    let response = response("PASS, I am sure.", &actions);
    let judge = Records::with(None);

    let found = check_step(&check, &response, &NoCommands, Some((&judge, QUESTION))).await;

    let error = found.result.expect_err("nobody judged");
    assert_eq!(error.kind(), FlowErrorKind::StepCheck);
    assert_eq!(
        error.to_string(),
        "the model that judges the step gave no verdict"
    );
    assert_eq!(found.session, Some(session()));
}

#[tokio::test]
async fn a_check_by_prompt_without_a_judge_is_an_error() {
    let (check, _) = judged();
    let response = response("PASS, I am sure.", &[]);

    for judge in [Some((&NoSessions as &dyn Judge, QUESTION)), None] {
        let found = check_step(&check, &response, &NoCommands, judge).await;

        let error = found.result.expect_err("nobody judged");
        assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
        assert_eq!(found.session, None);
    }
}
