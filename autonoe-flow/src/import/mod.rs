//! Imports flows that were written for climpt.

mod agent;
mod front_matter;
mod note;
mod registry;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub use self::note::{ImportNote, ImportNoteKind, ImportPlace};

use self::agent::{UpstreamAgent, completion, flow_name, take_count};
use self::note::{Notes, Source};
use self::registry::StepContext;
use crate::definition::FlowName;
use crate::finding::{Finding, FindingKind};
use crate::load::{AGENT_FILE, FlowFolder, LoadError, no_folder, possible_prompts, read_document};

/// The file of the steps.
const REGISTRY_FILE: &str = "steps_registry.json";

/// A flow of climpt, translated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedFlow {
    /// The name of the flow. `agent.json` has it too: see [`rename`](Self::rename).
    pub name: FlowName,
    /// The content of each file, by its path from the folder of the flow.
    pub files: BTreeMap<PathBuf, String>,
    /// What was changed and left out, in the order of the files.
    pub notes: Vec<ImportNote>,
    agent: Map<String, Value>,
}

/// Translates the agent folder of climpt at `dir`: `agent.json` and `steps_registry.json` in the
/// shapes that they had, and prompts with front matter.
///
/// It reads files inside of the folder only, and writes none. What has no counterpart here is in
/// the notes. Whether the flow can be run is asked of [`load`](crate::load) and
/// [`validate`](crate::validate), once the files are written.
///
/// # Errors
///
/// `agent.json` or the file of the steps cannot be read, or is no JSON object.
pub fn import(dir: &Path) -> Result<ImportedFlow, LoadError> {
    let folder = FlowFolder::open(dir).map_err(|error| no_folder(dir, error))?;
    let notes = Notes::default();
    let agent = read_object(&folder, dir, AGENT_FILE)?;
    let mut agent = UpstreamAgent::read(Source::new(AGENT_FILE, agent, &notes));
    let registry = read_object(&folder, dir, &agent.registry)?;
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

    let mut files = prompts(&folder, steps.intents, &notes);
    files.insert(REGISTRY_FILE.into(), pretty(&steps.registry));
    let name = flow_name(&agent.name).or_else(|| flow_name(&folder_name));
    let name = name.ok_or_else(|| {
        let message = "the flow has no name";
        let hint = "write it as `name`, with small letters, digits, - and _";
        let finding = Finding::new(
            FindingKind::Name,
            dir.join(AGENT_FILE),
            "/name",
            message,
            hint,
        );
        LoadError::new(finding)
    })?;
    let imported = ImportedFlow {
        name: name.clone(),
        files,
        notes: notes.into_vec(),
        agent: fields,
    };
    Ok(imported.rename(name))
}

impl ImportedFlow {
    /// Gives the flow another name, also in `agent.json`.
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

fn read_object(
    folder: &FlowFolder,
    dir: &Path,
    name: &str,
) -> Result<Map<String, Value>, LoadError> {
    let (object, _) = read_document(folder, dir, Path::new(name), |file| {
        let hint = "an agent of climpt is a folder with agent.json and steps_registry.json";
        Finding::new(
            FindingKind::NotFound,
            file,
            "",
            "there is no such file",
            hint,
        )
    })?;
    Ok(object)
}

/// Reads the prompts, without front matter. Where the agent decides by an intent, its prompt says
/// how.
fn prompts(
    folder: &FlowFolder,
    mut intents: BTreeMap<String, BTreeSet<String>>,
    notes: &Notes,
) -> BTreeMap<PathBuf, String> {
    let mut prompts = BTreeMap::new();
    let possible = possible_prompts(folder.root());
    if !possible.is_complete {
        let message = "the folder is too large or too deep: prompts beyond 1000 names or 8 folders are missing";
        notes.add(ImportNoteKind::Dropped, ".", "", message);
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
        let prompt = front_matter::split(&text);
        if prompt.had_front_matter {
            notes.add(
                ImportNoteKind::Dropped,
                &file,
                "",
                "the front matter is removed",
            );
        }
        for name in prompt.custom_variables {
            let message = format!("nothing sets {{{name}}}: it stays in the text");
            notes.add(ImportNoteKind::Changed, &file, "", message);
        }
        let mut text = prompt.text.to_owned();
        if let Some(intents) = intents.remove(&file) {
            let message = "the prompt ends with a section that asks for the output `intent`";
            notes.add(ImportNoteKind::Changed, &file, "", message);
            let names: Vec<_> = intents.iter().map(|intent| format!("`{intent}`")).collect();
            text = format!(
                "{}\n\n## Result\n\nBefore you end, call the tool `set_outputs` with `intent`: \
                 one of {}. It decides what comes next.\n",
                text.trim_end(),
                names.join(", ")
            );
        }
        prompts.insert(file.into(), text);
    }
    prompts
}
