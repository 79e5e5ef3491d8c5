//! [`ViewState`]: selection and open pane of the terminal view.

use crate::{Dashboard, MemberRow, MemberRowId};

/// Selection, open pane and note of the terminal view. Only [`press`](super::press) changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// Selected member and its last known index.
    pub(super) selected: Option<(MemberRowId, usize)>,
    pub(super) pane: Pane,
    /// Short note about the last key.
    pub(super) note: Option<String>,
}

/// Pane beside or over the members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    /// Alerts.
    #[default]
    Fleet,
    /// All fields of the selected member and the end of its log.
    Details,
    /// Key help.
    Help,
    /// Confirmation to kill this member.
    ConfirmKill(MemberRowId),
}

impl ViewState {
    /// Returns the index of the selected member. Without a selection this is the first member. If
    /// the selected member is gone, it is the member at its former index. `None` without members.
    pub(super) fn selected_index(&self, dashboard: &Dashboard) -> Option<usize> {
        let last = dashboard.members.len().checked_sub(1)?;
        let Some((id, place)) = &self.selected else {
            return Some(0);
        };
        let is_it = |member: &MemberRow| member.id == *id;
        let known = dashboard.members.get(*place).is_some_and(is_it);
        let found = if known {
            Some(*place)
        } else {
            dashboard.members.iter().position(is_it)
        };
        Some(found.unwrap_or((*place).min(last)))
    }

    /// Returns the selected member.
    pub(super) fn member<'d>(&self, dashboard: &'d Dashboard) -> Option<&'d MemberRow> {
        dashboard.members.get(self.selected_index(dashboard)?)
    }

    /// Shows a note in the last line until the next key.
    pub(super) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(ids: &[&str]) -> Dashboard {
        let members = ids.iter().map(|id| MemberRow::new(*id, "claude"));
        Dashboard::new("o", "race").with_members(members.collect())
    }

    #[test]
    fn the_selection_stays_with_its_member() {
        let state = ViewState {
            selected: Some(("b".into(), 1)),
            ..ViewState::default()
        };

        assert_eq!(state.selected_index(&fleet(&["a", "b", "c"])), Some(1));
        assert_eq!(state.selected_index(&fleet(&["new", "a", "b"])), Some(2));
        assert_eq!(state.selected_index(&fleet(&["a", "c"])), Some(1));
        assert_eq!(state.selected_index(&fleet(&["a"])), Some(0));
        assert_eq!(state.selected_index(&fleet(&[])), None);
        assert_eq!(ViewState::default().selected_index(&fleet(&["a"])), Some(0));
    }
}
