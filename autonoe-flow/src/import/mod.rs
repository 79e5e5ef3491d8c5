//! Imports flows that were written for climpt.

mod agent;
mod note;
mod registry;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

pub use self::note::{ImportNote, ImportNoteKind, ImportPlace};

use self::agent::{UpstreamAgent, completion, flow_name, take_count};
use self::note::{Notes, Source};
use self::registry::StepContext;
use crate::definition::{FlowName, quoted};
use crate::finding::{DefinitionFinding, FindingKind};
use crate::load::{AGENT_FILE, FlowFolder, LoadError, no_folder, possible_prompts, read_document};

/// The file of the steps.
const REGISTRY_FILE: &str = "steps_registry.json";

/// A translated climpt flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedFlow {
    /// The name of the flow. `agent.json` contains it too: see [`rename`](Self::rename).
    pub name: FlowName,
    /// The content of each file, by its path relative to the folder of the flow.
    pub files: BTreeMap<PathBuf, String>,
    /// Changed and dropped parts, in the order of the files.
    pub notes: Vec<ImportNote>,
    agent: Map<String, Value>,
}

/// Translates the climpt agent in the folder `dir`: `agent.json` and `steps_registry.json` in all
/// their formats, and prompts with front matter.
///
/// Only files inside of the folder are read, and none are written. Features without a counterpart
/// are listed in the notes. Once the files are written, [`load`](crate::load::load) and
/// [`validate`](crate::validate::validate) decide whether the flow can run.
///
/// # Errors
///
/// `agent.json` or the file of the steps cannot be read, or is not a JSON object.
pub fn import(dir: &Path) -> Result<ImportedFlow, LoadError> {
    let folder = FlowFolder::open(dir).map_err(|error| no_folder(dir, error))?;
    let notes = Notes::default();
    let read = |name: &str| {
        let hint = "a climpt agent is a folder with agent.json and steps_registry.json";
        let document = read_document::<Map<String, Value>>(&folder, dir, Path::new(name), hint);
        document.map(|(fields, _)| fields)
    };
    let agent = read(AGENT_FILE)?;
    let mut agent = UpstreamAgent::read(Source::new(AGENT_FILE, agent, &notes));
    let registry = read(&agent.registry)?;
    let max_iterations = take_count(&mut agent.completion_config, "maxIterations");
    let folder_name = folder.root().file_name().unwrap_or_default();
    let folder_name = folder_name.to_string_lossy().into_owned();
    let context = StepContext {
        folder: folder_name.clone(),
        base: agent.base,
        completion_type: &agent.completion_type,
        entry: agent.completion_config.take_text("entryStep"),
        max_iterations,
    };
    let steps = registry::read(Source::new(&agent.registry, registry, &notes), context);
    let (kind, config) = completion(
        &agent.completion_type,
        agent.completion_config,
        max_iterations,
        steps.has_end,
    );
    let mut behavior = agent.behavior;
    behavior.insert("completionType".to_owned(), json!(kind));
    if config.as_object().is_some_and(|config| !config.is_empty()) {
        behavior.insert("completionConfig".to_owned(), config);
    }
    let mut fields = agent.fields;
    fields.insert("behavior".to_owned(), Value::Object(behavior));
    fields.insert(
        "prompts".to_owned(),
        json!({"registry": REGISTRY_FILE, "base": steps.base}),
    );

    let mut files = prompts(&folder, steps.intents, &agent.registry, &notes);
    files.insert(REGISTRY_FILE.into(), pretty(&steps.registry));
    let name = flow_name(&agent.name).or_else(|| flow_name(&folder_name));
    let name = name.ok_or_else(|| {
        let message = "the flow has no name";
        let hint = "add a `name` with lower-case letters, digits, - and _";
        let file = dir.join(AGENT_FILE);
        let kind = FindingKind::Name;
        LoadError::new(DefinitionFinding::new(kind, file, "/name", message, hint))
    })?;
    if name.as_str() != agent.name {
        let message =
            format!("changed to `{name}`: names have lower-case letters, digits, - and _");
        let file = Path::new(AGENT_FILE);
        notes.add(ImportNoteKind::Changed, file, "/name".to_owned(), message);
    }
    let imported = ImportedFlow {
        name: name.clone(),
        files,
        notes: notes.into_vec(),
        agent: fields,
    };
    Ok(imported.rename(name))
}

impl ImportedFlow {
    /// Renames the flow, also in `agent.json`.
    #[must_use]
    pub fn rename(mut self, name: FlowName) -> Self {
        self.agent.insert("name".to_owned(), json!(name));
        let agent = Value::Object(self.agent.clone());
        self.files.insert(AGENT_FILE.into(), pretty(&agent));
        self.name = name;
        self
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Reads the prompts, without front matter. If the agent decides by an intent, instructions for the
/// intent are appended to its prompt. Files that are neither prompts nor the definition become
/// notes.
fn prompts(
    folder: &FlowFolder,
    mut intents: BTreeMap<String, BTreeSet<String>>,
    registry: &str,
    notes: &Notes,
) -> BTreeMap<PathBuf, String> {
    let mut prompts = BTreeMap::new();
    let possible = possible_prompts(folder.root());
    if !possible.is_complete {
        let message = "the folder is too large: only 1000 names and 8 levels of folders are read";
        notes.add(ImportNoteKind::Dropped, ".", "", message);
    }
    let registry = Path::new(registry).components();
    let registry: PathBuf = registry
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    for file in possible.others {
        if file != AGENT_FILE && Path::new(&file) != registry {
            let message = "only agent.json, the steps and prompts (*.md) are imported";
            notes.add(ImportNoteKind::Dropped, &file, "", message);
        }
    }
    for file in possible.files {
        let text = match folder.read(Path::new(&file)) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                notes.add(ImportNoteKind::Dropped, &file, "", error.to_string());
                continue;
            }
        };
        let prompt = split_front_matter(&text);
        if prompt.had_front_matter {
            let message = "the front matter is removed";
            notes.add(ImportNoteKind::Dropped, &file, "", message);
        }
        for name in prompt.custom_variables {
            let message = format!("nothing sets {{{name}}}: it stays in the text");
            notes.add(ImportNoteKind::Changed, &file, "", message);
        }
        let mut text = prompt.text.to_owned();
        if let Some(intents) = intents.remove(&file) {
            let message = "added a section to the prompt that asks for the output `intent`";
            notes.add(ImportNoteKind::Changed, &file, "", message);
            text = format!(
                "{}\n\n## Result\n\nBefore you end, call the tool `set_outputs` with `intent`: \
                 one of {}. It decides what comes next.\n",
                text.trim_end(),
                quoted(intents)
            );
        }
        prompts.insert(file.into(), text);
    }
    prompts
}

/// A prompt without its front matter.
#[derive(Debug, PartialEq, Eq)]
struct Prompt<'a> {
    /// The text after the front matter, or the whole text if there is none.
    text: &'a str,
    /// Whether front matter was removed.
    had_front_matter: bool,
    /// The names in the list `customVariables` of the front matter.
    custom_variables: Vec<&'a str>,
}

/// Splits off the front matter: a block between two lines `---` at the start of the text.
fn split_front_matter(text: &str) -> Prompt<'_> {
    let whole = Prompt {
        text,
        had_front_matter: false,
        custom_variables: Vec::new(),
    };
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return whole;
    };
    let mut length = first.len();
    let mut custom_variables = Vec::new();
    let mut is_custom = false;
    for line in lines {
        length += line.len();
        let line = line.trim_end();
        if line == "---" {
            return Prompt {
                text: text[length..].trim_start_matches(['\r', '\n']),
                had_front_matter: true,
                custom_variables,
            };
        }
        match line.trim_start().strip_prefix("- ") {
            Some(item) if is_custom => custom_variables.push(item.trim()),
            Some(_) => {}
            None => is_custom = line == "customVariables:",
        }
    }
    // The block is not closed, so the line is a horizontal rule of the text.
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_split_off_and_other_texts_keep_their_bytes() {
        for (text, rest, custom) in [
            (
                "---\nname: A\nuvVariables:\n  - issue\ncustomVariables:\n  - a\n  - b_c\nx: 1\n---\n\nGo.\n---\n",
                Some("Go.\n---\n"),
                vec!["a", "b_c"],
            ),
            ("---\r\nname: A\r\n---\r\nGo.", Some("Go."), vec![]),
            ("---\n---\n", Some(""), vec![]),
            ("---\nno end\n", None, vec![]),
            ("\n---\nname: A\n---\n", None, vec![]),
            ("---- \n---\n", None, vec![]),
            ("", None, vec![]),
        ] {
            let prompt = split_front_matter(text);

            assert_eq!(prompt.text, rest.unwrap_or(text), "{text:?}");
            assert_eq!(prompt.had_front_matter, rest.is_some(), "{text:?}");
            assert_eq!(prompt.custom_variables, custom, "{text:?}");
        }
    }
}
