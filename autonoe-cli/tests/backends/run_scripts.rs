//! Scripts of decisions for whole runs.

use autonoe_core::Mode;

use crate::backends::run_script::{
    End, RunScript, Session, deprecates, lists, plans, runs, sets, verifies, writes,
};

const PLANNED: End = End::Text("It is planned.");
const DONE: End = End::Text("That is all for now.");

/// Plans two deliverables, builds one per session, and attempts forbidden calls.
pub(crate) fn all_pass() -> RunScript {
    let planning = Session::new(
        [
            plans([
                ("DL-001", "greeting.txt greets"),
                ("DL-002", "farewell.txt says farewell"),
            ]),
            plans([("DL-002", "it is said twice")]).failing(),
        ],
        PLANNED,
    );
    let greeting = Session::new(
        [
            lists(),
            runs("truncate -s 0 trace.txt").denied(),
            runs("curl example.com > trace.txt").denied(),
            writes(".autonoe/trace.txt", "forged\n").denied(),
            writes("greeting.txt", "Good morning.\n"),
            runs("echo 'How are you?' >> greeting.txt"),
            sets("DL-009", "passed").failing(),
            sets("DL-001", "passed"),
        ],
        DONE,
    );
    let farewell = Session::new(
        [
            writes("parts/farewell.txt", "Good night.\n"),
            runs("cat parts/farewell.txt > farewell.txt"),
            sets("DL-001", "blocked").failing(),
        ],
        DONE,
    )
    .then_at_once([lists(), sets("DL-002", "passed")]);
    RunScript::new([planning, greeting, farewell])
}

/// Passes one of three deliverables. External causes block the others.
pub(crate) fn the_rest_is_blocked() -> RunScript {
    let planning = Session::new(
        [plans([
            ("DL-001", "notes.txt has a note"),
            ("DL-002", "a letter is sent"),
            ("DL-003", "an answer is read"),
        ])],
        PLANNED,
    );
    let working = Session::new(
        [
            writes("notes.txt", "There is no network.\n"),
            sets("DL-001", "passed"),
            sets("DL-001", "blocked").failing(),
        ],
        DONE,
    )
    .then_at_once([sets("DL-002", "blocked"), sets("DL-003", "blocked")]);
    RunScript::new([planning, working])
}

/// Plans in two steps. External causes block everything.
pub(crate) fn everything_is_blocked() -> RunScript {
    let planning = Session::new(
        [
            plans([("DL-001", "a letter is sent")]),
            plans([("DL-001", "it is sent twice")]).failing(),
            plans([("DL-002", "an answer is read")]),
        ],
        PLANNED,
    );
    let giving_up = Session::new([sets("DL-001", "blocked"), sets("DL-002", "blocked")], DONE);
    RunScript::new([planning, giving_up])
}

/// Passes a deliverable and reverts it, until the session limit.
pub(crate) fn no_session_is_left() -> RunScript {
    let planning = Session::new([plans([("DL-001", "count.txt counts")])], PLANNED);
    let first = Session::new(
        [
            writes("count.txt", "1\n"),
            sets("DL-001", "passed"),
            sets("DL-001", "pending"),
        ],
        DONE,
    );
    let second = Session::new([runs("echo 2 >> count.txt")], DONE);
    RunScript::new([planning, first, second]).with_max_iterations(3)
}

/// The quota is exhausted in the middle of a session.
pub(crate) fn the_quota_is_spent() -> RunScript {
    interrupted(End::QuotaSpent)
}

/// The service rejects the login.
pub(crate) fn the_login_is_refused() -> RunScript {
    interrupted(End::LoginRefused)
}

/// The service does not know the model.
pub(crate) fn the_model_is_unknown() -> RunScript {
    interrupted(End::ModelUnknown)
}

/// The account has an unpaid bill.
pub(crate) fn unpaid_account() -> RunScript {
    interrupted(End::Unpaid)
}

/// A session that ends in the middle.
fn interrupted(end: End) -> RunScript {
    let half = Session::new([writes("half.txt", "half\n")], end);
    RunScript::new([half]).with_plan([("DL-001", "half.txt is whole")])
}

/// Updates the ledger to match the specification and verifies it. Only notes are written.
pub(crate) fn all_is_verified() -> RunScript {
    let syncing = Session::new(
        [
            plans([("DL-001", "it was asked for"), ("DL-002", "it still is")]),
            deprecates("DL-001"),
            writes("code.txt", "forged\n").denied(),
            writes(".autonoe-note.md", "One was dropped.\n"),
        ],
        DONE,
    );
    let verifying = Session::new(
        [lists(), sets("DL-002", "passed"), verifies("DL-002")],
        DONE,
    );
    RunScript::new([syncing, verifying]).in_mode(Mode::Sync)
}
