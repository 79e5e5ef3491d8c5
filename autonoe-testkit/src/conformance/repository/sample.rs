//! Sample ledgers.

use autonoe_core::ledger::LedgerState;
use serde_json::{Value, json};

use crate::conformance::checks::{CheckOutcome, Flaw};

fn state(ledger: &Value, verification: &Value) -> CheckOutcome<LedgerState> {
    // Only deserialization can produce fields that this version does not know.
    serde_json::from_value(json!({"ledger": ledger, "verification": verification}))
        .map_err(|error| Flaw::Untestable(format!("the suite's own ledger is wrong: {error}")))
}

fn nothing_verified() -> Value {
    json!({"verified": []})
}

/// A ledger with deliverables of every status, a deprecated one and awkward texts.
pub(super) fn every_status() -> CheckOutcome<LedgerState> {
    let ledger = json!({
        "createdAt": "2026-01-31",
        "updatedAt": "2026-02-28",
        "deliverables": [
            {"id": "DL-003", "description": "Pending", "acceptanceCriteria": ["a", "b", "a"]},
            {"id": "DL-001", "description": "Passed", "acceptanceCriteria": ["c"], "passed": true},
            {"id": "DL-002", "description": "Blocked", "acceptanceCriteria": [], "blocked": true},
            {
                "id": "dl-001",
                "description": "Dropped after it had passed",
                "acceptanceCriteria": ["d"],
                "passed": true,
                "deprecatedAt": "2026-02-01",
            },
            {
                "id": "Größe 'x' \"y\" \\ %s ; -- /../",
                "description": "a\nb\r\n\tc 🦀 \u{2028} e\u{301} \u{202e}",
                "acceptanceCriteria": [" surrounded by blanks ", "{\"json\": true}", "x".repeat(70_000)],
            },
        ],
    });
    state(&ledger, &nothing_verified())
}

/// A ledger with fields that this version does not know, in the ledger and in a deliverable.
pub(super) fn unknown_fields() -> CheckOutcome<LedgerState> {
    let ledger = json!({
        "deliverables": [{
            "id": "DL-001",
            "description": "Login",
            "acceptanceCriteria": ["it works"],
            "owner": {"team": "web", "people": ["a", null, 1.5, -3, 18_446_744_073_709_551_615_u64]},
            "nothing": null,
        }],
        "schema": "of a later version",
        "labels": [{"deep": [[[]]]}, true],
    });
    state(&ledger, &nothing_verified())
}

/// A ledger with one of two deliverables verified by a sync.
pub(super) fn half_verified() -> CheckOutcome<LedgerState> {
    state(&two(), &json!({"verified": ["DL-002"], "finished": false}))
}

/// A ledger that a sync has verified completely.
pub(super) fn all_verified() -> CheckOutcome<LedgerState> {
    state(
        &two(),
        &json!({"verified": ["DL-001", "DL-002"], "finished": true}),
    )
}

fn two() -> Value {
    json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
        {"id": "DL-002", "description": "Logout", "acceptanceCriteria": ["it works"]},
    ]})
}

/// A ledger in which every part contains `version`, so that a mixture of two versions is visible.
pub(super) fn version(version: usize) -> CheckOutcome<LedgerState> {
    let ids: Vec<String> = (0..40).map(|n| format!("DL-{version}-{n}")).collect();
    let deliverables: Vec<Value> = ids
        .iter()
        .map(
            |id| json!({"id": id, "description": version.to_string(), "acceptanceCriteria": ["x"]}),
        )
        .collect();
    let ledger = json!({ "deliverables": deliverables });
    state(&ledger, &json!({"verified": ids, "finished": true}))
}

/// A ledger with `deliverables` only.
pub(super) fn with(deliverables: &[&str]) -> CheckOutcome<LedgerState> {
    let deliverables: Vec<Value> = deliverables
        .iter()
        .map(|id| json!({"id": id, "description": "x", "acceptanceCriteria": ["y"]}))
        .collect();
    state(
        &json!({ "deliverables": deliverables }),
        &nothing_verified(),
    )
}
