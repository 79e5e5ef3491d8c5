//! Imports the `steps_registry.json` of climpt, in all of its formats.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::agent::{is_same_completion, take_count};
use super::note::Source;
use crate::definition::Target;

/// Reasons why fields of steps are dropped.
const STEP_REASONS: &[(&str, &str)] = &[
    ("description", "steps only have a name"),
    ("stepKind", "steps have no kinds"),
    ("kind", "steps have no kinds"),
    ("fallbackKey", "there are no built-in prompts"),
    ("outputSchemaRef", "outputs of steps have no schemas"),
    ("condition", "a flow has one entry step"),
    ("priority", "a flow has one entry step"),
    ("model", "the model is chosen with --model"),
    ("usesStdin", "agents have no standard input"),
];

/// Reasons why fields of gates are dropped.
const GATE_REASONS: &[(&str, &str)] = &[
    ("intentSchemaRef", "the agent sets the output `intent`"),
    ("intentField", "the agent sets the output `intent`"),
    ("targetField", "a gateway decides by `intent` only"),
    ("targetMode", "a gateway decides by `intent` only"),
    (
        "handoffFields",
        "outputs that a step declares are variables of later prompts",
    ),
    ("failFast", "an unknown intent takes the default branch"),
];

/// Reasons why fields of validation steps are dropped.
const VALIDATION_REASONS: &[(&str, &str)] = &[
    ("c2", "a retry sends the same prompt"),
    ("c3", "a retry sends the same prompt"),
    ("address", "a retry sends the same prompt"),
    ("name", "checks have no names"),
    ("description", "checks have no names"),
    ("outputSchemaRef", "outputs of steps have no schemas"),
];

/// Fields that only a step in the format of flows has.
const FLOW_STEP_FIELDS: [&str; 5] = ["prompt", "transition", "check", "subSteps", "branches"];

/// Facts of the other files that the steps depend on.
pub(super) struct StepContext<'a> {
    /// The name of the imported folder.
    pub(super) folder: String,
    /// The folder of the prompts.
    pub(super) base: String,
    pub(super) completion_type: &'a str,
    /// The entry step that the completion names.
    pub(super) entry: Option<String>,
    pub(super) max_iterations: Option<u32>,
}

/// The steps, translated.
pub(super) struct ImportedSteps {
    pub(super) registry: Value,
    /// The folder of the prompts.
    pub(super) base: String,
    /// The intents that the agent chooses from, by the file of the prompt.
    pub(super) intents: BTreeMap<String, BTreeSet<String>>,
    /// Whether a step leads to the end of the flow.
    pub(super) has_end: bool,
}

/// Translated steps by ID, each with its targets.
type WrittenSteps = BTreeMap<String, (Value, Vec<String>)>;

pub(super) fn read(mut from: Source<'_>, mut context: StepContext<'_>) -> ImportedSteps {
    let mut registry = Map::new();
    for key in ["version", "limits"] {
        if let Some(value) = from.take(key) {
            registry.insert(key.to_owned(), value);
        }
    }
    // The name of the flow is in agent.json, and the schema is that of the upstream format.
    from.take("agentId");
    from.take("$schema");
    if let Some(path) = from.take_text("userPromptsBase") {
        match path.split_once(&format!("{}/", context.folder)) {
            Some((_, base)) => context.base = base.trim_matches('/').to_owned(),
            None => from.dropped("userPromptsBase", "it is outside the imported folder"),
        }
    }
    let scheme = from.take_text("c1");
    for (key, usual) in [
        ("pathTemplate", "{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md"),
        ("pathTemplateNoAdaptation", "{c1}/{c2}/{c3}/f_{edition}.md"),
    ] {
        if from
            .take_text(key)
            .is_some_and(|template| template != usual)
        {
            from.dropped(key, format!("prompts are at {usual}"));
        }
    }
    let steps = from.take_object("steps").into_objects();
    let ids: BTreeSet<String> = steps.keys().cloned().collect();
    let entry = entry_step(&mut from, &context, &ids);
    let has_flow_form = |step: &Source<'_>| FLOW_STEP_FIELDS.iter().any(|key| step.has(key));
    let flow_steps: BTreeSet<String> = steps
        .iter()
        .filter(|(_, step)| has_flow_form(step))
        .map(|(id, _)| id.clone())
        .collect();
    let mut checks = checks(&mut from, &ids, &flow_steps);
    let mut written = WrittenSteps::new();
    let mut intents = BTreeMap::new();
    let mut has_end = false;
    for (id, step) in steps {
        if flow_steps.contains(&id) {
            has_end = true;
            written.insert(id, (step.into_value(), Vec::new()));
            continue;
        }
        let step = UpstreamStep::read(&id, step, scheme.as_deref(), &context.base, &ids);
        has_end |= step.ways.values().any(|target| target == Target::END);
        let check = checks.remove(&id).unwrap_or_default();
        step.write(id, check, &mut written, &mut intents);
    }
    if flow_steps.is_empty() {
        for id in remove_unreachable(&entry, &mut written) {
            let message = format!("it is not reachable from the entry step {entry}");
            from.dropped_item("steps", &id, message);
        }
    }
    from.drop_rest(&[("failurePatterns", "a retry sends the same prompt")]);
    if let Some(most) = context.max_iterations {
        let limits = json!({"stepLoop": most, "maxVisits": most});
        registry.insert("limits".to_owned(), limits);
    }
    registry.insert("entryStep".to_owned(), entry.into());
    let steps = written.into_iter().map(|(id, (step, _))| (id, step));
    registry.insert("steps".to_owned(), Value::Object(steps.collect()));
    ImportedSteps {
        registry: Value::Object(registry),
        base: context.base,
        intents,
        has_end,
    }
}

/// Finds the entry step: the explicit one, else the one that is mapped to the completion type, else
/// the first `initial` step. A mapping names one step, or the first one and its continuation.
fn entry_step(from: &mut Source<'_>, context: &StepContext<'_>, ids: &BTreeSet<String>) -> String {
    let mut entry = from.take_text("entryStep");
    let mut by_type = from.take_object("entryStepMapping");
    for name in by_type.names() {
        if entry.is_some() || !is_same_completion(&name, context.completion_type) {
            by_type.dropped(&name, "a flow has one entry step");
        } else if by_type.has_object(&name) {
            let mut steps = by_type.take_object(&name);
            entry = steps.take_text("initial");
            steps.drop_rest(&[("continuation", "a flow has one entry step")]);
        } else {
            entry = by_type.take_text(&name);
        }
    }
    entry.or_else(|| context.entry.clone()).unwrap_or_else(|| {
        let initial = ids.iter().find(|id| id.starts_with("initial."));
        let first = initial.or_else(|| ids.first()).cloned().unwrap_or_default();
        from.changed(
            "",
            format!("the flow starts with {first}: no entry step is given"),
        );
        first
    })
}

/// Removes the steps that are unreachable from `entry`, and returns their IDs.
fn remove_unreachable(entry: &str, steps: &mut WrittenSteps) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut left = vec![entry.to_owned()];
    while let Some(id) = left.pop() {
        if reached.insert(id.clone())
            && let Some((_, targets)) = steps.get(&id)
        {
            left.extend(targets.iter().cloned());
        }
    }
    let all: Vec<String> = steps.keys().cloned().collect();
    steps.retain(|id, _| reached.contains(id));
    all.into_iter().filter(|id| !reached.contains(id)).collect()
}

/// A step of an upstream registry.
struct UpstreamStep {
    fields: Map<String, Value>,
    /// The file of its prompt.
    prompt: String,
    /// The targets by intent.
    ways: BTreeMap<String, String>,
    /// The target without an intent.
    default: String,
}

impl UpstreamStep {
    fn read(
        id: &str,
        mut from: Source<'_>,
        c1: Option<&str>,
        base: &str,
        ids: &BTreeSet<String>,
    ) -> Self {
        let mut fields = Map::new();
        if let Some(name) = from.take_text("name") {
            fields.insert("name".to_owned(), name.into());
        }
        if from.take_text("stepId").is_some_and(|other| other != id) {
            from.dropped("stepId", "the id of a step is its key in `steps`");
        }
        let (reference, prompt) = prompt(&mut from, c1, base);
        fields.insert("prompt".to_owned(), reference);
        // The prompts themselves declare their variables.
        from.take("uvVariables");
        from.take("type");
        if from.take("usesStdin") == Some(Value::Bool(true)) {
            from.dropped("usesStdin", "agents have no standard input");
        }
        let mut gate = from.take_object("structuredGate");
        let mut ways = transition_targets(&mut from);
        for intent in gate.take_texts("allowedIntents") {
            let usual = match intent.as_str() {
                "closing" => Some(Target::END),
                "repeat" => Some(id),
                _ => None,
            };
            match (ways.contains_key(&intent), usual) {
                (true, _) => {}
                (false, Some(target)) => drop(ways.insert(intent, target.to_owned())),
                (false, None) => {
                    let message = format!("the intent `{intent}` has no transition");
                    gate.dropped("allowedIntents", message);
                }
            }
        }
        let fallback = gate.take_text("fallbackIntent");
        gate.drop_rest(GATE_REASONS);
        let target_for = |intent: &str| ways.get(intent).cloned();
        let known_target = fallback
            .as_deref()
            .and_then(target_for)
            .or_else(|| target_for("next"))
            .or_else(|| ways.values().next().cloned());
        let default = known_target.unwrap_or_else(|| {
            let message = "the step has no transitions: `initial` steps lead to the `continuation` \
                           of the same name, which repeats; other steps lead to the end";
            from.changed("", message);
            let next = id.replacen("initial.", "continuation.", 1);
            if next.starts_with("continuation.") && ids.contains(&next) {
                next
            } else {
                Target::END.to_owned()
            }
        });
        from.drop_rest(STEP_REASONS);
        Self {
            fields,
            prompt,
            ways,
            default,
        }
    }

    /// Adds the step to `steps`, followed by a gateway if the agent decides about the next step.
    fn write(
        mut self,
        id: String,
        check: Map<String, Value>,
        steps: &mut WrittenSteps,
        intents: &mut BTreeMap<String, BTreeSet<String>>,
    ) {
        let mut targets: BTreeSet<&String> = self.ways.values().collect();
        targets.insert(&self.default);
        let next = match targets.len() {
            1 => self.default.clone(),
            _ => format!("{id}.gate"),
        };
        if targets.len() > 1 {
            let data = format!("/steps/{id}/outputs/intent");
            let branches = self.ways.iter().map(|(intent, target)| {
                json!({"when": {"data": data, "equals": intent}, "next": target})
            });
            let gateway = json!({
                "type": "gateway",
                "branches": branches.collect::<Vec<_>>(),
                "default": self.default,
            });
            let targets = targets.into_iter().cloned().collect();
            steps.insert(next.clone(), (gateway, targets));
            self.fields.insert("outputs".to_owned(), json!(["intent"]));
            let known = intents.entry(self.prompt).or_default();
            known.extend(self.ways.into_keys());
        }
        self.fields.extend(check);
        let transition = json!({"next": next});
        self.fields.insert("transition".to_owned(), transition);
        steps.insert(id, (Value::Object(self.fields), vec![next]));
    }
}

/// Returns the reference to the prompt of a step, and its file.
fn prompt(from: &mut Source<'_>, c1: Option<&str>, base: &str) -> (Value, String) {
    if let Some(path) = from.take_text("promptPath") {
        let file = format!("{base}/{path}");
        return (json!(file), file);
    }
    if !from.has("address") {
        return scheme_prompt(from, c1, base);
    }
    let mut address = from.take_object("address");
    let prompt = scheme_prompt(&mut address, c1, base);
    address.drop_rest(&[]);
    prompt
}

/// Returns the reference to a prompt by its place in the scheme, and its file. `c1` is the default
/// of the registry.
fn scheme_prompt(from: &mut Source<'_>, c1: Option<&str>, base: &str) -> (Value, String) {
    let mut reference = Map::new();
    let mut part = |key: &str, value: Option<String>| {
        let text = value.clone().unwrap_or_default();
        reference.extend(value.map(|value| (key.to_owned(), Value::String(value))));
        text
    };
    let own = from.take_text("c1");
    let c1 = part("c1", own.or_else(|| c1.map(str::to_owned)));
    let c2 = part("c2", from.take_text("c2"));
    let c3 = part("c3", from.take_text("c3"));
    let edition = from.take_text("edition");
    let edition = part("edition", edition.or_else(|| Some("default".to_owned())));
    let adaptation = from.take_text("adaptation");
    let name = match part("adaptation", adaptation).as_str() {
        "" => format!("f_{edition}.md"),
        adaptation => format!("f_{edition}_{adaptation}.md"),
    };
    let file = format!("{base}/{c1}/{c2}/{c3}/{name}");
    (Value::Object(reference), file)
}

/// Reads the targets of a step, by intent.
fn transition_targets(from: &mut Source<'_>) -> BTreeMap<String, String> {
    let mut ways = BTreeMap::new();
    for (intent, mut rule) in from.take_object("transitions").into_objects() {
        if rule.has("target") {
            let target = rule.take_text("target");
            ways.insert(intent, target.unwrap_or_else(|| Target::END.to_owned()));
            rule.drop_rest(&[("fallback", "a gateway has one default branch")]);
        } else {
            rule.dropped("", "a gateway decides by `intent` only");
        }
    }
    ways
}

/// Reads the checks of steps: `check` and `retry`, by the id of the step.
fn checks(
    from: &mut Source<'_>,
    ids: &BTreeSet<String>,
    flow_steps: &BTreeSet<String>,
) -> BTreeMap<String, Map<String, Value>> {
    let mut validators = from.take_object("validators");
    // The command of each validator that a step uses; `None` if a check cannot run it.
    let mut commands: BTreeMap<String, Option<Value>> = BTreeMap::new();
    let mut checks = BTreeMap::new();
    for (id, mut step) in from.take_object("validationSteps").into_objects() {
        if flow_steps.contains(&id) {
            step.dropped("", "the step has the format of flows, with its own `check`");
            continue;
        }
        if !ids.contains(&id) {
            step.dropped("", "there is no step with this id");
            continue;
        }
        let mut actions = Vec::new();
        for (key, number, name) in conditions(&mut step) {
            if !commands.contains_key(&name) && !validators.has(&name) {
                let message = format!("there is no validator `{name}`");
                step.dropped_item(key, &number.to_string(), message);
                continue;
            }
            let command = commands
                .entry(name)
                .or_insert_with_key(|name| command(validators.take_object(name)));
            actions.extend(command.clone());
        }
        let retry = retry(step.take_object("onFailure"));
        step.take("stepId");
        step.drop_rest(VALIDATION_REASONS);
        let mut fields = Map::new();
        if !actions.is_empty() {
            let check = json!({"type": "action", "actions": actions});
            fields.insert("check".to_owned(), check);
            fields.insert("retry".to_owned(), retry);
        }
        checks.insert(id, fields);
    }
    for name in validators.names() {
        validators.dropped(&name, "no step uses it");
    }
    checks
}

/// Reads the names of the validators that check a step after its prompt, each with its list and its
/// number there.
fn conditions(step: &mut Source<'_>) -> Vec<(&'static str, usize, String)> {
    let mut names = Vec::new();
    for key in ["validationConditions", "postLLMConditions"] {
        let conditions = match step.take(key) {
            Some(Value::Array(conditions)) => conditions,
            Some(_) => {
                step.dropped(key, "it is not a list");
                continue;
            }
            None => continue,
        };
        for (number, condition) in conditions.iter().enumerate() {
            let mut item = step.item(key, number, condition);
            let name = match condition {
                Value::String(name) => Some(name.clone()),
                _ => item.take_text("validator"),
            };
            let params = item.take("params");
            if params.is_some_and(|params| params != json!({})) {
                item.dropped("params", "the command of a check has no parameters");
            }
            match name {
                Some(name) => names.push((key, number, name)),
                None => item.dropped("", "it names no validator"),
            }
            item.drop_rest(&[]);
        }
    }
    let before = step.take("preflightConditions");
    if before.is_some_and(|before| before != json!([])) {
        step.dropped("preflightConditions", "a check runs only after its step");
    }
    names
}

/// Translates a validator into an action of a check. climpt ran its command in a shell.
fn command(mut validator: Source<'_>) -> Option<Value> {
    validator.take("type");
    validator.take("phase");
    let command = validator.take_text("command");
    let success = validator.take_text("successWhen").unwrap_or_default();
    let script = match (command, success.split_once(':')) {
        (None, _) => Err("checks only run commands".to_owned()),
        (Some(command), None) if success == "empty" => {
            Ok(format!("output=$({command}\n) && test -z \"$output\""))
        }
        (Some(command), Some(("exitCode", "0"))) => Ok(command),
        (Some(command), Some(("exitCode", code))) if code.parse::<u8>().is_ok() => {
            Ok(format!("({command}\n)\ntest $? -eq {code}"))
        }
        _ => Err(format!(
            "checks do not support the success condition {success:?}"
        )),
    };
    let script = match script {
        Ok(script) => {
            let message = format!("the flow runs this script in a shell: {script}");
            validator.changed("", message);
            Some(script)
        }
        Err(reason) => {
            validator.dropped("", reason);
            None
        }
    };
    validator.drop_rest(&[
        ("failurePattern", "a retry sends the same prompt"),
        ("extractParams", "a retry sends the same prompt"),
    ]);
    script.map(|script| json!({"type": "command", "command": ["sh", "-c", script]}))
}

/// Translates the reaction to a failed validation into a retry policy.
fn retry(mut from: Source<'_>) -> Value {
    let most = take_count(&mut from, "maxAttempts");
    let action = from.take_text("action");
    if most.is_some() && matches!(action.as_deref(), Some("abort" | "skip")) {
        from.dropped("maxAttempts", "this action does not retry");
    }
    let policy = match action.as_deref() {
        Some("abort") => json!({"maxRetries": 0, "onExhausted": "error"}),
        Some("skip") => json!({"maxRetries": 0, "onExhausted": "skip"}),
        action => {
            if let Some(other) = action.filter(|action| *action != "retry") {
                let message = format!("changed to `retry`: the action {other:?} does not exist");
                from.changed("action", message);
            }
            json!({"maxRetries": most.unwrap_or(3)})
        }
    };
    from.drop_rest(&[("patternRef", "a retry sends the same prompt")]);
    policy
}
