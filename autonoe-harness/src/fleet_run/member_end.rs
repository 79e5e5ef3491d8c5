//! Shares the end of a member: its output as an artifact, and its events.

use autonoe_core::engine::RunOutcome;
use autonoe_core::project::replace_file_durably;
use jiff::Timestamp;
use serde_json::json;

use super::member_projection::MemberProjection;
use super::member_recorder::BoxError;
use super::{FleetMember, FleetRun};
use crate::folder::{FolderError, JournalEntry, MemberFolder};
use crate::shared::{ArtifactName, NewMemberEvent, SharedContext};
use crate::strategy::MemberReport;

/// The journal of a member that has ended, as shared events.
pub(super) struct MemberEnd {
    projection: MemberProjection,
    /// All shared events of the journal, without that of the end.
    events: Vec<NewMemberEvent>,
    /// The time of the last entry.
    last: Option<Timestamp>,
}

impl MemberEnd {
    /// Reads the journal of a member.
    pub(super) fn read(folder: &MemberFolder) -> Result<Self, FolderError> {
        let entries = folder.entries()?;
        let mut projection = MemberProjection::new(folder.id().clone());
        let mut events = Vec::new();
        for entry in &entries {
            if let JournalEntry::Work(event) = entry {
                events.extend(projection.apply(event).events);
            }
        }
        Ok(Self {
            projection,
            events,
            last: entries.iter().rev().find_map(JournalEntry::at),
        })
    }

    /// Publishes the output of the member, and emits its events. Sharing them again after a kill
    /// changes nothing.
    pub(super) async fn share(
        &self,
        shared: &SharedContext,
        folder: &MemberFolder,
        outcome: &RunOutcome,
        result: &MemberReport,
        at: Timestamp,
    ) -> Result<(), BoxError> {
        let artifact = format!("{}.md", folder.id());
        let name: ArtifactName = artifact.parse()?;
        let path = folder.path().join("output.md");
        replace_file_durably(&path, result.output.as_bytes())?;
        let about = json!({"success": result.success});
        shared
            .publish_artifact(&name, &path, folder.id(), &about, at)
            .await?;
        let end = self
            .projection
            .outcome_event(outcome, result, &artifact, at);
        for event in self.events.iter().chain(&end) {
            shared.emit_event(event).await?;
        }
        Ok(())
    }
}

impl FleetRun {
    /// Shares the ends of members whose processes did not: a killed or lost process shares nothing.
    /// A failure is logged: nothing is lost, because the events are derived from the journal.
    pub(super) async fn share_member_ends(&self) {
        for member in &self.order.members {
            if let Err(error) = self.share_member_end(member).await {
                let member = &member.id;
                tracing::warn!(%member, %error, "cannot share the end of a member");
            }
        }
    }

    async fn share_member_end(&self, member: &FleetMember) -> Result<(), BoxError> {
        let folder = self.home.member_folder(&self.order.name, &member.id)?;
        let end = MemberEnd::read(&folder)?;
        // A member that was never started, or that works on another engine, has no journal here.
        let (Some(key), Some(at)) = (end.projection.end_key(), end.last) else {
            return Ok(());
        };
        let Some(outcome) = folder.outcome()? else {
            return Ok(());
        };
        let shared = self.home.shared().await?;
        if shared.has_event(&key).await? {
            return Ok(());
        }
        let result = MemberReport::from_outcome(folder.id(), &outcome);
        end.share(&shared, &folder, &outcome, &result, at).await
    }
}
