//! Summary of refused calls that the operator could allow.

use std::collections::HashMap;

use autonoe_core::DeniedEntry;

use super::shorten;

/// Refused calls listed after a run.
const LISTED: usize = 5;

/// Refused calls that one change of the settings would allow.
#[derive(Debug)]
pub(crate) struct Refused<'d> {
    /// The change.
    pub(crate) remedy: &'d str,
    /// The first of the calls.
    pub(crate) first: &'d DeniedEntry,
    /// The number of calls.
    pub(crate) times: usize,
}

/// Groups `denied` by the change that would allow the calls, most frequent first. Calls that no
/// setting allows are left out.
pub(crate) fn refused(denied: &[DeniedEntry]) -> Vec<Refused<'_>> {
    let mut all: Vec<Refused<'_>> = Vec::new();
    let mut places = HashMap::new();
    for entry in denied {
        let Some(remedy) = entry.remedy.as_deref() else {
            continue;
        };
        let place = *places.entry(remedy).or_insert(all.len());
        match all.get_mut(place) {
            Some(known) => known.times += 1,
            None => all.push(Refused {
                remedy,
                first: entry,
                times: 1,
            }),
        }
    }
    // Stable: of calls that were refused equally often, the earlier come first.
    all.sort_by_key(|refused| std::cmp::Reverse(refused.times));
    all
}

impl Refused<'_> {
    /// Describes the first of the calls: the tool, and what it was called for.
    pub(crate) fn call(&self) -> String {
        match &self.first.target {
            Some(target) => format!("{}: {}", shorten(&self.first.tool), shorten(target)),
            None => shorten(&self.first.tool),
        }
    }
}

/// Lists the most frequent refused calls with the changes that would allow them; `None` if there
/// are none.
pub(crate) fn refused_summary(denied: &[DeniedEntry]) -> Option<String> {
    let all = refused(denied);
    if all.is_empty() {
        return None;
    }
    let mut text = "Refused calls that you can allow:".to_owned();
    for refused in all.iter().take(LISTED) {
        let (times, call, remedy) = (refused.times, refused.call(), shorten(refused.remedy));
        text.push_str(&format!("\n  {times}x {call}\n     to allow it: {remedy}"));
    }
    let more = all.len().saturating_sub(LISTED);
    if more > 0 {
        text.push_str(&format!("\n  {more} more: `autonoe report` lists them"));
    }
    Some(text)
}
