//! The talk with MCP servers of the host.

use serde_json::Value;

use super::{Player, Stop};
use crate::fake_claude::shape::Shape;
use crate::fake_claude::{Build, Fault, Start};

impl Player<'_> {
    /// Answers `initialize`. The newer build greets the servers of the host first, and so does
    /// the older one where it greets twice.
    pub(super) fn initialize(&mut self, id: &str, request: &Value) -> Result<(), Stop> {
        self.die_at(Start::AtInitialize)?;
        self.refuse_to_start()?;
        self.host.introduce(request, &self.asked.servers);
        if self.build != Build::V2_1_197 || self.greets_twice() {
            for server in self.host.servers.clone() {
                let asked = self.message(&server, Shape::McpInitialize, None)?;
                self.greeted(&server, &asked)?;
            }
        }
        let mut line = self.shaped(Shape::Initialize);
        let told = &mut line["response"]["response"];
        told["pid"] = std::process::id().into();
        if told.get("current_permission_mode").is_some()
            && let Some(mode) = &self.asked.permission_mode
        {
            told["current_permission_mode"] = mode.as_str().into();
        }
        self.respond(line, id)?;
        self.die_at(Start::AfterInitialize)
    }

    fn greets_twice(&self) -> bool {
        let as_named = self.build == Build::V2_1_197 && !self.asked.servers.is_empty();
        as_named || self.faults.contains(&Fault::GreetsTwice)
    }

    /// Learns which tools the servers have, once.
    pub(super) fn meet_servers(&mut self) -> Result<(), Stop> {
        if std::mem::replace(&mut self.has_greeted, true) {
            return Ok(());
        }
        let twice = self.greets_twice();
        for server in self.host.servers.clone() {
            if self.host.failed.contains(&server) {
                continue;
            }
            if self.build == Build::V2_1_197 && !twice {
                let asked = self.message(&server, Shape::McpInitialize, None)?;
                self.greeted(&server, &asked)?;
            }
            let mut noted = vec![self.message(&server, Shape::McpInitialized, None)?];
            if twice {
                let again = self.message(&server, Shape::McpInitialize, None)?;
                self.greeted(&server, &again)?;
                noted.push(self.message(&server, Shape::McpInitialized, None)?);
            }
            // With two greetings, both ask by the same id before either has its answer.
            let lists = if twice { 2 } else { 1 };
            let mut asked = Vec::new();
            for _ in 0..lists {
                asked.push(self.message(&server, Shape::McpList, None)?);
            }
            for request in noted {
                self.mcp_answer(&request)?;
            }
            for request in asked {
                let answer = self.mcp_answer(&request)?;
                self.host.learn(&server, &answer["result"]["tools"]);
            }
        }
        Ok(())
    }

    fn greeted(&mut self, server: &str, request: &str) -> Result<(), Stop> {
        if self.mcp_answer(request)?.get("result").is_none() {
            self.host.failed.insert(server.to_owned());
        }
        Ok(())
    }

    /// Sends a message to a server; returns the id of the request that carries it.
    fn message(
        &mut self,
        server: &str,
        shape: Shape,
        params: Option<(u64, Value)>,
    ) -> Result<String, Stop> {
        let request = self.fresh_id();
        let mut line = self.shaped(shape);
        line["request_id"] = request.as_str().into();
        line["request"]["server_name"] = server.into();
        if let Some((id, params)) = params {
            line["request"]["message"]["id"] = id.into();
            line["request"]["message"]["params"] = params;
        }
        self.say(&line)?;
        Ok(request)
    }

    /// Waits for what a server says to a message.
    fn mcp_answer(&mut self, request: &str) -> Result<Value, Stop> {
        self.wait_until(|it| it.host.answers.contains_key(request) || it.host.is_gone)?;
        let answer = self.host.answers.remove(request).unwrap_or_default();
        Ok(answer["response"]["mcp_response"].clone())
    }

    /// Calls a tool of a server; returns the id of the request that carries the call.
    pub(super) fn send_call(
        &mut self,
        call: &str,
        server: &str,
        name: &str,
        input: &Value,
    ) -> Result<String, Stop> {
        self.ids += 1;
        let number = self.ids;
        let mut params = self.shapes.get(Shape::McpCall)["request"]["message"]["params"].clone();
        params["name"] = name.into();
        params["arguments"] = input.clone();
        params["_meta"]["claudecode/toolUseId"] = call.into();
        params["_meta"]["progressToken"] = number.into();
        if let Some(open) = self.open.iter_mut().find(|open| open.id == call) {
            open.message = Some((server.to_owned(), number));
        }
        self.message(server, Shape::McpCall, Some((number, params)))
    }

    /// Waits for the answer to a call, and tells the agent.
    pub(super) fn await_call(&mut self, call: &str, request: &str) -> Result<(), Stop> {
        let answer = self.mcp_answer(request)?;
        let result = &answer["result"];
        let texts = result["content"].as_array().into_iter().flatten();
        let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
        if result.is_object() && result["isError"] != true {
            return self.tell_result(Shape::McpResult, call, result["content"].clone());
        }
        let error = &answer["error"];
        let said = error["message"].as_str();
        let text = match (said, self.build) {
            (Some(said), Build::V2_1_197) => format!("MCP error {}: {said}", error["code"]),
            (Some(said), _) => said.to_owned(),
            (None, _) => text,
        };
        self.tell_result(Shape::McpFailed, call, text.into())
    }

    /// Tells a server that a call is given up.
    pub(super) fn give_up_call(&mut self, server: &str, number: u64) -> Result<(), Stop> {
        let request = self.fresh_id();
        let mut line = self.shaped(Shape::McpCancelled);
        line["request_id"] = request.into();
        line["request"]["server_name"] = server.into();
        line["request"]["message"]["params"]["requestId"] = number.into();
        self.say(&line)
    }
}
