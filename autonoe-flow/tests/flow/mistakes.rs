//! The mistakes that validation finds, one of each, by name.

use autonoe_flow::{ValidationReport, validate};
use serde_json::{Value, json};

use crate::support::{agent, definition, one_step, step, validated, validated_step};

/// A step with a check.
fn judged(pass: &str, on_fail: Value) -> Value {
    json!({"check": {"type": "keyword", "keywords": ["OK"], "onPass": {"next": pass}, "onFail": on_fail}})
}

/// One step that leads to the end, with `completion`.
pub(crate) fn completed(kind: &str, config: Value, registry: Value) -> ValidationReport {
    let agent = agent(json!({"behavior": {"completionType": kind, "completionConfig": config}}));
    validate(&definition(agent, registry))
}

fn with_parameter(parameter: Value) -> ValidationReport {
    let agent = agent(json!({"parameters": {"days": parameter}}));
    validate(&definition(agent, one_step()))
}

pub(crate) fn with_prompt(text: &str, fields: Value) -> ValidationReport {
    let registry = json!({"entryStep": "a", "steps": {"a": {
        "prompt": "prompts/b.md", "transition": {"next": "end"},
        "variables": {"topic": "x"},
    }}});
    validate(&definition(agent(fields), registry).with_prompt("prompts/b.md", text))
}

/// A step that a model judges, with the prompt `file`.
fn with_judge(file: &str, text: &str) -> ValidationReport {
    let check = json!({"type": "prompt", "prompt": file, "onPass": {"next": "end"}});
    let registry =
        json!({"entryStep": "a", "steps": {"a": {"prompt": "prompts/a.md", "check": check}}});
    validate(&definition(agent(json!({})), registry).with_prompt("prompts/judge.md", text))
}

/// Two steps, of which one is a gateway.
pub(crate) fn gateway(fields: Value) -> ValidationReport {
    let mut gateway = json!({"type": "gateway"});
    for (name, value) in fields.as_object().expect("an object") {
        gateway[name] = value.clone();
    }
    let mut first = step("g");
    first["outputs"] = json!(["verdict"]);
    validated(json!({"entryStep": "a", "steps": {"a": first, "g": gateway}}))
}

fn escalated(escalation: Value) -> ValidationReport {
    validated(json!({"entryStep": "a", "steps": {
        "a": {"prompt": "prompts/a.md", "transition": {"next": "end"}, "escalation": escalation},
        "ask": {"prompt": "prompts/a.md"},
        "g": {"type": "gateway", "default": "end"},
    }}))
}

fn sub_steps(parent: Value, part: Value) -> ValidationReport {
    let mut a = json!({"transition": {"next": "end"}});
    for (name, value) in parent.as_object().expect("an object") {
        a[name] = value.clone();
    }
    let mut b = json!({"type": "subStep", "prompt": "prompts/a.md"});
    for (name, value) in part.as_object().expect("an object") {
        b[name] = value.clone();
    }
    validated(json!({"entryStep": "a", "steps": {"a": a, "b": b}}))
}

/// Every mistake that validation finds, with a name.
pub(crate) fn mistakes() -> Vec<(&'static str, ValidationReport)> {
    let circle =
        json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("c"), "c": step("b")}});
    let alone = json!({"entryStep": "a", "steps": {"a": step("a")}});
    let branching = json!({"entryStep": "g", "steps": {
        "g": {"type": "gateway", "default": "long",
              "branches": [{"when": {"data": "/context/step", "exists": true}, "next": "short"}]},
        "short": step("end"),
        "long": {"prompt": "prompts/a.md", "transition": {"next": "again"}},
        "again": {"prompt": "prompts/a.md", "check": {"type": "keyword", "keywords": ["OK"],
                  "onPass": {"next": "end"}, "onFail": {"next": "long"}}},
    }});
    vec![
        (
            "an unknown step",
            validated_step(json!({"transition": {"next": "d"}})),
        ),
        (
            "an unknown entry",
            validated(json!({"entryStep": "z", "steps": {"a": step("end")}})),
        ),
        (
            "an unknown fallback",
            validated_step(json!({"transition": {"next": "b", "fallback": "bb"}})),
        ),
        (
            "no steps",
            validated(json!({"entryStep": "a", "steps": {}})),
        ),
        (
            "a fallback to the end",
            validated_step(json!({"transition": {"next": "b", "fallback": "end"}})),
        ),
        (
            "an unreachable step",
            validated_step(json!({"transition": {"next": "b"}})),
        ),
        ("a dead end", validated_step(json!({}))),
        (
            "a dead end behind a check",
            validated_step(json!({"check": {"type": "keyword", "keywords": ["OK"]}})),
        ),
        ("a circle", validated(circle.clone())),
        ("a step that leads only to itself", validated(alone.clone())),
        (
            "a missing fallback",
            validated_step(
                json!({"transition": {"next": "b"}, "retry": {"onExhausted": "fallback"}}),
            ),
        ),
        (
            "a step that is its own fallback",
            validated_step(json!({"transition": {"next": "b", "fallback": "a"}})),
        ),
        (
            "a check whose failure leads back",
            validated_step(judged("b", json!({"next": "a"}))),
        ),
        (
            "two ways for a step that passed",
            validated_step(json!({
            "check": {"type": "keyword", "keywords": ["OK"], "onPass": {"next": "b"}}, "transition": {"next": "c"}})),
        ),
        (
            "two ways for a step that failed",
            validated_step(judged("b", json!({"next": "c", "fallback": "b"}))),
        ),
        (
            "two fallbacks",
            validated_step(json!({
            "transition": {"next": "b", "fallback": "c"}, "retry": {"onExhausted": "fallback", "fallbackStep": "b"}})),
        ),
        (
            "a fallback that is never used",
            validated_step(json!({
            "transition": {"next": "b", "fallback": "c"}, "retry": {"onExhausted": "skip"}})),
        ),
        (
            "tries said twice",
            validated_step(json!({
            "transition": {"next": "b", "retry": true}, "retry": {"maxRetries": 2}})),
        ),
        (
            "tries that are none",
            validated_step(json!({"transition": {"next": "b", "retry": true, "maxRetries": 0}})),
        ),
        (
            "tries against a no",
            validated_step(json!({"transition": {"next": "b", "retry": false, "maxRetries": 2}})),
        ),
        (
            "waits the wrong way round",
            validated_step(json!({
            "transition": {"next": "b"}, "retry": {"backoff": {"initialMs": 5, "maxMs": 4}}})),
        ),
        (
            "a step without work",
            validated(json!({"entryStep": "a", "steps": {"a": {"transition": {"next": "end"}}}})),
        ),
        (
            "a step called end",
            validated(json!({"entryStep": "a", "steps": {"a": step("end"), "end": step("end")}})),
        ),
        (
            "another id inside",
            validated(json!({"entryStep": "a", "steps": {
            "a": {"id": "b", "prompt": "prompts/a.md", "transition": {"next": "end"}}}})),
        ),
        (
            "the id of another step",
            validated(json!({"entryStep": "a", "steps": {
            "a": {"id": "b", "prompt": "prompts/a.md", "transition": {"next": "b"}}, "b": step("end")}})),
        ),
        (
            "limits of nothing",
            validated(json!({"entryStep": "a", "steps": {"a": step("end")},
            "limits": {"stepLoop": 0, "maxVisits": 0}})),
        ),
        (
            "a gateway without a default",
            gateway(json!({
            "branches": [{"when": {"data": "/steps/a/passed", "equals": true}, "next": "end"}]})),
        ),
        (
            "a gateway that reads what nobody sets",
            gateway(json!({"default": "end", "branches": [
            {"when": {"data": "/steps/a/outputs/verdit", "equals": true}, "next": "end"},
            {"when": {"data": "/steps/b/passed", "equals": true}, "next": "end"},
            {"when": {"data": "/steps/a/score", "equals": true}, "next": "end"},
            {"when": {"data": "/parameters/days", "atLeast": 1}, "next": "end"},
            {"when": {"data": "/context/mood", "equals": 1}, "next": "end"},
            {"when": {"data": "/steps/g/outputs/x", "equals": 1}, "next": "end"}]})),
        ),
        (
            "gateways in a circle",
            gateway(json!({"default": "end", "branches": [
            {"when": {"data": "/steps/a/passed", "equals": true}, "next": "g"}]})),
        ),
        (
            "a gateway in a circle without an exit",
            gateway(json!({"default": "g"})),
        ),
        (
            "no words",
            validated_step(
                json!({"check": {"type": "keyword", "keywords": [], "onPass": {"next": "b"}}}),
            ),
        ),
        (
            "a blank word",
            validated_step(
                json!({"check": {"type": "keyword", "keywords": [" "], "onPass": {"next": "b"}}}),
            ),
        ),
        (
            "a judge without a task",
            with_judge("prompts/judge.md", "{uv-response}\n\n---\n{uv-step}"),
        ),
        (
            "a judge with the prompt of its step",
            with_judge("prompts/a.md", "unused"),
        ),
        (
            "no actions",
            validated_step(
                json!({"check": {"type": "action", "actions": [], "onPass": {"next": "b"}}}),
            ),
        ),
        (
            "actions that say nothing",
            validated_step(
                json!({"check": {"type": "action", "onPass": {"next": "b"}, "actions": [
            {"type": "tool", "tool": "", "times": 0}, {"type": "command", "command": [], "timeoutSeconds": 0}]}}),
            ),
        ),
        (
            "a sub-step as a target",
            validated(json!({"entryStep": "a", "steps": {
            "a": {"subSteps": ["b"], "transition": {"next": "b"}}, "b": {"type": "subStep", "prompt": "prompts/a.md"}}})),
        ),
        (
            "an unknown sub-step",
            sub_steps(json!({"subSteps": ["bb"]}), json!({})),
        ),
        (
            "a normal step as a sub-step",
            validated(json!({"entryStep": "a", "steps": {
            "a": {"subSteps": ["b"], "transition": {"next": "b"}}, "b": step("end")}})),
        ),
        (
            "sub-steps that contain each other",
            sub_steps(json!({"subSteps": ["b"]}), json!({"subSteps": ["b"]})),
        ),
        (
            "a sub-step that leads on",
            sub_steps(
                json!({"subSteps": ["b"]}),
                json!({"transition": {"next": "end"}}),
            ),
        ),
        (
            "a sub-step with a fallback",
            sub_steps(
                json!({"subSteps": ["b"]}),
                json!({"retry": {"onExhausted": "fallback", "fallbackStep": "a"}}),
            ),
        ),
        (
            "a sub-step that is escalated",
            sub_steps(
                json!({"subSteps": ["b"]}),
                json!({"escalation": {"escalateTo": "a"}}),
            ),
        ),
        (
            "a sub-step that nobody runs",
            sub_steps(
                json!({"prompt": "prompts/a.md", "sequential": true}),
                json!({}),
            ),
        ),
        (
            "an escalation to nobody",
            escalated(json!({"escalateTo": "aks"})),
        ),
        (
            "an escalation to an address in the agent",
            escalated(json!({"escalateTo": "https://example.com"})),
        ),
        (
            "an escalation to itself",
            escalated(json!({"escalateTo": "a"})),
        ),
        (
            "an escalation to a gateway",
            escalated(json!({"escalateTo": "g"})),
        ),
        (
            "a webhook without an address",
            escalated(json!({"escalateTo": "ask", "notificationMethod": "webhook"})),
        ),
        (
            "a webhook in the open",
            escalated(
                json!({"escalateTo": "http://example.com/x", "notificationMethod": "webhook", "signingKey": " "}),
            ),
        ),
        (
            "a log for nobody",
            escalated(json!({"escalateTo": " ", "notificationMethod": "log", "signingKey": "k"})),
        ),
        (
            "an escalation that never happens",
            validated_step(json!({
            "transition": {"next": "b", "fallback": "c"}, "escalation": {"escalateTo": "b"}})),
        ),
        (
            "a prompt that is not there",
            validated_step(json!({"prompt": "prompts/aa.md", "transition": {"next": "b"}})),
        ),
        (
            "a prompt in no place",
            validated_step(
                json!({"prompt": {"path": "x/y/z.md", "fallback": "q/w/e.md"}, "transition": {"next": "b"}}),
            ),
        ),
        (
            "a prompt in another place",
            validated_step(
                json!({"prompt": {"path": "x/y.md", "fallback": "prompts/a.md"}, "transition": {"next": "b"}}),
            ),
        ),
        ("a blank prompt", with_prompt(" ", json!({}))),
        (
            "a variable that is spelled wrong",
            with_prompt("one\n{uv-topic", json!({})),
        ),
        (
            "a variable that nothing sets",
            with_prompt("{uv-topic} {uv-mood} {uv-tpic}", json!({})),
        ),
        (
            "a variable that nothing sets, in strict mode",
            with_prompt(
                "{uv-topic} {uv-mood}",
                json!({"prompts": {"strictVariables": true}}),
            ),
        ),
        (
            "a variable of other prompts",
            with_prompt("{uv-topic} {uv-response} {uv-retry}", json!({})),
        ),
        (
            "a variable that may not be set",
            with_prompt(
                "{uv-topic} {uv-days}",
                json!({"parameters": {"days": {"type": "integer"}}}),
            ),
        ),
        (
            "a variable that nobody uses",
            with_prompt("Go on.", json!({})),
        ),
        (
            "a system prompt with a variable of a step",
            with_prompt(
                "{uv-topic}",
                json!({"behavior": {"systemPromptPath": "prompts/b.md"}}),
            ),
        ),
        (
            "names that the flow has",
            validate(&definition(
                agent(json!({"parameters": {"iteration": {"type": "integer", "default": 1}}})),
                json!({"entryStep": "a", "steps": {"a": {"prompt": "prompts/a.md", "transition": {"next": "end"},
                "variables": {"step": "x"}, "outputs": ["retry", "x", "x"]}}}),
            )),
        ),
        (
            "names with the prefix of prompts",
            validate(&definition(
                agent(json!({"parameters": {"uv-city": {"type": "string"}}})),
                json!({"entryStep": "a", "steps": {"a": {"prompt": "prompts/a.md", "transition": {"next": "end"},
                "variables": {"uv-topic": "x"}, "outputs": ["uv-score"]}}}),
            )),
        ),
        (
            "a blank version",
            validate(&definition(agent(json!({"version": " "})), one_step())),
        ),
        (
            "a tool that is none",
            validate(&definition(
                agent(json!({"behavior": {"allowedTools": ["Read", "Bash(", ""]}})),
                one_step(),
            )),
        ),
        (
            "a default of another type",
            with_parameter(json!({"type": "integer", "default": "3"})),
        ),
        (
            "a default outside of its rules",
            with_parameter(json!({"type": "integer", "default": 12, "validation": {"max": 9}})),
        ),
        (
            "a default that is not needed",
            with_parameter(json!({"type": "integer", "default": 1, "required": true})),
        ),
        (
            "rules that contradict themselves",
            with_parameter(json!({"type": "integer", "validation": {"min": 9, "max": 1}})),
        ),
        (
            "rules of another type",
            with_parameter(
                json!({"type": "boolean", "validation": {"min": 1, "pattern": "x", "enum": []}}),
            ),
        ),
        (
            "a pattern that is none",
            with_parameter(json!({"type": "string", "validation": {"pattern": "("}})),
        ),
        (
            "a flag that is none",
            with_parameter(json!({"type": "string", "cli": "-d"})),
        ),
        (
            "a flag of two",
            validate(&definition(
                agent(json!({"parameters": {
            "maxDays": {"type": "string"}, "max_days": {"type": "string"}}})),
                one_step(),
            )),
        ),
        (
            "no iterations",
            completed(
                "iterationBudget",
                json!({"maxIterations": 0}),
                alone.clone(),
            ),
        ),
        (
            "more iterations than there are",
            completed("iterationBudget", json!({"maxIterations": 2}), one_step()),
        ),
        (
            "more iterations than visits in a row",
            completed(
                "iterationBudget",
                json!({"maxIterations": 11}),
                alone.clone(),
            ),
        ),
        (
            "more iterations than visits",
            completed(
                "iterationBudget",
                json!({"maxIterations": 301}),
                circle.clone(),
            ),
        ),
        (
            "more iterations than on one of two ways",
            completed("iterationBudget", json!({"maxIterations": 6}), branching),
        ),
        (
            "no checks",
            completed("checkBudget", json!({"maxChecks": 1}), circle.clone()),
        ),
        (
            "no check",
            completed("checkBudget", json!({"maxChecks": 0}), circle.clone()),
        ),
        (
            "an unknown phase",
            completed(
                "phaseCompletion",
                json!({"terminalPhases": ["done", "gone"]}),
                one_step(),
            ),
        ),
        (
            "no phases",
            completed("phaseCompletion", json!({"terminalPhases": []}), one_step()),
        ),
        (
            "words that are none",
            completed("keywordSignal", json!({"keywords": []}), alone.clone()),
        ),
        (
            "a blank word to complete",
            completed(
                "keywordSignal",
                json!({"keywords": ["DONE", ""]}),
                alone.clone(),
            ),
        ),
        (
            "a signal without a name",
            completed("structuredSignal", json!({"signal": ""}), alone.clone()),
        ),
        (
            "a command that is none",
            completed(
                "externalState",
                json!({"source": {"type": "command", "command": [], "timeoutSeconds": 0}}),
                alone.clone(),
            ),
        ),
        (
            "a state without a name",
            completed(
                "externalState",
                json!({"source": {"type": "named", "name": ""}}),
                alone,
            ),
        ),
        (
            "no conditions",
            completed(
                "composite",
                json!({"mode": "all", "conditions": []}),
                one_step(),
            ),
        ),
        (
            "conditions of one name",
            completed(
                "composite",
                json!({"mode": "any", "conditions": [
            {"type": "stepMachine"}, {"type": "stepMachine"}, {"name": " ", "type": "stepMachine"}]}),
                one_step(),
            ),
        ),
        (
            "one of several that can never hold",
            completed(
                "composite",
                json!({"mode": "any", "conditions": [
            {"type": "stepMachine"}, {"type": "iterationBudget", "config": {"maxIterations": 5}}]}),
                one_step(),
            ),
        ),
        (
            "all of several of which one can never hold",
            completed(
                "composite",
                json!({"mode": "all", "conditions": [
            {"type": "stepMachine"}, {"type": "iterationBudget", "config": {"maxIterations": 5}}]}),
                one_step(),
            ),
        ),
        (
            "two that never hold together",
            completed(
                "composite",
                json!({"mode": "all", "conditions": [
            {"name": "x", "type": "phaseCompletion", "config": {"terminalPhases": ["x"]}},
            {"name": "y", "type": "phaseCompletion", "config": {"terminalPhases": ["y"]}}]}),
                json!({"entryStep": "g", "steps": {
                "g": {"type": "gateway", "default": "x", "branches": [{"when": {"data": "/context/step", "exists": true}, "next": "y"}]},
                "x": {"prompt": "prompts/a.md", "phase": "x", "transition": {"next": "end"}},
                "y": {"prompt": "prompts/a.md", "phase": "y", "transition": {"next": "end"}}}}),
            ),
        ),
        (
            "a circle that no walk may leave complete",
            completed(
                "composite",
                json!({"mode": "all", "conditions": [
            {"type": "keywordSignal", "config": {"keywords": ["DONE"]}}, {"type": "stepMachine"}]}),
                circle,
            ),
        ),
    ]
}
