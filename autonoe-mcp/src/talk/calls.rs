//! The calls of one client that are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// How many calls one client may have under way.
const MOST: usize = 64;

/// The calls of one client that are under way, by the ids that it gave them.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<HashMap<String, CancellationToken>>);

/// Why a call cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotBegun {
    /// Its id is that of another call.
    IdInUse,
    TooMany,
}

/// A call that has begun. It is over when this is dropped.
#[derive(Debug)]
pub(super) struct Begun {
    calls: Arc<Calls>,
    id: String,
    /// Is cancelled when nobody waits for the result any more.
    pub(super) cancelled: CancellationToken,
}

impl Calls {
    /// Begins a call, which is cancelled at the latest when `over` is.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: &Value,
        over: &CancellationToken,
    ) -> Result<Begun, NotBegun> {
        let mut calls = self.lock();
        // The number 1 is another id than the text "1".
        let id = id.to_string();
        if calls.contains_key(&id) {
            return Err(NotBegun::IdInUse);
        }
        if calls.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let cancelled = over.child_token();
        calls.insert(id.clone(), cancelled.clone());
        Ok(Begun {
            calls: self.clone(),
            id,
            cancelled,
        })
    }

    /// Cancels a call, if it is still under way.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(call) = self.lock().get(&id.to_string()) {
            call.cancel();
        }
    }

    /// Cancels all of them.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(CancellationToken::cancel);
    }

    /// Tells whether none is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_cancelled_by_its_id_and_no_other() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let number = calls.begin(&json!(1), &over).expect("it begins");
        let text = calls.begin(&json!("1"), &over).expect("it begins");

        calls.cancel(&json!(1));
        calls.cancel(&json!(7));

        assert!(number.cancelled.is_cancelled());
        assert!(!text.cancelled.is_cancelled());
        over.cancel();
        assert!(text.cancelled.is_cancelled());
    }

    #[test]
    fn an_id_is_free_again_when_its_call_is_over() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let first = calls.begin(&json!(1), &over).expect("it begins");

        let taken = calls.begin(&json!(1), &over).map(|_| ());
        drop(first);

        assert_eq!(taken, Err(NotBegun::IdInUse));
        assert!(calls.is_idle());
        assert!(calls.begin(&json!(1), &over).is_ok());
    }

    #[test]
    fn there_is_an_end_to_what_one_client_may_have_under_way() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let begun: Vec<_> = (0..MOST)
            .map(|id| calls.begin(&json!(id), &over).expect("it begins"))
            .collect();

        let one_more = calls.begin(&json!("more"), &over).map(|_| ());

        assert_eq!(one_more, Err(NotBegun::TooMany));
        assert_eq!(begun.len(), MOST);
    }
}
