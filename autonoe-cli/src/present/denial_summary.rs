//! Summary of denied calls that the operator can allow.

use std::collections::HashMap;

use autonoe_core::DeniedEntry;

use super::shorten;

/// Groups listed after a run.
const LISTED: usize = 5;

/// Denied calls that one change of the settings allows.
#[derive(Debug)]
pub(crate) struct RemedyGroup<'d> {
    /// The change.
    pub(crate) remedy: &'d str,
    /// The first of the calls.
    pub(crate) first: &'d DeniedEntry,
    /// The number of calls.
    pub(crate) count: usize,
}

/// Groups `denied` by the change that allows the calls, most frequent first. Calls that no setting
/// allows are left out.
pub(crate) fn group_by_remedy(denied: &[DeniedEntry]) -> Vec<RemedyGroup<'_>> {
    let mut all: Vec<RemedyGroup<'_>> = Vec::new();
    let mut places = HashMap::new();
    for entry in denied {
        let Some(remedy) = entry.remedy.as_deref() else {
            continue;
        };
        let place = *places.entry(remedy).or_insert(all.len());
        match all.get_mut(place) {
            Some(known) => known.count += 1,
            None => all.push(RemedyGroup {
                remedy,
                first: entry,
                count: 1,
            }),
        }
    }
    // A stable sort: groups of the same size keep the order of their first calls.
    all.sort_by_key(|group| std::cmp::Reverse(group.count));
    all
}

impl RemedyGroup<'_> {
    /// Describes the first of the calls: its tool and its target.
    pub(crate) fn call(&self) -> String {
        match &self.first.target {
            Some(target) => format!("{}: {}", shorten(&self.first.tool), shorten(target)),
            None => shorten(&self.first.tool),
        }
    }
}

/// Lists the most frequent denied calls with the changes that allow them; `None` if there are none.
pub(crate) fn denial_summary(denied: &[DeniedEntry]) -> Option<String> {
    let all = group_by_remedy(denied);
    if all.is_empty() {
        return None;
    }
    let mut text = "Denied calls that you can allow:".to_owned();
    for group in all.iter().take(LISTED) {
        let (count, call, remedy) = (group.count, group.call(), shorten(group.remedy));
        text.push_str(&format!("\n  {count}x {call}\n     to allow it: {remedy}"));
    }
    let more = all.len().saturating_sub(LISTED);
    if more > 0 {
        text.push_str(&format!("\n  {more} more: `autonoe report` lists them"));
    }
    Some(text)
}
