//! Commands of the ledger and its JSON format.

use autonoe_core::ledger::{DeliverableId, Ledger, LedgerError};
use autonoe_core::{Deliverable, DeliverableStatus};
use jiff::civil::{Date, date};
use proptest::prelude::*;
use serde_json::json;

const TODAY: Date = date(2026, 2, 3);

fn id(text: &str) -> DeliverableId {
    DeliverableId::new(text).expect("a valid id")
}

fn deliverable(name: &str) -> Deliverable {
    Deliverable::new(id(name), format!("what {name} is"), ["it works"]).expect("valid")
}

fn ledger_with(names: &[&str]) -> Ledger {
    let mut ledger = Ledger::new(date(2026, 1, 1));
    if !names.is_empty() {
        let batch = names.iter().map(|name| deliverable(name));
        ledger.create(batch, date(2026, 1, 1)).expect("new ids");
    }
    ledger
}

#[test]
fn create_is_all_or_nothing() {
    let mut ledger = ledger_with(&["A"]);
    let before = ledger.clone();

    let existing = ledger.create([deliverable("B"), deliverable("A")], TODAY);
    let twice = ledger.create([deliverable("B"), deliverable("B")], TODAY);
    let empty = ledger.create([], TODAY);

    assert_eq!(existing, Err(LedgerError::DuplicateId { id: id("A") }));
    assert_eq!(twice, Err(LedgerError::DuplicateId { id: id("B") }));
    assert_eq!(empty, Err(LedgerError::EmptyBatch));
    assert_eq!(ledger, before);
}

#[test]
fn a_deliverable_needs_a_description_and_criteria() {
    let none: [&str; 0] = [];

    assert!(Deliverable::new(id("A"), " ", ["x"]).is_err());
    assert!(Deliverable::new(id("A"), "x", none).is_err());
    assert!(Deliverable::new(id("A"), "x", ["ok", " "]).is_err());
}

// Shows: spec/3.4/blocked-only-when-not-passed
#[test]
fn a_refused_change_changes_nothing() {
    let mut ledger = ledger_with(&["A"]);
    ledger
        .set_status(&id("A"), DeliverableStatus::Passed, TODAY)
        .expect("legal");
    let before = ledger.clone();

    let blocked = ledger.set_status(&id("A"), DeliverableStatus::Blocked, TODAY);
    let unknown = ledger.set_status(&id("Z"), DeliverableStatus::Passed, TODAY);

    assert_eq!(
        blocked.map_err(|error| error.to_string()),
        Err("deliverable A is passed and cannot become blocked; set it to pending first".into())
    );
    assert_eq!(unknown, Err(LedgerError::NotFound { id: id("Z") }));
    assert_eq!(ledger, before);
}

#[test]
fn a_change_has_the_previous_status_and_dates_the_ledger() {
    let mut ledger = ledger_with(&["A"]);

    let change = ledger
        .set_status(&id("A"), DeliverableStatus::Passed, TODAY)
        .expect("legal");

    assert_eq!(
        (change.previous, change.status),
        (Some(DeliverableStatus::Pending), DeliverableStatus::Passed)
    );
    assert_eq!(change.description, "what A is");
    assert_eq!(
        (ledger.created_at(), ledger.updated_at()),
        (Some(date(2026, 1, 1)), Some(TODAY))
    );
}

#[test]
fn a_deprecated_deliverable_is_history() {
    let mut ledger = ledger_with(&["A", "B"]);
    ledger.deprecate(&id("A"), TODAY).expect("it exists");
    ledger
        .deprecate(&id("A"), date(2027, 1, 1))
        .expect("again is no error");

    assert_eq!(
        ledger.get(&id("A")).and_then(Deliverable::deprecated_at),
        Some(TODAY)
    );
    assert_eq!(
        ledger.set_status(&id("A"), DeliverableStatus::Passed, TODAY),
        Err(LedgerError::Deprecated { id: id("A") })
    );
    let counts = ledger.counts();
    assert_eq!((counts.total, counts.deprecated), (1, 1));
    assert_eq!(
        ledger.create([deliverable("A")], TODAY),
        Err(LedgerError::DuplicateId { id: id("A") })
    );
}

// Shows: spec/2.3/deliverable-status-aggregate, spec/5.2/status.json-shape-created-at-updated
#[test]
fn a_ledger_of_the_first_autonoe_round_trips_unchanged() {
    let on_disk = json!({
        "createdAt": "2025-01-01",
        "updatedAt": "2025-01-10",
        "deliverables": [
            {
                "id": "DL-001",
                "description": "User Authentication",
                "acceptanceCriteria": ["User can login with email and password"],
                "passed": false,
                "blocked": false,
            },
            {
                "id": "DL-002",
                "description": "Legacy Feature",
                "acceptanceCriteria": ["..."],
                "passed": true,
                "blocked": false,
                "deprecatedAt": "2025-01-10",
            },
        ],
        "projectName": "a field that nobody here knows",
    });

    let ledger: Ledger = serde_json::from_value(on_disk.clone()).expect("it is valid");

    assert_eq!(ledger.counts().total, 1);
    assert_eq!(
        serde_json::to_value(&ledger).expect("it serialises"),
        on_disk
    );
}

#[test]
fn invalid_ledger_is_refused() {
    for (case, on_disk) in [
        ("an empty object", json!({})),
        ("a list", json!([])),
        (
            "wrong types",
            json!({"deliverables": [{"id": 1, "description": "x"}]}),
        ),
        (
            "both flags",
            json!({"deliverables": [
            {"id": "A", "description": "x", "passed": true, "blocked": true}]}),
        ),
        (
            "an id twice",
            json!({"deliverables": [
            {"id": "A", "description": "x"}, {"id": "A", "description": "y"}]}),
        ),
        (
            "a blank id",
            json!({"deliverables": [{"id": " ", "description": "x"}]}),
        ),
        (
            "a date that is none",
            json!({"createdAt": "soon", "deliverables": []}),
        ),
    ] {
        let refused = serde_json::from_value::<Ledger>(on_disk);

        assert!(refused.is_err(), "{case} was read as a ledger");
    }
}

proptest! {
    #[test]
    fn counts_always_add_up_and_survive_json(
        commands in prop::collection::vec((0..6_u8, 0..4_u8), 0..60)
    ) {
        let mut ledger = ledger_with(&[]);
        for (name, command) in commands {
            let name = id(&format!("DL-{name}"));
            let _ = match command {
                0 => ledger.create([deliverable(name.as_str())], TODAY).map(|_| ()),
                1 => ledger.set_status(&name, DeliverableStatus::Passed, TODAY).map(|_| ()),
                2 => ledger.set_status(&name, DeliverableStatus::Blocked, TODAY).map(|_| ()),
                _ => ledger.deprecate(&name, TODAY),
            };
            let counts = ledger.counts();
            prop_assert_eq!(counts.total + counts.deprecated, ledger.deliverables().len());
            prop_assert_eq!(counts.passed + counts.blocked + counts.pending(), counts.total);
            prop_assert!(!(counts.all_blocked() && counts.all_achievable_passed()));
        }
        let json = serde_json::to_string(&ledger).expect("it serialises");
        prop_assert_eq!(serde_json::from_str::<Ledger>(&json).expect("it parses"), ledger);
    }
}
