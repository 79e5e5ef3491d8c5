//! Defects of the ledger, `.autonoe/status.json`.

use autonoe_core::ledger::{DeliverableId, Fence, LedgerState, RepositoryErrorKind};
use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::time::Epoch;
use autonoe_core::{Deliverable, DeliverableRepository};
use jiff::civil::date;

use crate::bad_input::attempt::Attempt::{self, Load, Run, Save};
use crate::bad_input::case::Case;
use crate::bad_input::folder::{Folder, runtime};
use crate::bad_input::other_process::Limits;

const FILE: &str = ".autonoe/status.json";
const ATTEMPTS: [Attempt; 3] = [Load, Save, Run];

pub(crate) fn cases() -> Vec<Case> {
    let texts = TEXTS.iter().map(|(defect, text)| {
        Case::new(format!("status.json {defect}"), ATTEMPTS, |folder| {
            folder.write(FILE, text.as_bytes());
        })
    });
    texts.chain(others()).collect()
}

/// One deliverable with `fields` beside its ID and description.
macro_rules! ledger_of {
    ($fields:literal) => {
        concat!(
            "{\n  \"deliverables\": [\n    {\"id\": \"A\", \"description\": \"x\", ",
            $fields,
            "}\n  ]\n}\n"
        )
    };
}

const TEXTS: &[(&str, &str)] = &[
    ("is empty", ""),
    ("is blank", " \n"),
    ("is corrupt", "hello"),
    (
        "is truncated",
        "{\n  \"deliverables\": [\n    {\"id\": \"A\", \"descr",
    ),
    (
        "is followed by something",
        "{\"deliverables\": []}\nhello\n",
    ),
    ("is a list", "[]"),
    ("has no deliverables", "{}"),
    (
        "has deliverables of the wrong type",
        "{\"deliverables\": {}}",
    ),
    (
        "has an id of the wrong type",
        "{\n  \"deliverables\": [\n    {\"id\": 7, \"description\": \"x\"}\n  ]\n}\n",
    ),
    (
        "has a blank id",
        "{\n  \"deliverables\": [\n    {\"id\": \" \", \"description\": \"x\"}\n  ]\n}\n",
    ),
    (
        "has an id that turns the direction of the text",
        "{\n  \"deliverables\": [\n    {\"id\": \"DL-\u{202e}100\", \"description\": \"x\"}\n  ]\n}\n",
    ),
    (
        "has an id with a character that nobody sees",
        "{\n  \"deliverables\": [\n    {\"id\": \"DL\\u200b-1\", \"description\": \"x\"}\n  ]\n}\n",
    ),
    (
        "has a deliverable without a description",
        "{\n  \"deliverables\": [\n    {\"id\": \"A\"}\n  ]\n}\n",
    ),
    (
        "has a flag of the wrong type",
        ledger_of!("\"passed\": \"yes\""),
    ),
    (
        "has criteria of the wrong type",
        ledger_of!("\"acceptanceCriteria\": \"it works\""),
    ),
    (
        "has a date that is none",
        ledger_of!("\"deprecatedAt\": \"someday\""),
    ),
    (
        "has a deliverable that is both passed and blocked",
        ledger_of!("\"passed\": true, \"blocked\": true"),
    ),
    (
        "has an id twice",
        "{\"deliverables\": [\n  {\"id\": \"A\", \"description\": \"x\"},\n  {\"id\": \"A\", \"description\": \"y\"}\n]}\n",
    ),
    (
        "has an epoch of the wrong type",
        "{\n  \"deliverables\": [],\n  \"epoch\": -1\n}\n",
    ),
    (
        "has a revision of the wrong type",
        "{\n  \"deliverables\": [],\n  \"revision\": \"x\"\n}\n",
    ),
    (
        "has a verification of the wrong type",
        "{\n  \"deliverables\": [],\n  \"verification\": []\n}\n",
    ),
];

fn others() -> Vec<Case> {
    vec![
        Case::new("status.json has the last epoch", [Run], |folder| {
            let text = format!("{{\"deliverables\": [], \"epoch\": {}}}\n", u64::MAX);
            folder.write(FILE, text.as_bytes());
        }),
        Case::new("status.json is not UTF-8", ATTEMPTS, |folder| {
            folder.write(
                FILE,
                b"{\n  \"deliverables\": [],\n  \"note\": \"\xff\"\n}\n",
            );
        }),
        Case::new("status.json is nested too deeply", ATTEMPTS, |folder| {
            let text = format!("{{\"deliverables\": [], \"x\": {}", "[".repeat(300_000));
            folder.write(FILE, text.as_bytes());
        }),
        Case::new("status.json is huge", ATTEMPTS, |folder| {
            folder.make_huge(FILE, 64 << 30);
        })
        .within(Limits::Memory(4 << 20)),
        Case::new("status.json is a folder", ATTEMPTS, |folder| {
            folder.put_folder(FILE);
        }),
        Case::new("status.json is a pipe", ATTEMPTS, |folder| {
            folder.put_pipe(FILE);
        }),
        Case::new("status.json is a socket", ATTEMPTS, |folder| {
            folder.put_socket(FILE);
        }),
        Case::new("status.json is a symlink to a ledger", ATTEMPTS, |folder| {
            std::fs::rename(folder.path(FILE), folder.path("ledger.json")).expect("ours");
            folder.put_symlink(FILE, "../ledger.json");
        }),
        Case::new(
            "status.json is a symlink that leads nowhere",
            ATTEMPTS,
            |folder| {
                folder.put_symlink(FILE, "gone");
            },
        ),
        Case::new("status.json cannot be read", ATTEMPTS, |_| {})
            .forbidding(|folder| folder.allow(FILE, 0o000)),
        Case::new(
            "the temporary file of status.json is a folder",
            ATTEMPTS,
            |folder| folder.put_folder(".autonoe/status.json.tmp"),
        ),
    ]
}

#[test]
fn a_text_that_is_not_a_ledger_is_corrupt_and_not_retryable() {
    let folder = Folder::new(1);
    let repository = FileDeliverableRepository::from_path(folder.path(FILE));
    for (defect, text) in TEXTS {
        folder.write(FILE, text.as_bytes());
        let state = LedgerState::new(date(2026, 1, 1));
        let fence = Fence {
            base: None,
            epoch: Epoch(9),
        };

        let loaded = runtime().block_on(repository.load());
        let saved = runtime().block_on(repository.save(&state, fence));

        for error in [loaded.expect_err(defect), saved.expect_err(defect)] {
            assert_eq!(error.kind(), RepositoryErrorKind::Corrupt, "{defect}");
            assert!(!error.is_retryable(), "{defect}");
        }
        assert_eq!(folder.read(FILE), *text, "{defect}");
    }
}

#[test]
fn a_ledger_that_would_be_too_large_to_be_read_is_not_written() {
    let folder = Folder::new(1);
    let before = folder.read(FILE);
    let repository = FileDeliverableRepository::from_path(folder.path(FILE));
    let loaded = runtime().block_on(repository.load()).expect("whole");
    let mut snapshot = loaded.expect("it is there");
    let id = DeliverableId::new("DL-LARGE").expect("an id");
    let large = Deliverable::new(id, "x".repeat(64 << 20), ["it works"]).expect("valid");
    let created = snapshot.state.ledger.create([large], date(2026, 1, 1));
    created.expect("a new id");
    let fence = Fence {
        base: Some(snapshot.revision),
        epoch: Epoch(9),
    };

    let saved = runtime().block_on(repository.save(&snapshot.state, fence));

    let error = saved.expect_err("it is too large");
    assert_eq!(error.kind(), RepositoryErrorKind::Unavailable);
    assert_eq!(folder.read(FILE), before);
}
