//! Instructions that no agent read.

use jiff::Timestamp;

use crate::{Alert, AlertManager, HarnessFolder, Severity};

/// Tells whoever looks at alerts that an instruction came too late for any agent, and returns the
/// sentence. Who sent it was told that it waits for the next turn, and there was none.
pub(super) async fn tell(folder: &HarnessFolder, number: u64, now: Timestamp) -> String {
    let said = format!("instruction {number} came too late for any agent");
    let alert = Alert::new("instruction_too_late", Severity::Warning, &said, now)
        .of(folder.id().clone())
        .with("instruction", number);
    let mut alerts = AlertManager::new(folder.alert_log().path());
    if let Some(root) = folder.path().parent() {
        alerts = alerts.with_log_of_all(root.join("alerts.log"));
    }
    if let Err(error) = alerts.alert(alert).await {
        tracing::warn!(%error, "an alert cannot be kept");
    }
    said
}
