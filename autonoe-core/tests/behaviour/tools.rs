//! Deliverable tools, over any repository.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerStore, MemoryRepository, deliverable_tools};
use autonoe_core::time::{Epoch, SessionKey, SystemClock};
use autonoe_core::tool::{ToolErrorCode, Toolbox};
use autonoe_core::{DeliverableRepository, RunId, ToolContext};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::behaviour::support::{create, status};

pub(crate) fn ledger_store(repository: Arc<dyn DeliverableRepository>) -> LedgerStore {
    LedgerStore::new(repository, Arc::new(SystemClock), Epoch(1))
}

pub(crate) fn context() -> ToolContext {
    ToolContext::new(SessionKey {
        run: RunId::new("run"),
        number: 1,
    })
}

/// All five tools over one ledger.
pub(crate) struct Tools {
    pub(crate) repository: Arc<MemoryRepository>,
    pub(crate) planning: Toolbox,
    coding: Toolbox,
    syncing: Toolbox,
    verifying: Toolbox,
}

impl Tools {
    pub(crate) fn new() -> Self {
        let repository = Arc::new(MemoryRepository::new());
        let store = ledger_store(repository.clone());
        let toolbox = |name| Toolbox::new(deliverable_tools(&store, &name));
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

pub(crate) async fn answer(toolbox: &Toolbox, tool: &str, input: Value) -> Value {
    let output = toolbox
        .call(tool, input, context())
        .await
        .expect("it works")
        .output;
    serde_json::from_str(&output).expect("the answer is JSON")
}

pub(crate) async fn code(toolbox: &Toolbox, tool: &str, input: Value) -> String {
    let error = toolbox
        .call(tool, input, context())
        .await
        .expect_err("it is refused");
    error.code.as_str().to_owned()
}

pub(crate) async fn listed(toolbox: &Toolbox, input: Value) -> Vec<String> {
    let answer = answer(toolbox, "list", input).await;
    let deliverables = answer["deliverables"].as_array().expect("a list").clone();
    deliverables
        .iter()
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect()
}

// Shows: interfaces/tools/create-deliverables-with-id-description
// Shows: spec/2.3/deliverable-input-operation-result, spec/9.5/there-new
// Shows: interfaces/tools/unknown-fields
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
    for (case, input) in [
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
        assert_eq!(code, "VALIDATION_ERROR", "{case}");
    }

    assert_eq!(listed(&tools.coding, json!({})).await, ["A"]);
    let pending = json!({"filter": {"status": "pending"}});
    assert_eq!(listed(&tools.coding, pending).await, ["A"]);
}

// Shows: interfaces/tools/set-status-deliverable-id-status
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

// Shows: interfaces/tools/list-filter.status-limit-5-returns, interfaces/tools/list
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
async fn list_accepts_the_usual_spellings_of_missing_values_and_numbers() {
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

// Shows: interfaces/tools/list-filter.verified-only-verify-mode
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
    let response = answer(&tools.verifying, "list", json!({})).await;
    assert_eq!(response["deliverables"][0]["verified"], true);
}

#[tokio::test]
async fn listing_a_missing_ledger_returns_nothing_and_creates_nothing() {
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

// Shows: interfaces/tools/deprecate-deliverable-id-returns-success
// Shows: interfaces/tools/verify-deliverable-id-returns-success
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

// Shows: interfaces/tools/deprecate-deliverable-id-returns-success
// Shows: interfaces/tools/verify-deliverable-id-returns-success
// Shows: spec/2.3/deliverable-input-operation-result
#[tokio::test]
async fn failures_of_the_ledger_tools_are_json_with_success_false() {
    let tools = Tools::with(&["A", "B"]).await;
    answer(&tools.syncing, "deprecate", json!({"deliverableId": "B"})).await;
    let missing = json!({"deliverableId": "Z"});
    let deliverable = json!({"id": "A", "description": "x", "acceptanceCriteria": ["y"]});
    for (toolbox, tool, input, code) in [
        (&tools.syncing, "deprecate", missing.clone(), "NOT_FOUND"),
        (&tools.syncing, "deprecate", json!({}), "VALIDATION_ERROR"),
        (&tools.verifying, "verify", missing, "NOT_FOUND"),
        (
            &tools.verifying,
            "verify",
            json!({"deliverableId": "B"}),
            "INVALID_TRANSITION",
        ),
        (&tools.verifying, "verify", json!({}), "VALIDATION_ERROR"),
        (
            &tools.coding,
            "set_status",
            json!({"deliverableId": "Z", "status": "passed"}),
            "NOT_FOUND",
        ),
        (
            &tools.planning,
            "create",
            json!({"deliverables": [deliverable]}),
            "DUPLICATE_ID",
        ),
        (
            &tools.coding,
            "list",
            json!({"limit": 0}),
            "VALIDATION_ERROR",
        ),
    ] {
        let error = toolbox.call(tool, input, context()).await;
        let error = error.expect_err("it cannot be done");

        let text: Value = serde_json::from_str(&error.to_string()).expect("it is JSON");

        let expected = json!({"success": false, "error": code, "message": error.message});
        assert_eq!(text, expected, "{tool}");
    }
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
        "NOT_FOUND: there is no tool create; known tools are: set_status, list"
    );
}

proptest! {
    #[test]
    fn tools_never_panic_on_arbitrary_input(
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
