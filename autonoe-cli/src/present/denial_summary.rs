//! Summary of denied calls that the operator can allow.

use std::collections::HashMap;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_core::project::DeniedEntry;

/// A denied call.
#[derive(Debug)]
pub(crate) struct DeniedCall {
    pub(crate) tool: String,
    /// The target of the call, if it is known.
    pub(crate) target: Option<String>,
    /// The change of settings that allows the call, if there is one.
    pub(crate) remedy: Option<String>,
}

impl From<&DeniedEntry> for DeniedCall {
    fn from(entry: &DeniedEntry) -> Self {
        Self {
            tool: entry.tool.clone(),
            target: entry.target.clone(),
            remedy: entry.remedy.clone(),
        }
    }
}

/// Denied calls that the same change of settings allows.
#[derive(Debug)]
pub(crate) struct RemedyGroup<'d> {
    /// The change.
    pub(crate) remedy: &'d str,
    /// The first of the calls.
    pub(crate) first: &'d DeniedCall,
    /// The number of calls.
    pub(crate) count: usize,
}

/// Groups `denied` by remedy, most frequent first. Calls without a remedy are left out.
pub(crate) fn group_by_remedy(denied: &[DeniedCall]) -> Vec<RemedyGroup<'_>> {
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
    // The sort is stable: groups of the same size keep the order of their first calls.
    all.sort_by_key(|group| std::cmp::Reverse(group.count));
    all
}

impl RemedyGroup<'_> {
    /// Formats the tool and the target of the first call.
    pub(crate) fn call(&self) -> String {
        match &self.first.target {
            Some(target) => format!("{}: {}", shorten(&self.first.tool), shorten(target)),
            None => shorten(&self.first.tool),
        }
    }
}

/// Lists the most frequent denied calls with their remedies, at most `limit`; `None` if there are
/// none.
pub(crate) fn denial_summary(denied: &[DeniedCall], limit: usize) -> Option<String> {
    let all = group_by_remedy(denied);
    if all.is_empty() {
        return None;
    }
    let mut text = "Denied calls that you can allow:".to_owned();
    for group in all.iter().take(limit) {
        let (count, call, remedy) = (group.count, group.call(), sanitize_line(group.remedy));
        text.push_str(&format!("\n  {count}x {call}\n     to allow it: {remedy}"));
    }
    let more = all.len().saturating_sub(limit);
    if more > 0 {
        text.push_str(&format!("\n  {more} more: `autonoe report` lists them"));
    }
    Some(text)
}
