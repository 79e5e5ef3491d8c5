//! Turns, from their beginning to their result.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Player, Stop};
use crate::fake_claude::shape::Shape;
use crate::fake_claude::{Build, FakeTurn, Signal, Step, TurnEnd};

impl Player<'_> {
    /// Plays a turn to its end, also if that comes early.
    pub(super) fn turn(&mut self, turn: &FakeTurn) -> Result<(), Stop> {
        self.is_working = true;
        let played = self.steps(turn);
        let ended = match played {
            Err(Stop::Interrupt(id)) => self.broken_off(Some((Shape::Interrupt, &id))),
            Err(Stop::EndSession(id)) => {
                self.broken_off(Some((Shape::EndSession, &id)))?;
                Err(Stop::Exit(1))
            }
            Err(Stop::Signal(Signal::Interrupt)) => {
                self.broken_off(None)?;
                Err(Stop::Exit(0))
            }
            other => other,
        };
        ended?;
        self.is_working = false;
        self.tell_state("idle")
    }

    fn steps(&mut self, turn: &FakeTurn) -> Result<(), Stop> {
        match &turn.after_task {
            None => {
                self.tell_state("running")?;
                self.meet_servers()?;
                self.tell_init()?;
            }
            Some(task) => self.begin_after(task)?,
        }
        for step in &turn.steps {
            if let Step::Ends(end) = step {
                return self.tell_end(end);
            }
            self.step(step)?;
        }
        self.tell_end(&TurnEnd::completed())
    }

    fn step(&mut self, step: &Step) -> Result<(), Stop> {
        match step {
            Step::Says(text) => self.tell_text(text),
            Step::Thinks(text) => self.tell_thinking(text),
            Step::Uses(tools) => self.call(tools),
            Step::RateLimit {
                status,
                resets_at,
                claim,
            } => {
                let mut line = self.shaped(Shape::RateLimit);
                let mut told = json!({"status": status, "isUsingOverage": false});
                if let Some(resets_at) = resets_at {
                    told["resetsAt"] = (*resets_at).into();
                }
                if let Some(claim) = claim {
                    told["rateLimitType"] = claim.as_str().into();
                }
                line["rate_limit_info"] = told;
                self.say(&line)
            }
            Step::Retries {
                attempt,
                status,
                error,
            } => {
                let mut line = self.shaped(Shape::Retry);
                line["attempt"] = (*attempt).into();
                line["error_status"] = json!(status);
                line["error"] = error.as_str().into();
                self.say(&line)
            }
            Step::Waits { ms } => {
                let until = Instant::now() + Duration::from_millis(*ms);
                while Instant::now() < until {
                    self.pump(Some(until))?;
                }
                Ok(())
            }
            Step::Hangs => loop {
                self.pump(None)?;
            },
            Step::Sends(line) => {
                let mut line = line.clone();
                if line.is_object() && line.get("session_id").is_none() {
                    line["session_id"] = self.session.as_str().into();
                }
                self.say(&line)
            }
            Step::Breaks(what) => self.go_wrong(what),
            Step::Ends(end) => self.tell_end(end),
        }
    }

    /// Ends a turn before its time: what is open is given up, the host has its answer, and then
    /// comes the result.
    fn broken_off(&mut self, answer: Option<(Shape, &str)>) -> Result<(), Stop> {
        self.kill_commands();
        let open = std::mem::take(&mut self.open);
        for call in &open {
            for question in &call.questions {
                let mut line = self.shaped(Shape::Cancel);
                line["request_id"] = question.as_str().into();
                self.say(&line)?;
            }
            if let Some((server, number)) = &call.message {
                self.give_up_call(server, *number)?;
            }
        }
        if let Some((shape, id)) = answer {
            self.answer(shape, id)?;
        }
        let (remark, result) = match open.is_empty() {
            true => (Shape::Interrupted, Shape::ResultInterrupted),
            false => (Shape::InterruptedInTool, Shape::ResultInterruptedInTool),
        };
        for call in &open {
            let recorded = self.shapes.get(Shape::ToolRejected);
            let text = recorded["message"]["content"][0]["content"].clone();
            self.tell_result(Shape::ToolRejected, &call.id, text)?;
        }
        let line = self.shaped(remark);
        self.say(&line)?;
        let line = self.shaped(result);
        self.tell_outcome(line, &TurnEnd::completed().costing(0.0).with_tokens(0, 0))
    }

    /// Says that a task lives from now on, and that the call which started it is done.
    pub(super) fn start_task(&mut self, call: &str, task: &str, about: &str) -> Result<(), Stop> {
        self.tasks.insert(task.to_owned(), call.to_owned());
        self.list_tasks(&[(task, about)])?;
        let mut line = self.shaped(Shape::TaskStarted);
        line["task_id"] = task.into();
        line["tool_use_id"] = call.into();
        line["description"] = about.into();
        self.say(&line)?;
        let text = format!("Command running in background with ID: {task}.");
        self.tell_result(Shape::InBackground, call, text.into())
    }

    /// Says which tasks live, if the build does.
    fn list_tasks(&mut self, tasks: &[(&str, &str)]) -> Result<(), Stop> {
        if self.shapes.find(Shape::Tasks).is_none() {
            return Ok(());
        }
        let mut line = self.shaped(Shape::Tasks);
        let pattern = line["tasks"][0].clone();
        line["tasks"] = tasks
            .iter()
            .map(|(id, about)| {
                let mut task = pattern.clone();
                task["task_id"] = (*id).into();
                task["description"] = (*about).into();
                task
            })
            .collect();
        self.say(&line)
    }

    /// Begins a turn of the program's own, in the order of the build.
    fn begin_after(&mut self, task: &str) -> Result<(), Stop> {
        let mut updated = self.shaped(Shape::TaskUpdated);
        updated["task_id"] = task.into();
        self.say(&updated)?;
        let mut notice: Value = self.shaped(Shape::TaskNotification);
        notice["task_id"] = task.into();
        if let Some(call) = self.tasks.get(task) {
            notice["tool_use_id"] = call.as_str().into();
        }
        if self.build == Build::V2_1_197 {
            self.tell_state("running")?;
            self.say(&notice)?;
            return self.tell_init();
        }
        self.say(&notice)?;
        self.list_tasks(&[])?;
        self.tell_state("running")?;
        self.tell_init()
    }
}
