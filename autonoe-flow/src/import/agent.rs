//! Imports the `agent.json` of climpt, in both of its formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::note::Source;
use crate::definition::{CompletionType, FlowName, PermissionMode};

/// Reasons why fields are dropped.
const REASONS: &[(&str, &str)] = &[
    (
        "actions",
        "agents act through tools, not through blocks in their answers",
    ),
    ("github", "flows do not use GitHub"),
    ("worktree", "a flow works in the folder of the project"),
    ("integrations", "flows do not use GitHub"),
    (
        "execution",
        "a flow works in the folder of the project; it does not merge or push",
    ),
    ("logging", "runs are recorded in .autonoe"),
    ("sandbox", "the sandbox of the project is used"),
    ("sandboxConfig", "the sandbox of the project is used"),
    ("schemas", "outputs of steps have no schemas"),
    ("defaultModel", "the model is chosen with --model"),
    ("askUserAutoResponse", "a flow does not ask the user"),
];

/// Reasons why fields of completions are dropped.
const UNUSED: &[(&str, &str)] = &[("registryPath", "the steps are in steps_registry.json")];

/// The parsed `agent.json` of an upstream flow.
pub(super) struct UpstreamAgent<'n> {
    pub(super) name: String,
    /// The fields of our `agent.json` that depend on the upstream file alone.
    pub(super) fields: Map<String, Value>,
    pub(super) behavior: Map<String, Value>,
    /// The file of the steps, relative to the folder.
    pub(super) registry: String,
    /// The folder of the prompts, relative to the folder.
    pub(super) base: String,
    pub(super) completion_type: String,
    pub(super) completion_config: Source<'n>,
}

impl<'n> UpstreamAgent<'n> {
    pub(super) fn read(mut agent: Source<'n>) -> Self {
        let mut fields = Map::new();
        let version = agent.take_text("version");
        let version = version.unwrap_or_else(|| "1.0.0".to_owned());
        fields.insert("version".to_owned(), version.into());
        let name = agent.take_text("name").unwrap_or_default();
        fields.insert("name".to_owned(), name.as_str().into());
        for key in ["displayName", "description"] {
            if let Some(text) = agent.take_text(key) {
                fields.insert(key.to_owned(), text.into());
            }
        }
        let parameters = parameters(agent.take_object("parameters"));
        fields.insert("parameters".to_owned(), parameters);
        // It refers to the schema of the upstream format.
        agent.take("$schema");

        let mut runner = agent.take_object("runner");
        let (mut flow, mut verdict, mut boundaries) = if runner.is_empty() {
            (None, None, agent.take_object("behavior"))
        } else {
            (
                Some(runner.take_object("flow")),
                Some(runner.take_object("verdict")),
                runner.take_object("boundaries"),
            )
        };
        let place = flow.as_mut().unwrap_or(&mut boundaries);
        let mut behavior = Map::new();
        if let Some(path) = place.take_text("systemPromptPath") {
            behavior.insert("systemPromptPath".to_owned(), path.into());
        }
        let mut prompts = match &mut flow {
            Some(flow) => flow.take_object("prompts"),
            None => agent.take_object("prompts"),
        };
        let registry = prompts.take_text("registry");
        let base = prompts.take_text("fallbackDir");
        prompts.drop_rest(REASONS);
        let (completion_type, completion_config) = match &mut verdict {
            Some(verdict) => (verdict.take_text("type"), verdict.take_object("config")),
            None => (
                boundaries.take_text("completionType"),
                boundaries.take_object("completionConfig"),
            ),
        };
        let tools = boundaries.take_texts("allowedTools");
        behavior.insert("allowedTools".to_owned(), json!(tools));
        behavior.insert(
            "permissionMode".to_owned(),
            json!(permissions(&mut boundaries)),
        );
        let rest = [flow, verdict, Some(boundaries), Some(runner), Some(agent)];
        for object in rest.into_iter().flatten() {
            object.drop_rest(REASONS);
        }
        Self {
            name,
            fields,
            behavior,
            registry: registry.unwrap_or_else(|| "steps_registry.json".to_owned()),
            base: base.map_or_else(
                || "prompts".to_owned(),
                |base| base.trim_matches('/').to_owned(),
            ),
            completion_type: completion_type.unwrap_or_default(),
            completion_config,
        }
    }
}

fn permissions(boundaries: &mut Source<'_>) -> PermissionMode {
    match boundaries.take_text("permissionMode").as_deref() {
        Some("plan") => PermissionMode::Plan,
        Some("acceptEdits") => PermissionMode::AcceptEdits,
        Some("default") | None => PermissionMode::Default,
        Some("bypassPermissions") => {
            let message = "changed to `acceptEdits`: no mode bypasses the gate";
            boundaries.changed("permissionMode", message);
            PermissionMode::AcceptEdits
        }
        Some(other) => {
            let message = format!("changed to `default`: the mode {other:?} does not exist");
            boundaries.changed("permissionMode", message);
            PermissionMode::Default
        }
    }
}

/// Imports parameters, which have the same fields in both formats.
fn parameters(parameters: Source<'_>) -> Value {
    let read = parameters
        .into_objects()
        .into_iter()
        .map(|(name, mut from)| {
            if from.has("default") && from.take("required") == Some(Value::Bool(true)) {
                from.changed("required", "changed to optional: it has a default");
            }
            (name, from.into_value())
        });
    Value::Object(read.collect())
}

/// Returns the valid flow name closest to `name`.
pub(super) fn flow_name(name: &str) -> Option<FlowName> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_".contains(c) {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(plain).take(64).collect();
    name.trim_start_matches(['-', '_']).parse().ok()
}

/// Returns the type of an upstream name.
fn completion_type(name: &str) -> Option<CompletionType> {
    Some(match name {
        "externalState" | "poll:state" => CompletionType::ExternalState,
        "iterationBudget" | "count:iteration" => CompletionType::IterationBudget,
        "checkBudget" | "count:check" => CompletionType::CheckBudget,
        "keywordSignal" | "detect:keyword" => CompletionType::KeywordSignal,
        "structuredSignal" | "detect:structured" => CompletionType::StructuredSignal,
        "phaseCompletion" => CompletionType::PhaseCompletion,
        "stepMachine" | "detect:graph" => CompletionType::StepMachine,
        "composite" | "meta:composite" => CompletionType::Composite,
        "custom" | "meta:custom" => CompletionType::Custom,
        _ => return None,
    })
}

/// Returns whether two upstream names denote the same completion type.
pub(super) fn is_same_completion(one: &str, other: &str) -> bool {
    one == other || completion_type(one).is_some_and(|it| Some(it) == completion_type(other))
}

/// Translates a completion; `has_end` tells whether a step leads to the end of the flow.
///
/// The caller has already removed `maxIterations` from `config`.
pub(super) fn completion(
    name: &str,
    mut config: Source<'_>,
    max_iterations: Option<u32>,
    has_end: bool,
) -> (CompletionType, Value) {
    let budget = || match max_iterations {
        Some(most) => json!({"maxIterations": most}),
        None => json!({}),
    };
    let replaced = |config: Source<'_>, reason: &str| {
        let (kind, settings, moment) = if has_end || max_iterations.is_none() {
            let moment = "at the end of its steps";
            (CompletionType::StepMachine, json!({}), moment)
        } else {
            let moment = "after its number of iterations";
            (CompletionType::IterationBudget, budget(), moment)
        };
        let message = format!("the flow is complete {moment}, not by `{name}`: {reason}");
        config.changed("", message);
        config.drop_rest(UNUSED);
        (kind, settings)
    };
    let Some(kind) = completion_type(name) else {
        return replaced(config, "the type does not exist");
    };
    let translated = match kind {
        CompletionType::IterationBudget => budget(),
        CompletionType::CheckBudget => {
            json!({"maxChecks": config.take("maxChecks").unwrap_or_default()})
        }
        CompletionType::KeywordSignal => {
            let mut keywords = config.take_texts("keywords");
            for key in ["completionKeyword", "verdictKeyword"] {
                keywords.extend(config.take_text(key));
            }
            json!({"keywords": keywords})
        }
        CompletionType::StructuredSignal => {
            let names: Vec<String> = match config.take("requiredFields") {
                Some(Value::Object(fields)) => {
                    let message = "only the names are required; their values are not compared";
                    config.changed("requiredFields", message);
                    fields.into_iter().map(|(name, _)| name).collect()
                }
                Some(list) => serde_json::from_value(list).unwrap_or_default(),
                None => Vec::new(),
            };
            let signal = config.take_text("signalType");
            let signal = signal.or_else(|| config.take_text("signal"));
            json!({"signal": signal.unwrap_or_default(), "requiredFields": names})
        }
        CompletionType::PhaseCompletion => {
            json!({"terminalPhases": config.take_texts("terminalPhases")})
        }
        CompletionType::Composite => {
            let mode = match config.take_text("operator").as_deref() {
                Some("and") => "all",
                _ => "any",
            };
            let list = config.take("conditions");
            let items = list.as_ref().and_then(Value::as_array).into_iter();
            let mut counts = BTreeMap::new();
            let conditions: Vec<_> = items
                .flatten()
                .enumerate()
                .map(|(number, condition)| {
                    let inner = config.item("conditions", number, condition);
                    nested(inner, has_end, &mut counts)
                })
                .collect();
            json!({"mode": mode, "conditions": conditions})
        }
        CompletionType::StepMachine => json!({}),
        CompletionType::ExternalState => {
            return replaced(config, "flows do not read states of GitHub or of a service");
        }
        CompletionType::Custom => {
            return replaced(config, "its handler is a program of climpt");
        }
        CompletionType::Deliverables => json!({}),
    };
    config.drop_rest(UNUSED);
    (kind, translated)
}

/// Translates one condition of a composite; `counts` has the number of earlier conditions by type.
///
/// A condition without a name is named after its type, so a second one of the same type needs a name.
fn nested(
    mut condition: Source<'_>,
    has_end: bool,
    counts: &mut BTreeMap<&'static str, usize>,
) -> Value {
    let name = condition.take_text("type").unwrap_or_default();
    let mut config = condition.take_object("config");
    let most = take_count(&mut config, "maxIterations");
    let (kind, config) = completion(&name, config, most, has_end);
    if most.is_some() && kind != CompletionType::IterationBudget {
        let message = "only a budget of iterations has a number of iterations";
        condition.dropped_item("config", "maxIterations", message);
    }
    condition.drop_rest(&[]);
    let count = counts.entry(kind.name()).or_default();
    *count += 1;
    match count {
        1 => json!({"type": kind, "config": config}),
        _ => json!({"name": format!("{}-{count}", kind.name()), "type": kind, "config": config}),
    }
}

/// Removes a number of at least 1.
pub(super) fn take_count(source: &mut Source<'_>, key: &str) -> Option<u32> {
    let value = source.take(key)?;
    let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
    let count = count.filter(|count| *count > 0);
    if count.is_none() {
        source.dropped(key, "it is not a number of at least 1");
    }
    count
}
