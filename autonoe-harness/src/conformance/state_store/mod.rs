//! What every store of a harness's state must do.

mod asked;
mod claims;
mod logs;
mod plans;

use std::sync::Arc;

use autonoe_testkit::conformance::{Checks, Conformance};

use crate::StateStore;

/// Checks a [`StateStore`] against its contract. Each time `empty` is called it must return a store
/// in which there is nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::{MemoryState, StateStore, conformance};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let empty = async || Arc::new(MemoryState::new()) as Arc<dyn StateStore>;
///
/// conformance::state_store(&empty).await.assert();
/// # });
/// ```
pub async fn state_store(empty: &impl AsyncFn() -> Arc<dyn StateStore>) -> Conformance {
    let mut checks = Checks::of("state store");
    plans::check(&mut checks, empty).await;
    claims::check(&mut checks, empty).await;
    logs::check(&mut checks, empty).await;
    checks.finish()
}
