//! Responses to the host, and requests to its MCP servers.

use serde_json::{Value, json};

use super::recording::Kind;
use super::replay::{Replay, Stop};

impl Replay<'_> {
    /// Answers a request of the host, or queues it for the recording.
    pub(super) fn answer(
        &mut self,
        id: String,
        request: &Value,
        is_working: bool,
    ) -> Result<(), Stop> {
        match request["subtype"].as_str().unwrap_or_default() {
            "initialize" | "interrupt" => {
                self.host.requests.push_back((id, request.clone()));
                Ok(())
            }
            "end_session" if !self.may_exit() => Ok(()),
            "end_session" => {
                if !is_working {
                    self.respond(self.lines.get(Kind::EndSession), &id)?;
                }
                Err(self.exit())
            }
            "get_settings" => self.answer_settings(&id),
            "mcp_status" => self.answer_servers(&id),
            other => {
                let mut line = self.lines.get(Kind::Unsupported);
                let error = format!("Unsupported control request subtype: {other}");
                line["response"]["error"] = error.into();
                self.respond(line, &id)
            }
        }
    }

    /// Writes `line` as the response to the request with this id.
    pub(super) fn respond(&mut self, mut line: Value, id: &str) -> Result<(), Stop> {
        line["response"]["request_id"] = id.into();
        self.write(&line)
    }

    fn answer_settings(&mut self, id: &str) -> Result<(), Stop> {
        let settings = &self.arguments.settings;
        let (effective, sources) = match settings {
            Value::Object(_) => (
                settings.clone(),
                json!([{"source": "flagSettings", "settings": settings}]),
            ),
            _ => (json!({}), json!([])),
        };
        let mut line = self.lines.get(Kind::Settings);
        let answer = &mut line["response"]["response"];
        answer["effective"] = effective;
        answer["sources"] = sources;
        if let Some(model) = &self.arguments.model {
            answer["applied"]["model"] = model.as_str().into();
        }
        self.respond(line, id)
    }

    fn answer_servers(&mut self, id: &str) -> Result<(), Stop> {
        let mut line = self.lines.get(Kind::McpStatus);
        let servers = &mut line["response"]["response"]["mcpServers"];
        let pattern = servers[0].clone();
        *servers = self
            .host
            .servers
            .iter()
            .map(|name| {
                let prefix = format!("mcp__{name}__");
                let tools = self.host.tools.iter();
                let mut server = connected(&pattern, name);
                server["tools"] = tools
                    .filter_map(|tool| tool.strip_prefix(&prefix))
                    .map(|tool| json!({"name": tool, "annotations": {}}))
                    .collect();
                server
            })
            .collect();
        self.respond(line, id)
    }

    /// Adapts the line that reports the start of a turn to the arguments.
    pub(super) fn adapt_init(&self, line: &mut Value) {
        if let Some(mode) = &self.arguments.permission_mode {
            line["permissionMode"] = mode.as_str().into();
        }
        if let Some(model) = &self.arguments.model {
            line["model"] = model.as_str().into();
        }
        if let Some(built_in) = &self.arguments.tools {
            line["tools"] = built_in.iter().chain(&self.host.tools).cloned().collect();
        }
        let pattern = self.lines.get(Kind::Init)["mcp_servers"][0].clone();
        let servers = self.host.servers.iter();
        line["mcp_servers"] = servers.map(|name| connected(&pattern, name)).collect();
    }

    /// Initializes the host's servers and lists their tools.
    pub(super) fn initialize_servers(&mut self) -> Result<(), Stop> {
        for server in self.host.servers.clone() {
            self.call_server(&server, Kind::McpInitialize)?;
            self.call_server(&server, Kind::McpInitialized)?;
            let answer = self.call_server(&server, Kind::McpList)?;
            self.host.add_tools(&server, &answer["result"]["tools"]);
        }
        Ok(())
    }

    /// Sends a message to a server and waits for the response.
    fn call_server(&mut self, server: &str, kind: Kind) -> Result<Value, Stop> {
        let id = self.fresh_id();
        let mut line = self.lines.get(kind);
        line["request_id"] = id.as_str().into();
        line["request"]["server_name"] = server.into();
        self.write(&line)?;
        self.wait_until(|it| it.host.answers.contains_key(&id) || it.host.is_closed)?;
        let answer = self.host.answers.remove(&id).unwrap_or_default();
        Ok(answer["response"]["mcp_response"].clone())
    }
}

/// Returns the state of a connected server of this name.
fn connected(pattern: &Value, name: &str) -> Value {
    let mut server = pattern.clone();
    server["name"] = name.into();
    server["status"] = "connected".into();
    server
}
