//! `Presenter`, which prints the events of a run or of a conversation for the operator, and
//! `FlowLines` for a flow.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_app::text::{
    Activity, DecisionFormatter, Level, Line, lines, prompt_sent, wait_countdown,
};
use autonoe_core::event::AnswerText;
use autonoe_core::gate::GateDecision;
use autonoe_core::{RunEvent, RunEventKind, RunObserver, StreamEvent, sanitize};
use autonoe_flow::{FlowEvent, FlowObserver};

use super::debug_lines::debug_line;
use super::denial_summary::DeniedCall;
use super::screen::{Screen, Transient};
use crate::error::CliError;
use crate::results::WriteError;

/// Amount of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Errors, and warnings of the command itself, such as a sandbox that is switched off.
    Quiet,
    /// Short lines for the main events.
    Normal,
    /// All events.
    Debug,
}

/// Prints the events of a run: permanent lines and, with [`Detail::Normal`], a transient line with
/// the current activity. In a conversation, the text of the agent goes to standard output.
#[derive(Debug)]
pub(crate) struct Presenter {
    screen: Screen,
    detail: Detail,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    activity: Activity,
    conversation: Option<ConversationOutput>,
    /// Whether the run resumes an interrupted one.
    is_resumed: bool,
}

/// Output of a conversation, whose starts and ends of sessions are not printed.
#[derive(Debug)]
struct ConversationOutput {
    /// `None` if standard output has the events.
    answer: Option<AnswerText>,
    denied: Vec<DeniedCall>,
    unwritten: Option<WriteError>,
}

impl Presenter {
    pub(crate) fn new(screen: Screen, detail: Detail) -> Self {
        Self {
            screen,
            detail,
            state: Mutex::default(),
        }
    }

    /// Prints the events of a conversation from now on: answers to standard output, unless it has
    /// the events.
    pub(crate) fn start_conversation(&self, prints_answers: bool) {
        self.state().conversation = Some(ConversationOutput {
            answer: prints_answers.then(AnswerText::new),
            denied: Vec::new(),
            unwritten: None,
        });
    }

    /// Sets whether the run resumes an interrupted one, before it starts.
    pub(crate) fn set_resumed(&self, is_resumed: bool) {
        self.state().is_resumed = is_resumed;
    }

    /// Prints the prompt of a chat.
    pub(crate) fn print_prompt(&self) {
        self.screen.clear();
        self.screen.write("> ");
    }

    /// Returns the denied calls of the conversation since the previous invocation.
    pub(crate) fn take_denied(&self) -> Vec<DeniedCall> {
        let mut state = self.state();
        let conversation = state.conversation.as_mut();
        conversation.map_or_else(Vec::new, |it| std::mem::take(&mut it.denied))
    }

    /// Returns an error if a part of an answer could not be written. A closed pipe is not an
    /// error.
    pub(crate) fn check_written(&self) -> Result<(), CliError> {
        let mut state = self.state();
        let unwritten = state
            .conversation
            .as_mut()
            .and_then(|it| it.unwritten.take());
        unwritten.map_or(Ok(()), |error| Err(error.into()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line that the run itself does not emit.
    pub(crate) fn print(&self, message: &str) {
        self.print_line(Some(Line::new(Level::Info, message)));
    }

    /// Prints a warning that the run itself does not emit, at every [`Detail`].
    pub(crate) fn warn(&self, message: &str) {
        let text = format!("warning: {message}");
        self.screen.write_line(&Line::new(Level::Warning, text));
    }

    fn is_visible(&self, level: Level) -> bool {
        match self.detail {
            Detail::Quiet => level == Level::Error,
            Detail::Normal => level != Level::Debug,
            Detail::Debug => true,
        }
    }

    /// Prints a permanent line, if the [`Detail`] includes its level.
    pub(super) fn print_line(&self, line: Option<Line>) {
        if let Some(line) = line.filter(|line| self.is_visible(line.level)) {
            self.screen.write_line(&line);
        }
    }
}

impl RunObserver for Presenter {
    fn on_event(&self, event: &RunEvent<'_>) {
        let State {
            activity,
            conversation,
            is_resumed,
        } = &mut *self.state();
        match &event.kind {
            RunEventKind::SessionStarted { .. } => self.screen.reset_clock(),
            RunEventKind::SessionEnded { .. }
            | RunEventKind::WaitEnded { .. }
            | RunEventKind::RunEnded { .. }
            | RunEventKind::FlowEnded { .. } => self.screen.clear(),
            _ => {}
        }
        let is_printed = conversation
            .as_mut()
            .is_some_and(|conversation| conversation.observe(event, &self.screen));
        if !is_printed {
            self.print_line(debug_line(&event.kind));
        }
        if conversation.is_none() || !is_session_boundary(&event.kind) {
            for mut line in lines(event, activity.tools()) {
                if let (RunEventKind::RunStarted { run, mode }, true) = (&event.kind, *is_resumed) {
                    line.text = format!("Run {run} resumed ({mode})");
                }
                self.print_line(Some(line));
            }
        }
        match transient_change(&event.kind, activity) {
            TransientChange::Keep => {}
            TransientChange::Show(about, text) => self.screen.show_transient(about, &text),
            TransientChange::Clear => self.screen.clear(),
        }
    }
}

impl ConversationOutput {
    /// Prints text of the answer and records denied calls. Returns whether the event is text of
    /// the answer.
    fn observe(&mut self, event: &RunEvent<'_>, screen: &Screen) -> bool {
        if let RunEventKind::ToolDecided { call, decision } = &event.kind
            && let GateDecision::Deny { remedy, .. } = decision
        {
            self.denied.push(DeniedCall {
                tool: call.name.clone(),
                target: call.kind.target(),
                remedy: remedy.clone(),
            });
        }
        let Some(answer) = &mut self.answer else {
            return false;
        };
        if let Some(text) = answer.observe(event)
            && let Err(error) = screen.write_answer(&sanitize_answer(&text))
        {
            self.unwritten = Some(error);
        }
        matches!(
            event.kind,
            RunEventKind::Agent {
                stream: StreamEvent::Text { agent: None, .. }
            }
        )
    }
}

/// Replaces control characters. Tabs are kept, because the answer may be a Makefile.
fn sanitize_answer(text: &str) -> String {
    let parts: Vec<_> = text.split('\t').map(sanitize).collect();
    parts.join("\t")
}

/// Returns whether a session starts or ends with the event. The command itself prints the result of
/// a conversation.
fn is_session_boundary(kind: &RunEventKind<'_>) -> bool {
    matches!(
        kind,
        RunEventKind::FlowStarted { .. }
            | RunEventKind::SessionStarted { .. }
            | RunEventKind::SessionEnded { .. }
            | RunEventKind::BudgetNearlySpent { .. }
            | RunEventKind::BudgetSpent { .. }
    )
}

/// Effect of an event on the transient line.
#[derive(Debug, PartialEq, Eq)]
enum TransientChange {
    Keep,
    Show(Transient, String),
    Clear,
}

/// Updates the activity, and returns the effect of the event on the transient line.
fn transient_change(event: &RunEventKind<'_>, activity: &mut Activity) -> TransientChange {
    activity.observe(event);
    match event {
        // After a progress, the agent continues its previous activity.
        RunEventKind::Agent { .. } | RunEventKind::ProgressEnded => {}
        RunEventKind::ProgressStarted { message } => {
            return TransientChange::Show(Transient::Work, (*message).to_owned());
        }
        RunEventKind::WaitTick {
            reason,
            until,
            remaining,
        } => {
            return match wait_countdown(*reason, *until, *remaining) {
                Some(text) => TransientChange::Show(Transient::Wait, text),
                None => TransientChange::Keep,
            };
        }
        _ => return TransientChange::Keep,
    }
    match activity.text() {
        Some(text) => TransientChange::Show(Transient::Work, text),
        None => TransientChange::Clear,
    }
}

/// Prints the position of a flow and the results of its checks.
#[derive(Debug)]
pub(crate) struct FlowLines {
    presenter: Arc<Presenter>,
    formatter: Mutex<DecisionFormatter>,
}

impl FlowLines {
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            formatter: Mutex::default(),
        }
    }
}

impl FlowObserver for FlowLines {
    fn on_event(&self, event: &FlowEvent<'_>) {
        match event {
            FlowEvent::PromptSent { at, session, .. } => {
                self.presenter.print_line(Some(prompt_sent(at, session)));
            }
            FlowEvent::Decided { fact, action } => {
                let mut formatter = self
                    .formatter
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                for line in formatter.format(fact, Some(action)) {
                    self.presenter.print_line(Some(line));
                }
            }
            // The reader of a prompt prints its warnings.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::StreamEvent;
    use autonoe_core::agent::SessionOutcome;

    use super::*;

    #[test]
    fn control_characters_other_than_tabs_are_replaced_in_answers() {
        assert_eq!(sanitize_answer("a\tb\u{1b}[2J\r\n"), "a\tb [2J \n");
    }

    #[test]
    fn the_activity_returns_after_progress_ends() {
        let work = |text: &str| TransientChange::Show(Transient::Work, text.to_owned());
        let compacting = RunEventKind::ProgressStarted {
            message: "compacting",
        };
        let (thinks, ends) = (
            StreamEvent::thinking("hm"),
            StreamEvent::end(SessionOutcome::Completed, None),
        );
        let mut activity = Activity::default();
        for (event, change) in [
            (compacting.clone(), work("compacting")),
            (RunEventKind::ProgressEnded, TransientChange::Clear),
            (RunEventKind::Agent { stream: &thinks }, work("Thinking...")),
            (compacting, work("compacting")),
            (RunEventKind::ProgressEnded, work("Thinking...")),
            (RunEventKind::Paused, TransientChange::Keep),
            (
                RunEventKind::Agent { stream: &ends },
                TransientChange::Clear,
            ),
        ] {
            assert_eq!(transient_change(&event, &mut activity), change, "{event:?}");
        }
    }
}
