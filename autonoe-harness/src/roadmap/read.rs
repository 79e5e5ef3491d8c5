//! What the sections of a roadmap mean.

use std::path::{Component, PathBuf};

use serde_json::Value;

use super::attribute::{Attribute, KEYS};
use super::command::words_of;
use super::finding::RoadmapFinding;
use super::outline::{Line, Outline, Section};
use super::plan::{PlannedTask, Roadmap};
use super::timeout::seconds_of;
use crate::executor::{CommandCriterion, SuccessCriteria, Task};

pub(super) fn read(outline: &Outline<'_>, findings: &mut Vec<RoadmapFinding>) -> Roadmap {
    let section = |name: &str| outline.section(name);
    Roadmap {
        title: outline.title.clone(),
        objective: section("Objective").map(text_of).unwrap_or_default(),
        constraints: section("Constraints").map(items_of).unwrap_or_default(),
        success_criteria: section("Success Criteria")
            .map(items_of)
            .unwrap_or_default(),
        tasks: section("Tasks").map_or_else(Vec::new, |section| tasks_of(section, findings)),
    }
}

fn text_of(section: &Section<'_>) -> String {
    let lines: Vec<_> = section.lines.iter().map(|line| line.text).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the items of a list, each with the lines that belong to it; text without bullets is
/// one item.
fn items_of(section: &Section<'_>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in &section.lines {
        let text = line.text.trim();
        match line.item().filter(|_| !line.is_indented() && !line.is_code) {
            Some(item) => items.push(item.to_owned()),
            None if text.is_empty() => {}
            None => match items.last_mut() {
                Some(item) => {
                    item.push('\n');
                    item.push_str(text);
                }
                None => items.push(text.to_owned()),
            },
        }
    }
    items
}

fn tasks_of(section: &Section<'_>, findings: &mut Vec<RoadmapFinding>) -> Vec<PlannedTask> {
    let mut tasks: Vec<Draft> = Vec::new();
    for line in &section.lines {
        let is_item = !line.is_indented() && !line.is_code && line.item().is_some();
        match (is_item, tasks.last_mut()) {
            (true, _) => match Draft::begin(line) {
                Ok(draft) => tasks.push(draft),
                Err(finding) => findings.push(finding),
            },
            (false, Some(task)) if line.is_indented() || line.is_code => task.add(line, findings),
            // A note between tasks.
            (false, _) => {}
        }
    }
    tasks.into_iter().map(Draft::finish).collect()
}

/// A task as far as it was read.
struct Draft {
    planned: PlannedTask,
    /// What stands behind its name, and below it without a key.
    text: Vec<String>,
    has_goal: bool,
    said: Vec<&'static str>,
}

impl Draft {
    fn begin(line: &Line<'_>) -> Result<Self, RoadmapFinding> {
        let item = line.item().unwrap_or_default();
        let wrong = |part: &str, message: &str| {
            RoadmapFinding::new(line.number, line.column_of(part), message)
        };
        const FORM: &str = "a task is written as `- [ ] **id**: what is to be done`";
        let (is_done, rest) = match (item.strip_prefix("[ ]"), item.get(..3)) {
            (Some(rest), _) => (false, rest),
            (None, Some("[x]" | "[X]")) => (true, &item[3..]),
            _ => return Err(wrong(item, FORM)),
        };
        let rest = rest.trim_start();
        let Some((id, text)) = rest
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("**"))
        else {
            return Err(wrong(rest, FORM));
        };
        // The colon may be inside of the bold part.
        let name = id.trim().trim_end_matches(':').trim_end();
        let text = text
            .trim_start()
            .trim_start_matches([':', '-', '–', '—'])
            .trim();
        let task = Task::new(name, text).map_err(|error| wrong(id, &error.to_string()))?;
        Ok(Self {
            planned: PlannedTask {
                task: task.description(text),
                depends: Vec::new(),
                is_done,
                line: line.number,
            },
            text: Vec::from_iter((!text.is_empty()).then(|| text.to_owned())),
            has_goal: false,
            said: Vec::new(),
        })
    }

    fn add(&mut self, line: &Line<'_>, findings: &mut Vec<RoadmapFinding>) {
        if line.text.trim().is_empty() && !line.is_code {
            return;
        }
        match Attribute::of(line) {
            Attribute::Text(text) => self.text.push(text.to_owned()),
            Attribute::Known { key, value } => {
                let result = match self.said.contains(&key) {
                    true => Err(format!("{key} is said twice")),
                    false => self.set(key, value),
                };
                self.said.push(key);
                let column = line.column_of(value);
                findings.extend(
                    result
                        .err()
                        .map(|why| RoadmapFinding::new(line.number, column, why)),
                );
            }
            Attribute::Unknown { key, meant } => {
                let hint = match meant {
                    Some(meant) => format!("; {meant:?} is one"),
                    None => format!("; there are {}", KEYS.join(", ")),
                };
                let message = format!("there is no key {key:?}{hint}");
                findings.push(RoadmapFinding::new(
                    line.number,
                    line.column_of(key),
                    message,
                ));
            }
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if value.is_empty() {
            return Err(format!("{key} is empty"));
        }
        let task = &mut self.planned.task;
        match key {
            "goal" => {
                task.goal = value.to_owned();
                self.has_goal = true;
            }
            "context" => task.context = Some(value.to_owned()),
            "timeout" => task.timeout_seconds = seconds_of(value)?,
            "success" => task.success_criteria = Some(criteria_of(value)?),
            "cwd" => task.cwd = Some(inside_of_project(value)?),
            "cli" => task.cli = Some(value.to_owned()),
            "model" => task.model = Some(value.to_owned()),
            _ => {
                for name in value.split(',').map(str::trim) {
                    let id = name.trim_matches('*').parse();
                    let id = id.map_err(|_| format!("{name:?} is no name of a task"))?;
                    self.planned.depends.push(id);
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> PlannedTask {
        if !self.has_goal {
            self.planned.task.goal = self.text.join("\n");
        }
        self.planned
    }
}

/// Reads a folder of the project.
fn inside_of_project(value: &str) -> Result<PathBuf, String> {
    let outside = || format!("{value:?} is outside of the project: write a path from there");
    let path = PathBuf::from(value);
    let mut depth = 0_usize;
    for part in path.components() {
        depth = match part {
            Component::Normal(_) => depth + 1,
            Component::CurDir => depth,
            Component::ParentDir => depth.checked_sub(1).ok_or_else(outside)?,
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        };
    }
    Ok(path)
}

/// Reads a command in backquotes, the JSON of a criterion, or words.
fn criteria_of(value: &str) -> Result<SuccessCriteria, String> {
    let is_json = value.starts_with('{');
    if !is_json && value.matches('`').count() % 2 == 1 {
        return Err("a backquote is not closed: a command stands between two".to_owned());
    }
    let quoted = value
        .strip_prefix('`')
        .and_then(|value| value.strip_suffix('`'));
    if let Some(command) = quoted.filter(|command| !command.contains('`')) {
        return Ok(CommandCriterion::new(words_of(command)?).into());
    }
    let json = match is_json {
        true => serde_json::from_str(value).map_err(|error| error.to_string())?,
        false => Value::String(value.to_owned()),
    };
    serde_json::from_value(json).map_err(|error| error.to_string())
}
