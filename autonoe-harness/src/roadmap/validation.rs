//! Validates a roadmap: task IDs, dependencies and cycles.

use std::collections::BTreeMap;

use super::finding::RoadmapFinding;
use super::outline::{Outline, nearest};
use super::plan::{PlannedTask, Roadmap};
use crate::executor::TaskId;

pub(super) fn validate(
    roadmap: &Roadmap,
    outline: &Outline<'_>,
    findings: &mut Vec<RoadmapFinding>,
) {
    let last = outline.lines.max(1);
    if roadmap.tasks.is_empty() {
        let line = outline
            .section("Tasks")
            .map_or(last, |section| section.line);
        findings.push(RoadmapFinding::new(
            line,
            1,
            "there are no tasks: write `- [ ] **id**: what to do` below `## Tasks`",
        ));
    }
    let mut known: BTreeMap<&TaskId, &PlannedTask> = BTreeMap::new();
    for planned in &roadmap.tasks {
        let id = &planned.task.id;
        if let Some(first) = known.get(id) {
            let message = format!("the task {id} already exists in line {}", first.line);
            findings.push(RoadmapFinding::new(planned.line, 1, message));
        } else {
            known.insert(id, planned);
        }
        if let Err(error) = planned.task.validate() {
            findings.push(RoadmapFinding::new(planned.line, 1, error.to_string()));
        }
    }
    for planned in &roadmap.tasks {
        for missing in planned.depends.iter().filter(|id| !known.contains_key(id)) {
            let near = nearest(missing.as_str(), known.keys().map(|id| id.as_str()));
            let hint = near
                .map(|near| format!("; did you mean {near}?"))
                .unwrap_or_default();
            let message = format!(
                "{} depends on {missing}, which does not exist{hint}",
                planned.task.id
            );
            findings.push(RoadmapFinding::new(planned.line, 1, message));
        }
    }
    for cycle in cycles(&roadmap.tasks, &known) {
        let path: Vec<_> = cycle
            .iter()
            .chain(cycle.first())
            .map(|planned| planned.task.id.as_str())
            .collect();
        let message = format!(
            "these tasks depend on each other in a cycle: {}",
            path.join(" -> ")
        );
        findings.push(RoadmapFinding::new(cycle[0].line, 1, message));
    }
}

/// Finds the dependency cycles, each once, starting with its first task in the file.
fn cycles<'a>(
    tasks: &'a [PlannedTask],
    known: &BTreeMap<&TaskId, &'a PlannedTask>,
) -> Vec<Vec<&'a PlannedTask>> {
    let mut found = Vec::new();
    let mut settled: BTreeMap<&TaskId, bool> = BTreeMap::new();
    for task in tasks {
        // Depth-first search: each task on the path, with its remaining dependencies.
        let mut path: Vec<(&PlannedTask, std::slice::Iter<'_, TaskId>)> = Vec::new();
        if settled.contains_key(&task.task.id) {
            continue;
        }
        settled.insert(&task.task.id, false);
        path.push((task, task.depends.iter()));
        while let Some((at, rest)) = path.last_mut() {
            let Some(next) = rest.next() else {
                settled.insert(&at.task.id, true);
                path.pop();
                continue;
            };
            let Some(next) = known.get(next).copied() else {
                continue;
            };
            match settled.get(&next.task.id) {
                Some(true) => {}
                // The task is on the path already.
                Some(false) => {
                    let start = path.iter().position(|(on, _)| on.task.id == next.task.id);
                    let cycle = path[start.unwrap_or_default()..].iter().map(|(on, _)| *on);
                    found.push(rotate_to_first(cycle.collect()));
                }
                None => {
                    settled.insert(&next.task.id, false);
                    path.push((next, next.depends.iter()));
                }
            }
        }
    }
    found
}

fn rotate_to_first(mut cycle: Vec<&PlannedTask>) -> Vec<&PlannedTask> {
    let first = cycle
        .iter()
        .enumerate()
        .min_by_key(|(_, planned)| planned.line);
    let place = first.map_or(0, |(place, _)| place);
    cycle.rotate_left(place);
    cycle
}
