//! Summary of denied calls that the operator can allow.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

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

impl DeniedCall {
    /// Formats the tool and the target.
    pub(crate) fn label(&self) -> String {
        match &self.target {
            Some(target) => format!("{}: {}", shorten(&self.tool), shorten(target)),
            None => shorten(&self.tool),
        }
    }
}

/// Groups items by key, in the order of their first occurrence. Returns the first item and the size
/// of each group. Items without a key are left out.
pub(crate) fn group_by<'t, T, K: Hash + Eq>(
    items: &'t [T],
    key: impl Fn(&'t T) -> Option<K>,
) -> Vec<(&'t T, usize)> {
    let mut groups: Vec<(&T, usize)> = Vec::new();
    let mut places = HashMap::new();
    for item in items {
        let Some(key) = key(item) else { continue };
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => groups.push((item, 1)),
        }
    }
    groups
}

/// Returns the first call and the number of calls for each remedy, most frequent first.
pub(crate) fn group_by_remedy(denied: &[DeniedCall]) -> Vec<(&DeniedCall, usize)> {
    let mut groups = group_by(denied, |call| call.remedy.as_deref());
    // The sort is stable: groups of the same size keep the order of their first calls.
    groups.sort_by_key(|(_, count)| Reverse(*count));
    groups
}

/// Lists the most frequent denied calls with their remedies, at most `limit`; `None` if there are
/// none.
pub(crate) fn denial_summary(denied: &[DeniedCall], limit: usize) -> Option<String> {
    let all = group_by_remedy(denied);
    if all.is_empty() {
        return None;
    }
    let mut text = "Denied calls that you can allow:".to_owned();
    for (first, count) in all.iter().take(limit) {
        let call = first.label();
        let remedy = first
            .remedy
            .as_deref()
            .map(sanitize_line)
            .unwrap_or_default();
        text.push_str(&format!("\n  {count}x {call}\n     to allow it: {remedy}"));
    }
    let more = all.len().saturating_sub(limit);
    if more > 0 {
        text.push_str(&format!("\n  {more} more: `autonoe report` lists them"));
    }
    Some(text)
}
