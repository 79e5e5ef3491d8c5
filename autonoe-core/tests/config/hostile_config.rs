//! Generators of hostile configurations.

use autonoe_core::Mode;
use autonoe_core::agent::Sandbox;
use autonoe_core::project::SandboxSwitch;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(texts).prop_map(Value::from)
}

fn rule() -> impl Strategy<Value = Value> {
    one_of(&[
        "Read(./**)",
        "Read(/**)",
        "Write(/**)",
        "Write(./.autonoe/**)",
        "Edit(./.autonoe/agent.json)",
        "Bash(*)",
        "Bash(rm -rf *)",
        "WebFetch(*)",
        "mcp__autonoe__*",
        "Write",
        "Bash",
    ])
}

fn tool() -> impl Strategy<Value = Value> {
    one_of(&[
        "Task",
        "Write",
        "Bash",
        "Read",
        "mcp__a__*",
        "mcp__autonoe__create",
    ])
}

fn variable() -> impl Strategy<Value = Value> {
    one_of(&["NPM_TOKEN", "AWS_*", "PATH", "*SECRET*"])
}

fn profile() -> impl Strategy<Value = Value> {
    one_of(&[
        "node", "bun", "python", "ruby", "go", "rust", "php", "java", "c",
    ])
}

fn name() -> impl Strategy<Value = Value> {
    // No name that cannot be added, such as `rm`.
    "x[a-z]{0,5}|sudo|\\*|bash".prop_map(Value::from)
}

fn list(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(item, 0..4).prop_map(Value::from)
}

fn commands() -> impl Strategy<Value = Value> {
    let tiers = (list(name()), list(name()), list(name()))
        .prop_map(|(base, run, sync)| json!({"base": base, "run": run, "sync": sync}));
    prop_oneof![list(name()), tiers]
}

fn servers() -> impl Strategy<Value = Value> {
    let server = prop_oneof![
        Just(json!({"command": "x"})),
        Just(json!({"type": "stdio", "command": "x", "args": ["a"], "env": {"A": "b"}})),
        Just(json!({"type": "http", "url": "https://x", "headers": {"A": "b"}})),
        Just(json!({"type": "sse", "url": "https://x"})),
    ];
    prop::collection::btree_map("playwright|[a-z]{1,3}", server, 0..3).prop_map(|all| json!(all))
}

fn hook() -> impl Strategy<Value = Value> {
    rule().prop_map(|rule| json!({"type": "core-deny-tool", "rule": rule, "reason": "no"}))
}

/// A configuration of valid fields, each of which may be missing.
pub(crate) fn valid() -> impl Strategy<Value = Value> {
    let fields = (
        prop::option::of(Just(json!("./schema.json"))),
        prop::option::of(prop_oneof![profile(), list(profile())]),
        prop::option::of(commands()),
        prop::option::of(list(name())),
        prop::option::of(list(rule()).prop_map(|allow| json!({"allow": allow}))),
        prop::option::of(list(variable()).prop_map(|allow| json!({"allow": allow}))),
        prop::option::of(list(tool())),
        prop::option::of(servers()),
        prop::option::of(list(hook())),
        prop::option::of(any::<bool>().prop_map(Value::from)),
    );
    fields.prop_map(
        |(
            schema,
            profile,
            commands,
            targets,
            permissions,
            environment,
            tools,
            servers,
            hooks,
            memory,
        )| {
            let fields = [
                ("$schema", schema),
                ("profile", profile),
                ("allowCommands", commands),
                ("allowPkillTargets", targets),
                ("permissions", permissions),
                ("environment", environment),
                ("allowedTools", tools),
                ("mcpServers", servers),
                ("hooks", hooks),
                ("projectMemory", memory),
            ];
            let present = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            present.collect::<Map<_, _>>().into()
        },
    )
}

/// Names of known, plausible and arbitrary fields.
fn field() -> impl Strategy<Value = String> {
    let names = "profile|allowCommands|allowPkillTargets|permissions|environment|allowedTools|\
                 mcpServers|hooks|projectMemory|sandbox|guards|baseline|disabled|allow|deny|base|run|\
                 sync|type|rule|reason|command|url|autonoe|playwright|[a-z]{1,4}";
    names.prop_map(|name: String| name)
}

/// Any JSON value, made of words with a meaning here.
pub(crate) fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        rule(),
        tool(),
        profile(),
        one_of(&[
            "",
            "off",
            "none",
            "*",
            "bash-security",
            "autonoe-protection",
            "core-deny-tool"
        ]),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field(), inner, 0..4).prop_map(|all| json!(all)),
        ]
    })
}

/// A change of a value somewhere in a configuration.
#[derive(Clone, Debug)]
enum Disturbance {
    Replace(Value),
    Add(String, Value),
    Remove,
}

/// A valid configuration in which values were replaced, added and removed at any place.
pub(crate) fn disturbed() -> impl Strategy<Value = Value> {
    let disturbance = prop_oneof![
        anything().prop_map(Disturbance::Replace),
        (field(), anything()).prop_map(|(name, value)| Disturbance::Add(name, value)),
        Just(Disturbance::Remove),
    ];
    let all = prop::collection::vec((any::<prop::sample::Index>(), disturbance), 1..4);
    (valid(), all).prop_map(|(mut config, disturbances)| {
        for (place, disturbance) in disturbances {
            let pointers = pointers(&config, "");
            disturb(
                &mut config,
                &pointers[place.index(pointers.len())],
                disturbance,
            );
        }
        config
    })
}

fn disturb(config: &mut Value, pointer: &str, disturbance: Disturbance) {
    match disturbance {
        Disturbance::Replace(value) => {
            if let Some(place) = config.pointer_mut(pointer) {
                *place = value;
            }
        }
        Disturbance::Add(name, value) => match config.pointer_mut(pointer) {
            Some(Value::Object(fields)) => drop(fields.insert(name, value)),
            Some(Value::Array(items)) => items.push(value),
            _ => {}
        },
        Disturbance::Remove => {
            let (around, name) = pointer.rsplit_once('/').unwrap_or_default();
            if let Some(Value::Object(fields)) = config.pointer_mut(around) {
                fields.remove(name);
            }
        }
    }
}

/// Returns the pointers to all values, the root first.
fn pointers(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<String> = match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| pointers(value, &format!("{at}/{name}")))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, value)| pointers(value, &format!("{at}/{index}")))
            .collect(),
        _ => Vec::new(),
    };
    [vec![at.to_owned()], below].concat()
}

pub(crate) fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Run), Just(Mode::Sync)]
}

pub(crate) fn any_switch() -> impl Strategy<Value = SandboxSwitch> {
    let setting = || prop::option::of(prop_oneof![Just(Sandbox::Required), Just(Sandbox::Off)]);
    (setting(), setting()).prop_map(|(flag, environment)| SandboxSwitch::resolve(flag, environment))
}
