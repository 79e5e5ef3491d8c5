//! Calls of tools: the hooks first, then the tool.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::decision::Decision;
use super::{Player, Stop};
use crate::fake_claude::shape::Shape;
use crate::fake_claude::shell::{Ran, Running};
use crate::fake_claude::{Build, Effect, ToolUse};

/// A call that has no result yet.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: String,
    /// Questions to hooks that have no answer yet.
    pub(super) questions: Vec<String>,
    /// The MCP server that works on it, and the id of the message there.
    pub(super) message: Option<(String, u64)>,
    pub(super) command: Option<Running>,
    pub(super) ran: Option<Ran>,
}

impl Player<'_> {
    /// Lets the agent call tools, all in one message.
    pub(super) fn call(&mut self, tools: &[ToolUse]) -> Result<(), Stop> {
        let message = self.message_id();
        let mut calls = Vec::new();
        for tool in tools {
            let id = format!("toolu_{}", self.fresh_id());
            self.open.push(OpenCall {
                id: id.clone(),
                questions: Vec::new(),
                message: None,
                command: None,
                ran: None,
            });
            self.show_tool_use(&id, &tool.name)?;
            self.show_call(&message, &id, tool)?;
            calls.push((id, tool));
        }
        self.end_answer("tool_use", (0, 0))?;
        let mut rest = calls.as_slice();
        while let Some((_, first)) = rest.first() {
            let reads = |tool: &ToolUse| self.host.read_only.contains(&tool.name);
            let together = match reads(first) {
                true => rest.iter().take_while(|(_, tool)| reads(tool)).count(),
                false => 1,
            };
            let (now, later) = rest.split_at(together);
            self.carry_out(now)?;
            rest = later;
        }
        Ok(())
    }

    fn show_call(&mut self, message: &Value, id: &str, tool: &ToolUse) -> Result<(), Stop> {
        let mut line = match tool.of_server() {
            None => self.shaped(Shape::ToolUse),
            Some((server, name)) => {
                let mut line = self.shaped(Shape::McpToolUse);
                let meta = &mut line["tool_use_meta"][0];
                meta["id"] = id.into();
                meta["display_name"] = name.into();
                meta["server_display_name"] = server.into();
                if meta.get("tool_name").is_some() {
                    meta["tool_name"] = name.into();
                }
                line
            }
        };
        line["message"]["id"] = message.clone();
        let block = &mut line["message"]["content"][0];
        block["id"] = id.into();
        block["name"] = tool.name.as_str().into();
        block["input"] = tool.input.clone();
        self.say(&line)
    }

    /// Carries out calls at the same time, as far as they may happen.
    fn carry_out(&mut self, calls: &[(String, &ToolUse)]) -> Result<(), Stop> {
        let decisions = self.ask_hooks(calls)?;
        let mut sent = Vec::new();
        for ((id, tool), decision) in calls.iter().zip(&decisions) {
            let goes_out = *decision == Decision::Allow && tool.effect == Effect::Happens;
            sent.push(match tool.of_server() {
                Some((server, name)) if goes_out => {
                    Some(self.send_call(id, server, name, &tool.input)?)
                }
                _ => None,
            });
        }
        for (((id, tool), decision), sent) in calls.iter().zip(decisions).zip(sent) {
            match (decision, sent) {
                (Decision::Allow, Some(request)) => self.await_call(id, &request)?,
                (Decision::Allow, None) => self.happen(id, tool)?,
                (refused, _) => self.refuse(id, tool, refused)?,
            }
        }
        Ok(())
    }

    /// Asks every hook about every call, and waits for all of them.
    fn ask_hooks(&mut self, calls: &[(String, &ToolUse)]) -> Result<Vec<Decision>, Stop> {
        let mut asked = Vec::new();
        for (id, tool) in calls {
            for hook in 0..self.host.hooks.len() {
                if self.host.hooks[hook].matches(&tool.name) {
                    let request = self.ask_hook(id, tool, hook)?;
                    let deadline = Instant::now() + self.host.hooks[hook].timeout;
                    asked.push((id, hook, request, deadline));
                }
            }
        }
        let mode = self.asked.permission_mode.clone().unwrap_or_default();
        let mut decisions = vec![Decision::Open; calls.len()];
        for (call, hook, request, deadline) in asked {
            while !self.host.answers.contains_key(&request)
                && !self.host.is_gone
                && Instant::now() < deadline
            {
                self.pump(Some(deadline))?;
            }
            let answer = self.host.answers.remove(&request);
            let decision = match answer {
                // Without a host the older build goes on without its hooks.
                None if self.host.is_gone && self.build == Build::V2_1_197 => Decision::Allow,
                None if !self.host.is_gone => {
                    let mut line = self.shaped(Shape::Cancel);
                    line["request_id"] = request.as_str().into();
                    self.say(&line)?;
                    Decision::Late
                }
                answer => Decision::read(answer.as_ref(), &self.host.hooks[hook], self.build),
            };
            if let Some(open) = self.open.iter_mut().find(|open| open.id == **call) {
                open.questions.retain(|question| *question != request);
            }
            if let Some(at) = calls.iter().position(|(id, _)| id == call) {
                decisions[at] = decisions[at].clone().and(decision);
            }
        }
        Ok(decisions
            .into_iter()
            .zip(calls)
            .map(|(decision, (_, tool))| decision.by_mode(&tool.name, &mode))
            .collect())
    }

    fn ask_hook(&mut self, id: &str, tool: &ToolUse, hook: usize) -> Result<String, Stop> {
        let request = self.fresh_id();
        let mut line = self.shaped(Shape::Hook);
        line["request_id"] = request.as_str().into();
        let body = &mut line["request"];
        body["callback_id"] = self.host.hooks[hook].callback.as_str().into();
        body["tool_use_id"] = id.into();
        let input = &mut body["input"];
        input["tool_use_id"] = id.into();
        input["tool_name"] = tool.name.as_str().into();
        input["tool_input"] = tool.input.clone();
        if let Some(mode) = &self.asked.permission_mode {
            input["permission_mode"] = mode.as_str().into();
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.id == id) {
            open.questions.push(request.clone());
        }
        self.say(&line)?;
        Ok(request)
    }

    fn refuse(&mut self, id: &str, tool: &ToolUse, decision: Decision) -> Result<(), Stop> {
        self.spent.denials.push(json!({
            "tool_name": tool.name, "tool_use_id": id, "tool_input": tool.input,
        }));
        let shape = match decision {
            Decision::Deny(_) => Shape::ToolRefused,
            Decision::Late => Shape::HookLate,
            _ => Shape::NotPermitted,
        };
        let text = match (decision, self.build) {
            (Decision::Deny(reason), Build::V2_1_197) => reason,
            (Decision::Deny(reason), _) => {
                format!("PreToolUse:{} hook error: {reason}", tool.name)
            }
            // The recorded call was one of `Write`.
            _ => {
                let recorded = self.shapes.get(shape)["message"]["content"][0]["content"].clone();
                let recorded = recorded.as_str().unwrap_or_default().to_owned();
                recorded.replace("Write", &tool.name)
            }
        };
        self.tell_result(shape, id, text.into())
    }

    /// Lets a call that is allowed happen.
    fn happen(&mut self, id: &str, tool: &ToolUse) -> Result<(), Stop> {
        let text = |name: &str| tool.input[name].as_str().unwrap_or_default().to_owned();
        match (&tool.effect, tool.name.as_str()) {
            (Effect::Answers(output), _) => {
                self.tell_result(Shape::ToolResult, id, output.as_str().into())
            }
            (Effect::Fails(output), _) => {
                self.tell_result(Shape::ToolFailed, id, output.as_str().into())
            }
            (Effect::StartsTask(task), _) => self.start_task(id, task, &text("description")),
            (Effect::Happens, "Bash") => self.run(id, &text("command")),
            (Effect::Happens, "Write") => {
                let path = self.directory.join(text("file_path"));
                match fs::write(&path, text("content")) {
                    Ok(()) => {
                        let told = format!("File created successfully at: {}", path.display());
                        self.tell_result(Shape::FileWritten, id, told.into())
                    }
                    Err(error) => self.tell_result(Shape::ToolFailed, id, error.to_string().into()),
                }
            }
            (Effect::Happens, other) => {
                let told = format!("fake-claude has no tool {other}");
                self.tell_result(Shape::ToolFailed, id, told.into())
            }
        }
    }

    fn run(&mut self, id: &str, command: &str) -> Result<(), Stop> {
        let started = Running::start(command, &self.directory, id, self.queue.clone());
        let running = match started {
            Ok(running) => running,
            Err(error) => {
                return self.tell_result(Shape::ToolFailed, id, error.to_string().into());
            }
        };
        if let Some(open) = self.open.iter_mut().find(|open| open.id == id) {
            open.command = Some(running);
        }
        let mut ran = None;
        while ran.is_none() {
            self.pump(None)?;
            let mut open = self.open.iter_mut();
            ran = open
                .find(|open| open.id == id)
                .and_then(|open| open.ran.take());
        }
        let Some(Ran {
            succeeded, output, ..
        }) = ran
        else {
            return Ok(());
        };
        let shape = if succeeded {
            Shape::ToolResult
        } else {
            Shape::ToolFailed
        };
        self.tell_result(shape, id, output.into())
    }

    /// Kills the commands that run.
    pub(super) fn kill_commands(&self) {
        for command in self.open.iter().filter_map(|open| open.command.as_ref()) {
            command.kill();
        }
    }
}
