//! Interprets the sections of a roadmap.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::attribute::{Attribute, KEYS, parse_timeout, split_command};
use super::outline::{Line, Outline, RoadmapFinding, Section};
use super::plan::{PlannedTask, Roadmap, RoadmapError, validate};
use crate::executor::{AllOf, CommandCriterion, SuccessCriteria, Task, TaskId};

impl Roadmap {
    /// Parses a roadmap. `file` is its path, for errors.
    ///
    /// # Errors
    ///
    /// It contains something that is not understood or cannot be done. All mistakes are reported at
    /// once, each with its line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RoadmapError> {
        let mut findings = Vec::new();
        let outline = Outline::parse(text, &mut findings);
        let mut roadmap = read(&outline, &mut findings);
        roadmap.warnings.sort();
        validate(&roadmap, &outline, &mut findings);
        if findings.is_empty() {
            Ok(roadmap)
        } else {
            Err(RoadmapError::new(file, findings))
        }
    }
}

fn read(outline: &Outline<'_>, findings: &mut Vec<RoadmapFinding>) -> Roadmap {
    let section = |name: &str| outline.section(name);
    let title = outline
        .title
        .as_deref()
        .map(|title| title.strip_prefix("Roadmap:").unwrap_or(title).trim())
        .filter(|title| !title.is_empty())
        .map(str::to_owned);
    let objective = section("Objective").map(text_of).unwrap_or_default();
    let mut warnings = Vec::new();
    if let Some(growth) = section("Growth Mode") {
        let message = "this section has no effect: no tasks are added when all are done";
        warnings.push(RoadmapFinding::new(growth.line, 1, message));
    }
    let tasks = section("Tasks").map_or_else(Vec::new, |section| {
        tasks_of(section, findings, &mut warnings)
    });
    Roadmap {
        objective: if objective.is_empty() {
            title.clone().unwrap_or_default()
        } else {
            objective
        },
        title,
        constraints: section("Constraints").map(items_of).unwrap_or_default(),
        success_criteria: section("Success Criteria")
            .map(items_of)
            .unwrap_or_default(),
        tasks,
        warnings,
    }
}

fn text_of(section: &Section<'_>) -> String {
    let lines: Vec<_> = section.lines.iter().map(|line| line.text).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the items of a list, each with its continuation lines. Text without bullets is one item.
fn items_of(section: &Section<'_>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in &section.lines {
        let text = line.text.trim();
        match line.item().filter(|_| !line.is_indented() && !line.is_code) {
            Some(item) => items.push(without_box(item).to_owned()),
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

/// Returns the text of an item without its check box.
fn without_box(item: &str) -> &str {
    let boxes = ["[ ]", "[x]", "[X]"];
    let text = boxes.iter().find_map(|it| item.strip_prefix(it));
    text.map_or(item, str::trim_start)
}

fn tasks_of(
    section: &Section<'_>,
    findings: &mut Vec<RoadmapFinding>,
    warnings: &mut Vec<RoadmapFinding>,
) -> Vec<PlannedTask> {
    let mut tasks: Vec<Draft> = Vec::new();
    let mut phase = 0;
    for line in &section.lines {
        let is_item = !line.is_indented() && !line.is_code && line.item().is_some();
        match (is_item, tasks.last_mut()) {
            _ if line.is_phase_heading() => phase += 1,
            (true, _) => match Draft::begin(line, phase) {
                Ok(draft) => tasks.push(draft),
                Err(finding) => findings.push(finding),
            },
            (false, Some(task)) if line.is_indented() || line.is_code => {
                task.add(line, findings, warnings);
            }
            // A note between tasks.
            (false, _) => {}
        }
    }
    order_phases(&mut tasks);
    let finished = tasks.into_iter().map(|task| task.finish(warnings));
    finished.collect()
}

/// Makes each task without `depends` depend on the tasks of the previous non-empty phase.
fn order_phases(tasks: &mut [Draft]) {
    let mut before: Vec<TaskId> = Vec::new();
    let mut now: Vec<TaskId> = Vec::new();
    let mut phase = 0;
    for task in tasks {
        if task.phase != phase {
            phase = task.phase;
            if !now.is_empty() {
                before = std::mem::take(&mut now);
            }
        }
        if !task.keys.contains(&"depends") {
            task.planned.depends.clone_from(&before);
        }
        now.push(task.planned.task.id.clone());
    }
}

/// A task that is being parsed.
struct Draft {
    planned: PlannedTask,
    phase: usize,
    /// The value of `goal`.
    goal: Option<String>,
    /// Lines below the task without a key.
    text: Vec<String>,
    /// The line of `require_tests: true`.
    tests_line: Option<usize>,
    /// The value and the line of `test_path`.
    test_path: Option<(String, usize)>,
    keys: Vec<&'static str>,
}

impl Draft {
    fn begin(line: &Line<'_>, phase: usize) -> Result<Self, RoadmapFinding> {
        let item = line.item().unwrap_or_default();
        let wrong = |part: &str, message: &str| {
            RoadmapFinding::new(line.number, line.column_of(part), message)
        };
        const FORM: &str = "write a task as `- [ ] **id**: what to do`";
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
                is_done,
                line: line.number,
                ..PlannedTask::new(task.description(text))
            },
            phase,
            goal: None,
            text: Vec::new(),
            tests_line: None,
            test_path: None,
            keys: Vec::new(),
        })
    }

    fn add(
        &mut self,
        line: &Line<'_>,
        findings: &mut Vec<RoadmapFinding>,
        warnings: &mut Vec<RoadmapFinding>,
    ) {
        if line.text.trim().is_empty() && !line.is_code {
            return;
        }
        match Attribute::parse(line) {
            Attribute::Text(text) => self.text.push(text.to_owned()),
            Attribute::Known { key, value } => {
                let result = if self.keys.contains(&key) {
                    Err(format!("{key} is set twice"))
                } else {
                    self.set(key, value, line, warnings)
                };
                self.keys.push(key);
                let column = line.column_of(value);
                findings.extend(
                    result
                        .err()
                        .map(|reason| RoadmapFinding::new(line.number, column, reason)),
                );
            }
            Attribute::Ignored { key, reason } => {
                let message = format!("{key} has no effect: {reason}");
                let column = line.column_of(key);
                warnings.push(RoadmapFinding::new(line.number, column, message));
            }
            Attribute::Unknown { key, suggestion } => {
                let hint = match suggestion {
                    Some(suggestion) => format!("; did you mean {suggestion:?}?"),
                    None => format!("; known keys: {}", KEYS.join(", ")),
                };
                let message = format!("unknown key {key:?}{hint}");
                findings.push(RoadmapFinding::new(
                    line.number,
                    line.column_of(key),
                    message,
                ));
            }
        }
    }

    fn set(
        &mut self,
        key: &str,
        value: &str,
        line: &Line<'_>,
        warnings: &mut Vec<RoadmapFinding>,
    ) -> Result<(), String> {
        if value.is_empty() {
            return Err(format!("{key} is empty"));
        }
        let task = &mut self.planned.task;
        match key {
            "goal" => self.goal = Some(value.to_owned()),
            "context" => task.context = Some(value.to_owned()),
            "timeout" => task.timeout_seconds = parse_timeout(value)?,
            "success" => task.success_criteria = Some(criteria_of(value)?),
            "cwd" => task.cwd = Some(inside_of_project(value)?),
            "cli" => {
                let mut names = names_of(value);
                task.cli = (!names.is_empty()).then(|| names.remove(0));
                self.planned.fallbacks = names;
            }
            "model" => task.model = Some(value.to_owned()),
            "max_iterations" if value.eq_ignore_ascii_case("unlimited") => {
                let column = line.column_of(value);
                warnings.push(RoadmapFinding::new(line.number, column, UNLIMITED));
            }
            "max_iterations" => {
                let count = value.parse().ok().filter(|count| *count > 0);
                let wrong = || format!("{value:?} is not a number of iterations; write 1 or more");
                self.planned.max_iterations = Some(count.ok_or_else(wrong)?);
            }
            "require_tests" => self.tests_line = is_yes(value)?.then_some(line.number),
            "test_path" => self.test_path = Some((value.to_owned(), line.number)),
            _ if value.eq_ignore_ascii_case("none") || value == "-" => {}
            _ => {
                for name in value.split(',').map(str::trim) {
                    let id = name.trim_matches('*').parse();
                    let id = id.map_err(|_| format!("{name:?} is not a valid task id"))?;
                    self.planned.depends.push(id);
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, warnings: &mut Vec<RoadmapFinding>) -> PlannedTask {
        self.require_tests(warnings);
        let task = &mut self.planned.task;
        let goal = self.goal.unwrap_or_else(|| task.description.clone());
        let lines = std::iter::once(goal).chain(self.text);
        let lines: Vec<_> = lines.skip_while(String::is_empty).collect();
        task.goal = lines.join("\n");
        self.planned
    }

    /// Adds the test command of `require_tests` to the success criteria.
    fn require_tests(&mut self, warnings: &mut Vec<RoadmapFinding>) {
        let Some(line) = self.tests_line else {
            if let Some((_, line)) = self.test_path {
                let message = "test_path has no effect without `require_tests: true`";
                warnings.push(RoadmapFinding::new(line, 1, message));
            }
            return;
        };
        let path = self.test_path.take().map(|(path, _)| path);
        let command = [
            "python3",
            "-m",
            "pytest",
            path.as_deref().unwrap_or("tests"),
        ];
        let message = format!(
            "require_tests runs `{}`: for other tests, write their command as `success` instead",
            command.join(" ")
        );
        warnings.push(RoadmapFinding::new(line, 1, message));
        let tests: SuccessCriteria = CommandCriterion::new(command).into();
        let task = &mut self.planned.task;
        task.success_criteria = Some(match task.success_criteria.take() {
            Some(success) => AllOf::new([success, tests]).into(),
            None => tests,
        });
    }
}

/// Warning of `max_iterations: unlimited`.
const UNLIMITED: &str =
    "max_iterations: unlimited has no effect: the limit of all tasks applies; see --max-iterations";

/// Parses the names of backends; `auto` is none.
fn names_of(value: &str) -> Vec<String> {
    let names = value.split(',').map(str::trim);
    let named = names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("auto"));
    named.map(str::to_owned).collect()
}

fn is_yes(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(format!("{value:?} is neither true nor false")),
    }
}

/// Parses a folder inside of the project.
fn inside_of_project(value: &str) -> Result<PathBuf, String> {
    let outside = || format!("{value:?} is outside the project: write a path relative to it");
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

/// Parses a command in backquotes, the JSON of a criterion, or a statement.
fn criteria_of(value: &str) -> Result<SuccessCriteria, String> {
    let is_json = value.starts_with('{');
    if !is_json && value.matches('`').count() % 2 == 1 {
        return Err("a backquote is not closed: put the command between two backquotes".to_owned());
    }
    let quoted = value
        .strip_prefix('`')
        .and_then(|value| value.strip_suffix('`'));
    if let Some(command) = quoted.filter(|command| !command.contains('`')) {
        return Ok(CommandCriterion::new(split_command(command)?).into());
    }
    let json = if is_json {
        serde_json::from_str(value).map_err(|error| error.to_string())?
    } else {
        Value::String(value.to_owned())
    };
    serde_json::from_value(json).map_err(|error| error.to_string())
}
