//! Applies a check to every session that could be played.

use super::played::Played;
use super::sessions::Session;
use crate::conformance::checks::{CheckOutcome, Checks, Flaw};

/// Applies `check` to each of `sessions` that could be played.
pub(super) fn over<'s>(
    checks: &mut Checks,
    name: &str,
    sessions: impl IntoIterator<Item = &'s Session>,
    check: impl Fn(&Played) -> CheckOutcome,
) {
    let pairs_of: Vec<_> = sessions.into_iter().map(|session| (session, 0)).collect();
    pairs(checks, name, &pairs_of, |played, _| check(played));
}

/// Applies `check` to each of `sessions` that could be played, with the number of its calls.
pub(super) fn pairs(
    checks: &mut Checks,
    name: &str,
    sessions: &[(&Session, usize)],
    check: impl Fn(&Played, usize) -> CheckOutcome,
) {
    // Another check reports a turn that did not end; its remaining items are unknown.
    let seen: Vec<_> = sessions
        .iter()
        .filter_map(|(session, count)| match session {
            Ok(played) if played.turn.is_ok() => Some((played, *count)),
            _ => None,
        })
        .collect();
    if seen.is_empty() {
        let why = sessions.first().map(|(session, _)| missing(session));
        checks.run_sync(name, || {
            Err(why.unwrap_or_else(|| Flaw::Untestable("nothing to see".into())))
        });
    } else {
        checks.each(name, seen, |(played, count)| check(played, count));
    }
}

/// Returns the reason why there is no session to inspect.
pub(super) fn missing(session: &Session) -> Flaw {
    Flaw::Untestable(match session {
        Err(Flaw::Untestable(why)) => why.clone(),
        Err(Flaw::Failed(_)) => "its session could not be played".into(),
        Ok(Played { label, .. }) => format!("the session {label:?} did not come to its end"),
    })
}
