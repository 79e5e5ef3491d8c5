//! Lines of the program, each made of a recorded one.

use serde_json::{Value, json};

use super::{Player, Stop};
use crate::fake_claude::shape::Shape;
use crate::fake_claude::{Build, Deviation, TurnEnd};

impl Player<'_> {
    /// Returns the recorded line of this kind, made to fit this session.
    pub(super) fn shaped(&mut self, shape: Shape) -> Value {
        let mut line = self.shapes.get(shape);
        self.fit(&mut line);
        line
    }

    fn fit(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    match name.as_str() {
                        "session_id" => *field = self.session.as_str().into(),
                        "uuid" => *field = self.fresh_id().into(),
                        "cwd" | "original_cwd" => {
                            *field = self.directory.to_string_lossy().into();
                        }
                        _ => self.fit(field),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fit(item)),
            _ => {}
        }
    }

    /// Makes a line that tells how the program started tell what was asked for.
    pub(super) fn fit_init(&self, line: &mut Value) {
        let other_mode = self.deviates(|deviation| match deviation {
            Deviation::PermissionMode(mode) => Some(mode.clone()),
            _ => None,
        });
        if let Some(mode) = other_mode.or_else(|| self.asked.permission_mode.clone()) {
            line["permissionMode"] = mode.into();
        }
        if let Some(model) = &self.asked.model {
            line["model"] = model.as_str().into();
        }
        let servers = self.servers_told();
        let is_there = |tool: &&String| {
            servers.iter().any(|(name, state)| {
                state == "connected" && tool.starts_with(&format!("mcp__{name}__"))
            })
        };
        if let Some(asked) = &self.asked.tools {
            let ours = self.host.tools.iter().filter(is_there);
            let mut tools: Vec<&String> = asked.iter().chain(ours).collect();
            let less = self.deviates(|deviation| match deviation {
                Deviation::OneToolLess(tool) => Some(tool.clone()),
                _ => None,
            });
            tools.retain(|tool| Some(*tool) != less.as_ref());
            let more = self.deviates(|deviation| match deviation {
                Deviation::OneMoreTool(tool) => Some(tool.clone()),
                _ => None,
            });
            tools.extend(more.as_ref());
            line["tools"] = json!(tools);
        }
        let pattern = self.shapes.get(Shape::Init)["mcp_servers"][0].clone();
        line["mcp_servers"] = servers
            .into_iter()
            .map(|(name, status)| {
                let mut server = pattern.clone();
                server["name"] = name.into();
                server["status"] = status.into();
                server
            })
            .collect();
    }

    pub(super) fn tell_init(&mut self) -> Result<(), Stop> {
        let mut line = self.shaped(Shape::Init);
        self.fit_init(&mut line);
        self.say(&line)
    }

    pub(super) fn tell_state(&mut self, state: &str) -> Result<(), Stop> {
        if !self.tells_states {
            return Ok(());
        }
        let mut line = self.shaped(Shape::State);
        line["state"] = state.into();
        self.say(&line)
    }

    pub(super) fn tell_text(&mut self, text: &str) -> Result<(), Stop> {
        self.show_text(text)?;
        let mut line = self.shaped(Shape::Text);
        line["message"]["id"] = self.message_id();
        line["message"]["content"][0]["text"] = text.into();
        self.spent.last_text = text.to_owned();
        self.say(&line)
    }

    pub(super) fn tell_thinking(&mut self, text: &str) -> Result<(), Stop> {
        self.show_thinking(text)?;
        let mut line = self.shaped(Shape::Thinking);
        line["message"]["id"] = self.message_id();
        line["message"]["content"][0]["thinking"] = text.into();
        self.say(&line)
    }

    pub(super) fn message_id(&mut self) -> Value {
        format!("msg_{}", self.fresh_id()).into()
    }

    /// Says what a call came to, in the recorded form of this kind.
    pub(super) fn tell_result(
        &mut self,
        shape: Shape,
        call: &str,
        content: Value,
    ) -> Result<(), Stop> {
        let mut line = self.shaped(shape);
        let text = content.as_str().map(str::to_owned);
        line["message"]["content"][0]["tool_use_id"] = call.into();
        line["message"]["content"][0]["content"] = content.clone();
        let told = &mut line["tool_use_result"];
        match told {
            Value::Object(fields) if fields.contains_key("stdout") => {
                fields.insert("stdout".into(), text.unwrap_or_default().into());
            }
            Value::String(_) if shape != Shape::ToolRejected => {
                *told = format!("Error: {}", text.unwrap_or_default()).into();
            }
            Value::Array(_) => *told = content,
            _ => {}
        }
        if let Some(meta) = line["tool_result_meta"].get_mut(0) {
            meta["id"] = call.into();
        }
        self.open.retain(|open| open.id != call);
        self.spent.tool_results += 1;
        self.say(&line)
    }

    /// Says how a turn ended, in the recorded form that is nearest to it.
    pub(super) fn tell_end(&mut self, end: &TurnEnd) -> Result<(), Stop> {
        let shape = match (end.subtype.as_str(), end.is_error) {
            ("success", false) => Shape::Result,
            ("success", true) => Shape::ResultApiFailure,
            ("error_max_turns", _) => Shape::ResultMaxTurns,
            ("error_max_budget_usd", _) => Shape::ResultBudget,
            _ => Shape::ResultInterrupted,
        };
        if !end.is_error {
            self.begin_answer()?;
            self.end_answer("end_turn", (end.input_tokens, end.output_tokens))?;
        }
        if let Some(error) = &end.api_error {
            self.tell_api_failure(error, end)?;
        }
        let mut line = self.shaped(shape);
        line["subtype"] = end.subtype.as_str().into();
        line["is_error"] = end.is_error.into();
        match (&end.text, shape) {
            (Some(text), _) => line["result"] = text.as_str().into(),
            (None, Shape::Result) => line["result"] = self.spent.last_text.as_str().into(),
            _ => {}
        }
        if !end.errors.is_empty() {
            line["errors"] = json!(end.errors);
        }
        if end.is_error && end.api_error.as_deref() != Some("rate_limit") {
            drop_field(&mut line, "api_error");
            drop_field(&mut line, "api_error_type");
        }
        if line.get("api_error_status").is_some() {
            line["api_error_status"] = json!(end.api_error_status);
        }
        self.tell_outcome(line, end)
    }

    fn tell_api_failure(&mut self, error: &str, end: &TurnEnd) -> Result<(), Stop> {
        let mut line = self.shaped(Shape::ApiFailure);
        line["message"]["id"] = self.fresh_id().into();
        line["error"] = error.into();
        if let Some(text) = &end.text {
            line["message"]["content"][0]["text"] = text.as_str().into();
        }
        if self.build == Build::V2_1_325 {
            line["api_error_status"] = json!(end.api_error_status);
            if error != "rate_limit" {
                for name in ["api_error", "api_error_params", "api_error_type"] {
                    drop_field(&mut line, name);
                }
            }
        }
        self.say(&line)
    }

    /// Adds up what the session came to, and sends the result of a turn.
    pub(super) fn tell_outcome(&mut self, mut line: Value, end: &TurnEnd) -> Result<(), Stop> {
        let spent = &mut self.spent;
        spent.cost_usd += end.cost_usd;
        spent.input += end.input_tokens;
        spent.output += end.output_tokens;
        spent.has_failed = line["is_error"] == true;
        line["total_cost_usd"] = json!(spent.cost_usd);
        line["usage"]["input_tokens"] = end.input_tokens.into();
        line["usage"]["output_tokens"] = end.output_tokens.into();
        line["num_turns"] = (spent.tool_results + 1).into();
        line["permission_denials"] = std::mem::take(&mut spent.denials).into();
        // By model it is told for the whole session, and by newer builds also for the turn.
        let pattern = self.shapes.get(Shape::Result);
        let told = [
            ("modelUsage", spent.input, spent.output, spent.cost_usd),
            (
                "model_usage_since_last_result",
                end.input_tokens,
                end.output_tokens,
                end.cost_usd,
            ),
        ];
        for (name, input, output, cost) in told {
            if line.get(name).is_some() {
                line[name] = pattern[name].clone();
                for usage in line[name].as_object_mut().into_iter().flatten() {
                    usage.1["inputTokens"] = input.into();
                    usage.1["outputTokens"] = output.into();
                    usage.1["costUSD"] = json!(cost);
                }
            }
        }
        if line.get("result_index").is_some() {
            line["result_index"] = spent.results.into();
        }
        spent.results += 1;
        spent.tool_results = 0;
        self.say(&line)
    }
}

fn drop_field(line: &mut Value, name: &str) {
    if let Some(fields) = line.as_object_mut() {
        fields.remove(name);
    }
}
