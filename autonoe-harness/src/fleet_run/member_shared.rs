//! Shares the work of a member with the rest of the fleet.

use autonoe_core::{RunOutcome, replace_file_durably};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::member_events::MemberEvents;
use super::member_record::MemberRecord;
use crate::{Alert, ArtifactName, HarnessResult, Severity, SharedContext, WorkEvent};

type Trouble = Box<dyn std::error::Error + Send + Sync>;

impl MemberRecord {
    /// Emits the shared events of journal entries. Events that were emitted before are kept once.
    ///
    /// A failure does not hold up the work: [`share`](Self::share) emits all of them again.
    pub(super) async fn emit(&self, events: &MemberEvents, entries: &[WorkEvent]) {
        if let Err(error) = self.try_to_emit(events, entries).await {
            tracing::warn!(%error, "events of a member cannot be shared");
            self.line(&format!("warning: events cannot be shared: {error}"));
        }
    }

    async fn try_to_emit(
        &self,
        events: &MemberEvents,
        entries: &[WorkEvent],
    ) -> Result<(), Trouble> {
        let events: Vec<_> = entries.iter().flat_map(|it| events.of_entry(it)).collect();
        if events.is_empty() {
            return Ok(());
        }
        let shared = self.shared().await?;
        for event in &events {
            shared.emit_event(event).await?;
        }
        Ok(())
    }

    /// Shares the outcome of the member: its output as an artifact, and one event, also if a kill makes
    /// it share the outcome twice.
    ///
    /// A failure does not undo the work: it raises an alert.
    pub(super) async fn share(&self, outcome: &RunOutcome) {
        if let Err(error) = self.try_to_share(outcome).await {
            let message = format!("what it came to could not be shared: {error}");
            let now = self.clock.now();
            self.alert(Alert::new("not_shared", Severity::Warning, message, now))
                .await;
        }
    }

    async fn try_to_share(&self, outcome: &RunOutcome) -> Result<(), Trouble> {
        let shared = self.shared().await?;
        let result: HarnessResult = serde_json::from_value(outcome.output.clone())?;
        self.publish(shared, &result).await?;
        let entries = self.entries()?;
        // Without an entry the run was never opened.
        if let Some(events) = MemberEvents::of_journal(&self.id, &entries) {
            self.try_to_emit(&events, &entries).await?;
            let now = self.clock.now();
            let ended = events.of_outcome(outcome, &result, &self.artifact(), now);
            shared.emit_event(&ended).await?;
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

    fn artifact(&self) -> String {
        format!("{}.md", self.id)
    }
}
