//! What hosts that were killed left.

use std::path::Path;
use std::time::Duration;

use autonoe_process::SessionFolder;

use super::place::marker_of;

/// How long it may take at most to end what a killed host left running.
const LIMIT: Duration = Duration::from_secs(5);

/// Ends what hosts that were killed left running, and removes the folders of their sessions in
/// `temporary` whose names begin with `prefix`.
///
/// What it cannot do is told in the log: it is no reason not to start a session.
pub async fn sweep(temporary: &Path, prefix: &'static str) {
    let temporary = temporary.to_owned();
    let _ = tokio::task::spawn_blocking(move || sweep_now(&temporary, prefix)).await;
}

fn sweep_now(temporary: &Path, prefix: &str) {
    let abandoned = match SessionFolder::abandoned_in(temporary, prefix) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "left folders cannot be looked for");
            return;
        }
    };
    for folder in abandoned {
        let path = folder.path().display();
        let Ok(marker) = marker_of(&folder) else {
            continue;
        };
        let swept = marker.kill_all(LIMIT);
        tracing::info!(%path, killed = swept.killed.len(), "the session of a killed host was removed");
        if !swept.left.is_empty() {
            tracing::error!(left = ?swept.left, "something of a killed host still runs");
        }
    }
}
