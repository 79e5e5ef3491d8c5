//! What a member tells the others when it has ended.

use autonoe_core::{RunEnding, RunOutcome, replace_file_durably};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::FleetHome;
use super::member_record::MemberRecord;
use crate::{Alert, ArtifactName, Cursor, HarnessResult, NewHarnessEvent, Severity, SharedContext};

/// How many events are read at once.
const AT_ONCE: usize = 1000;

type Trouble = Box<dyn std::error::Error + Send + Sync>;

impl MemberRecord {
    /// Tells the others what the member came to, once, also when it is told again after a kill.
    ///
    /// That it cannot be told does not undo the work: it is an alert.
    pub(super) async fn share(&self, home: &FleetHome, outcome: &RunOutcome) {
        if let Err(error) = self.try_to_share(home, outcome).await {
            let message = format!("what it came to could not be shared: {error}");
            let now = self.clock.now();
            self.alert(Alert::new("not_shared", Severity::Warning, message, now))
                .await;
        }
    }

    async fn try_to_share(&self, home: &FleetHome, outcome: &RunOutcome) -> Result<(), Trouble> {
        let shared = home.shared().await?;
        let result: HarnessResult = serde_json::from_value(outcome.output.clone())?;
        self.publish(&shared, &result).await?;
        let kind = match outcome.ending {
            RunEnding::Succeeded => "complete",
            RunEnding::Failed { .. } => "fail",
            RunEnding::Cancelled { .. } => "stop",
        };
        if !self.has_told(&shared, kind).await? {
            let details = json!({
                "progress": result.progress,
                "error": result.error,
                "artifact": self.artifact(),
            });
            let event = NewHarnessEvent::new(kind, self.clock.now());
            let event = event.about(self.id.clone()).with_details(details);
            shared.emit_event(&event).await?;
        }
        Ok(())
    }

    /// Publishes what the member said at last.
    async fn publish(&self, shared: &SharedContext, result: &HarnessResult) -> Result<(), Trouble> {
        let name: ArtifactName = self.artifact().parse()?;
        let said = result.output.as_bytes();
        let digest = Sha256::digest(said);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let versions = shared.versions(&name).await?;
        if versions.last().is_some_and(|last| last.sha256 == digest) {
            return Ok(());
        }
        let path = self.folder.path().join("output.md");
        replace_file_durably(&path, said)?;
        let about = json!({"success": result.success});
        let now = self.clock.now();
        shared
            .publish_artifact(&name, &path, &self.id, &about, now)
            .await?;
        Ok(())
    }

    async fn has_told(&self, shared: &SharedContext, kind: &str) -> Result<bool, Trouble> {
        let mut after = Cursor::START;
        loop {
            let events = shared.events_since(after, AT_ONCE).await?;
            let Some(last) = events.last() else {
                return Ok(false);
            };
            after = last.cursor;
            let is_told = |event: &crate::HarnessEvent| {
                event.event.kind == kind && event.event.harness.as_ref() == Some(&self.id)
            };
            if events.iter().any(is_told) {
                return Ok(true);
            }
        }
    }

    fn artifact(&self) -> String {
        format!("{}.md", self.id)
    }
}
