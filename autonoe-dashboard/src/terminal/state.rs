//! What a person has chosen to look at.

use crate::{Dashboard, Member, MemberId};

/// What a person has chosen to look at. It is changed by [`press`](super::press) only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// Who is selected, and the place where that one was.
    pub(super) selected: Option<(MemberId, usize)>,
    pub(super) pane: Pane,
    /// What came of the last key, in a few words.
    pub(super) note: Option<String>,
}

/// What is shown beside or over the members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    /// Alerts.
    #[default]
    Fleet,
    /// All that is known of the selected member, with the end of its log.
    Details,
    /// The keys.
    Help,
    /// Whether this one is really to be killed.
    ConfirmKill(MemberId),
}

impl ViewState {
    /// Returns the place of the selected member: the first at the beginning, and the one that
    /// moved to its place when it is gone. `None` if there is no member.
    pub(super) fn place(&self, dashboard: &Dashboard) -> Option<usize> {
        let last = dashboard.members.len().checked_sub(1)?;
        let Some((id, place)) = &self.selected else {
            return Some(0);
        };
        let is_it = |member: &Member| member.id == *id;
        let known = dashboard.members.get(*place).is_some_and(is_it);
        let found = match known {
            true => Some(*place),
            false => dashboard.members.iter().position(is_it),
        };
        Some(found.unwrap_or((*place).min(last)))
    }

    /// Returns the selected member.
    pub(super) fn member<'d>(&self, dashboard: &'d Dashboard) -> Option<&'d Member> {
        dashboard.members.get(self.place(dashboard)?)
    }

    /// Says something in the last line until the next key.
    pub(super) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(ids: &[&str]) -> Dashboard {
        let members = ids.iter().map(|id| Member::new(*id, "claude"));
        Dashboard::new("o", "race").with_members(members.collect())
    }

    #[test]
    fn the_selection_stays_with_its_member() {
        let state = ViewState {
            selected: Some(("b".into(), 1)),
            ..ViewState::default()
        };

        assert_eq!(state.place(&fleet(&["a", "b", "c"])), Some(1));
        assert_eq!(state.place(&fleet(&["new", "a", "b"])), Some(2));
        assert_eq!(state.place(&fleet(&["a", "c"])), Some(1));
        assert_eq!(state.place(&fleet(&["a"])), Some(0));
        assert_eq!(state.place(&fleet(&[])), None);
        assert_eq!(ViewState::default().place(&fleet(&["a"])), Some(0));
    }
}
