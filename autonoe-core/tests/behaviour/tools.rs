//! The deliverable tools, over any repository.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::{
    DeliverableRepository, Epoch, Fence, InstructionName, LedgerBook, LedgerState,
    MemoryRepository, RepositoryError, RepositoryErrorKind, Revision, RunId, SessionKey, Snapshot,
    SystemClock, Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode, ToolOutput, Toolbox,
    TypedTool, deliverable_tools,
};
use autonoe_testkit::{SessionScript, ToolUse};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, create, passes, plans, status};

fn book(repository: Arc<dyn DeliverableRepository>) -> LedgerBook {
    LedgerBook::new(repository, Arc::new(SystemClock), Epoch(1))
}

fn context() -> ToolContext {
    ToolContext::new(SessionKey {
        run: RunId::new("run"),
        number: 1,
    })
}

/// All five tools over one ledger.
struct Tools {
    repository: Arc<MemoryRepository>,
    planning: Toolbox,
    coding: Toolbox,
    syncing: Toolbox,
    verifying: Toolbox,
}

impl Tools {
    fn new() -> Self {
        let repository = Arc::new(MemoryRepository::new());
        let book = book(repository.clone());
        let toolbox = |name| Toolbox::new(deliverable_tools(&book, &name));
        Self {
            repository,
            planning: toolbox(InstructionName::Initializer),
            coding: toolbox(InstructionName::Coding),
            syncing: toolbox(InstructionName::Sync),
            verifying: toolbox(InstructionName::Verify),
        }
    }

    async fn with(ids: &[&str]) -> Self {
        let tools = Self::new();
        tools
            .planning
            .call("create", create(ids), context())
            .await
            .expect("new ids");
        tools
    }
}

async fn answer(toolbox: &Toolbox, tool: &str, input: Value) -> Value {
    let output = toolbox
        .call(tool, input, context())
        .await
        .expect("it works")
        .output;
    serde_json::from_str(&output).expect("the answer is JSON")
}

async fn code(toolbox: &Toolbox, tool: &str, input: Value) -> String {
    let error = toolbox
        .call(tool, input, context())
        .await
        .expect_err("it is refused");
    error.code.as_str().to_owned()
}

async fn listed(toolbox: &Toolbox, input: Value) -> Vec<String> {
    let answer = answer(toolbox, "list", input).await;
    let deliverables = answer["deliverables"].as_array().expect("a list").clone();
    deliverables
        .iter()
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn create_makes_pending_deliverables_or_none() {
    let tools = Tools::with(&["A"]).await;

    assert_eq!(
        code(&tools.planning, "create", create(&["B", "A"])).await,
        "DUPLICATE_ID"
    );
    assert_eq!(
        code(&tools.planning, "create", create(&["B", "B"])).await,
        "DUPLICATE_ID"
    );
    for (what, input) in [
        ("no deliverables", json!({"deliverables": []})),
        ("no field", json!({})),
        ("not even an object", json!("DL-1")),
        (
            "blank id",
            json!({"deliverables": [
            {"id": "", "description": "x", "acceptanceCriteria": ["y"]}]}),
        ),
        (
            "no criteria",
            json!({"deliverables": [
            {"id": "B", "description": "x", "acceptanceCriteria": []}]}),
        ),
        (
            "blank description",
            json!({"deliverables": [
            {"id": "B", "description": " ", "acceptanceCriteria": ["y"]}]}),
        ),
        (
            "a field that is not there",
            json!({"deliverables": [
            {"id": "B", "description": "x", "acceptanceCriteria": ["y"], "passed": true}]}),
        ),
    ] {
        let code = code(&tools.planning, "create", input).await;
        assert_eq!(code, "VALIDATION_ERROR", "{what}");
    }

    assert_eq!(listed(&tools.coding, json!({})).await, ["A"]);
}

#[tokio::test]
async fn set_status_follows_the_legal_transitions() {
    let tools = Tools::with(&["A"]).await;
    let set = async |to| {
        tools
            .coding
            .call("set_status", status("A", to), context())
            .await
    };

    set("passed").await.expect("pending to passed");
    let refused = set("blocked").await.expect_err("passed to blocked");
    set("pending").await.expect("passed to pending");
    set("blocked").await.expect("pending to blocked");
    set("passed").await.expect("blocked to passed");

    assert_eq!(refused.code, ToolErrorCode::INVALID_TRANSITION);
    assert_eq!(
        code(&tools.coding, "set_status", status("Z", "passed")).await,
        "NOT_FOUND"
    );
    let wrong = status("A", "finished");
    assert_eq!(
        code(&tools.coding, "set_status", wrong).await,
        "VALIDATION_ERROR"
    );
}

#[tokio::test]
async fn list_shows_five_by_default_and_hides_deprecated_ones() {
    let tools = Tools::with(&["A", "B", "C", "D", "E", "F", "G"]).await;
    answer(&tools.syncing, "deprecate", json!({"deliverableId": "A"})).await;
    answer(&tools.coding, "set_status", status("C", "passed")).await;

    assert_eq!(
        listed(&tools.coding, json!({})).await,
        ["B", "C", "D", "E", "F"]
    );
    assert_eq!(listed(&tools.coding, Value::Null).await.len(), 5);
    assert_eq!(listed(&tools.coding, json!({"limit": 2})).await, ["B", "C"]);
    assert_eq!(
        listed(&tools.coding, json!({"filter": {"status": "passed"}})).await,
        ["C"]
    );
    let pending = json!({"filter": {"status": "pending"}, "limit": 10});
    assert_eq!(
        listed(&tools.coding, pending).await,
        ["B", "D", "E", "F", "G"]
    );
    let whole = answer(&tools.coding, "list", json!({"limit": 1})).await;
    assert_eq!(whole["total"], 6);
    assert_eq!(
        whole["deliverables"][0],
        json!({
            "id": "B",
            "description": "a thing",
            "acceptanceCriteria": ["it works"],
            "status": "pending",
        })
    );
    assert_eq!(
        code(&tools.coding, "list", json!({"limit": 0})).await,
        "VALIDATION_ERROR"
    );
}

#[tokio::test]
async fn list_takes_what_models_write_for_nothing_and_for_numbers() {
    let tools = Tools::with(&["A", "B", "C", "D"]).await;

    for (input, length) in [
        (json!({"filter": null}), 4),
        (json!({"filter": {"status": null}}), 4),
        (json!({"limit": null}), 4),
        (json!({"limit": "3"}), 3),
        (json!({"limit": 3.0}), 3),
    ] {
        assert_eq!(
            listed(&tools.coding, input.clone()).await.len(),
            length,
            "{input}"
        );
    }
    for limit in [json!(-1), json!(2.5), json!("all"), json!([3])] {
        let refused = code(&tools.coding, "list", json!({ "limit": limit })).await;
        assert_eq!(refused, "VALIDATION_ERROR", "{limit}");
    }
}

#[tokio::test]
async fn the_verified_filter_is_there_only_in_verify_sessions() {
    let tools = Tools::with(&["A", "B"]).await;
    answer(&tools.verifying, "verify", json!({"deliverableId": "A"})).await;
    answer(&tools.verifying, "set_status", status("B", "passed")).await;

    let filter = |verified: bool| json!({"filter": {"verified": verified}});
    assert_eq!(listed(&tools.verifying, filter(true)).await, ["A"]);
    assert_eq!(listed(&tools.verifying, filter(false)).await, ["B"]);
    let both = json!({"filter": {"status": "pending", "verified": false}});
    assert_eq!(listed(&tools.verifying, both).await, Vec::<String>::new());
    assert_eq!(
        code(&tools.coding, "list", filter(true)).await,
        "VALIDATION_ERROR"
    );
    let shown = answer(&tools.verifying, "list", json!({})).await;
    assert_eq!(shown["deliverables"][0]["verified"], true);
}

#[tokio::test]
async fn an_empty_ledger_lists_nothing_and_is_not_created_by_looking() {
    let tools = Tools::new();

    assert_eq!(listed(&tools.coding, json!({})).await, Vec::<String>::new());
    assert!(
        tools
            .repository
            .load()
            .await
            .expect("memory does not fail")
            .is_none()
    );
}

#[tokio::test]
async fn verify_and_deprecate_know_their_deliverables() {
    let tools = Tools::with(&["A"]).await;
    let a = json!({"deliverableId": "A"});
    let z = json!({"deliverableId": "Z"});

    assert_eq!(
        code(&tools.verifying, "verify", z.clone()).await,
        "NOT_FOUND"
    );
    assert_eq!(code(&tools.syncing, "deprecate", z).await, "NOT_FOUND");
    assert_eq!(
        answer(&tools.verifying, "verify", a.clone()).await,
        json!({"success": true})
    );
    assert_eq!(
        answer(&tools.syncing, "deprecate", a.clone()).await,
        json!({"success": true})
    );
    assert_eq!(
        code(&tools.verifying, "verify", a).await,
        "INVALID_TRANSITION"
    );
}

#[tokio::test]
async fn an_unknown_tool_is_named_with_the_known_ones() {
    let tools = Tools::new();

    let error = tools
        .coding
        .call("create", json!({}), context())
        .await
        .expect_err("not there");

    assert_eq!(
        error.to_string(),
        "NOT_FOUND: there is no tool create; there are: set_status, list"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_calls_lose_nothing() {
    let tools = Arc::new(Tools::new());
    let calls = (0..200).map(|number| {
        let tools = tools.clone();
        let input = create(&[&format!("DL-{number}")]);
        tokio::spawn(async move { tools.planning.call("create", input, context()).await })
    });

    for call in futures::future::join_all(calls).await {
        call.expect("no panic").expect("created");
    }

    let state = tools
        .repository
        .load()
        .await
        .expect("loads")
        .expect("saved")
        .state;
    assert_eq!(state.ledger.counts().total, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn another_process_that_saves_in_between_loses_nothing_either() {
    // Two books do not take turns with each other, just as two processes do not.
    let repository = Arc::new(MemoryRepository::new());
    let books = [book(repository.clone()), book(repository.clone())];
    let calls = (0..100).map(|number| {
        let tools = deliverable_tools(&books[number % 2], &InstructionName::Initializer);
        let input = create(&[&format!("DL-{number}")]);
        tokio::spawn(async move { Toolbox::new(tools).call("create", input, context()).await })
    });

    for call in futures::future::join_all(calls).await {
        call.expect("no panic").expect("created");
    }

    let state = repository
        .load()
        .await
        .expect("loads")
        .expect("saved")
        .state;
    assert_eq!(state.ledger.counts().total, 100);
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_of_one_session_lose_nothing() {
    let ids: Vec<String> = (0..30).map(|number| format!("DL-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let bench = Bench::new([
        plans(&ids),
        SessionScript::new("marks all at once")
            .calls_at_once(
                ids.iter()
                    .map(|id| ToolUse::new("mcp__autonoe__set_status", status(id, "passed"))),
            )
            .ends(),
    ]);

    let report = bench.run(bench.runner()).await;

    assert_eq!((report.passed, report.total), (30, 30));
}

/// A repository that answers every save with the same error.
struct Refusing(RepositoryErrorKind);

#[async_trait]
impl DeliverableRepository for Refusing {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        match self.0 {
            RepositoryErrorKind::Corrupt => Err(RepositoryError::new(
                self.0,
                "status.json does not hold a valid ledger",
            )),
            _ => Ok(None),
        }
    }
    async fn save(&self, _: &LedgerState, _: Fence) -> Result<Revision, RepositoryError> {
        Err(RepositoryError::new(self.0, "it cannot be saved"))
    }
}

#[tokio::test]
async fn a_repository_that_fails_is_an_io_error_for_the_agent() {
    for kind in [
        RepositoryErrorKind::Conflict,
        RepositoryErrorKind::Fenced,
        RepositoryErrorKind::Corrupt,
        RepositoryErrorKind::Unavailable,
    ] {
        let book = book(Arc::new(Refusing(kind)));
        let toolbox = Toolbox::new(deliverable_tools(&book, &InstructionName::Initializer));

        assert_eq!(
            code(&toolbox, "create", create(&["A"])).await,
            "IO_ERROR",
            "{kind:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_corrupt_ledger_ends_the_run_with_its_name() {
    let bench = Bench::new([]);
    let corrupt = Arc::new(Refusing(RepositoryErrorKind::Corrupt));

    let report = bench.run(bench.runner().repository(corrupt)).await;

    assert_eq!(report.exit.code(), "failed");
    assert!(
        report
            .to_string()
            .contains("status.json does not hold a valid ledger"),
        "{report}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_overtaken_cannot_write_any_more() {
    let bench = Bench::new([plans(&["A"])]);
    bench.run(bench.runner().max_iterations(1)).await;
    let stale = book(bench.repository.clone());

    let second = Bench {
        repository: bench.repository.clone(),
        ..Bench::new([passes("A")])
    };
    second.run(second.runner()).await;

    let toolbox = Toolbox::new(deliverable_tools(&stale, &InstructionName::Coding));
    for (tool, input) in [("set_status", status("A", "pending")), ("list", json!({}))] {
        assert_eq!(code(&toolbox, tool, input).await, "IO_ERROR", "{tool}");
    }
}

struct Panicking;

#[async_trait]
impl TypedTool for Panicking {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDefinition {
        ToolDefinition::new("panicking", "Panics.", json!({"type": "object"}))
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        panic!("the tool panics");
    }
}

struct Endless(Mutex<bool>);

#[async_trait]
impl TypedTool for Endless {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDefinition {
        ToolDefinition::new("endless", "Never ends.", json!({"type": "object"}))
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        *self.0.lock().expect("not poisoned") = true;
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_tool_that_panics_is_an_error_and_others_go_on() {
    let toolbox = Toolbox::new([Panicking.into_tool()]);

    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_in_a_run_does_not_end_it() {
    let bench = Bench::new([
        SessionScript::new("uses it")
            .fails_tool("mcp__autonoe__panicking", json!({}))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);

    let report = bench.run(bench.runner().tool(Panicking.into_tool())).await;

    assert!(report.exit.is_success(), "{report}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let toolbox = Toolbox::new([Endless(Mutex::new(false)).into_tool()]);
    let cancelled = CancellationToken::new();
    let context = context().with_cancellation(cancelled.clone());

    let (result, ()) = tokio::join!(toolbox.call("endless", json!({}), context), async {
        tokio::task::yield_now().await;
        cancelled.cancel();
    });

    assert_eq!(
        result.expect_err("cancelled").code,
        ToolErrorCode::CANCELLED
    );
}

proptest! {
    #[test]
    fn no_input_makes_a_tool_panic(
        tool in prop::sample::select(vec!["create", "set_status", "deprecate", "verify", "list"]),
        text in ".{0,30}",
        number in any::<i64>(),
        shape in 0..6_u8,
    ) {
        let input = match shape {
            0 => Value::Null,
            1 => json!(text),
            2 => json!({ text: number }),
            3 => json!({"deliverableId": text, "status": "passed"}),
            4 => json!({"limit": number, "filter": {"status": text}}),
            _ => json!({"deliverables": [{"id": text, "description": text,
                "acceptanceCriteria": [text]}]}),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let tools = Tools::with(&["A"]).await;
            for toolbox in [&tools.planning, &tools.coding, &tools.syncing, &tools.verifying] {
                if let Err(error) = toolbox.call(tool, input.clone(), context()).await {
                    assert_ne!(error.code, ToolErrorCode::UNKNOWN, "it panicked on {input}");
                }
            }
        });
    }
}

#[test]
fn a_tool_is_shown_by_its_name() {
    let tool: Arc<dyn Tool> = Panicking.into_tool();

    assert_eq!(format!("{tool:?}"), "tool \"panicking\"");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_overtaken_stops() {
    let repository = Arc::new(MemoryRepository::new());
    let thief = repository.clone();
    let bench = Bench {
        repository,
        ..Bench::new([SessionScript::new("is overtaken")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .does(move |_| {
                let takes_over = async {
                    let snapshot = thief.load().await.expect("loads").expect("saved");
                    let epoch = snapshot.epoch.next();
                    let fence = Fence {
                        base: Some(snapshot.revision),
                        epoch,
                    };
                    thief
                        .save(&snapshot.state, fence)
                        .await
                        .expect("a higher epoch");
                };
                futures::executor::block_on(takes_over);
            })
            .fails_tool("mcp__autonoe__create", create(&["B"]))
            .ends()])
    };

    let report = bench.run(bench.runner()).await;

    let autonoe_core::ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "ledger_fenced");
    assert_eq!(report.sessions, 1);
}
