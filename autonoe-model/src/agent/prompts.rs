//! Prompts of the agent loop.

use std::path::Path;

/// Message after an answer that was cut at the output limit.
pub(super) const CONTINUE: &str =
    "Your last answer was cut off because it was too long. Continue where it ended.";

/// Message after an answer that was cut at the output limit during a tool call.
pub(super) const REPEAT_CALL: &str = "Your last answer was cut off because it was too long. A call \
that was cut off did not run: make it again, in smaller pieces.";

/// Message after an answer that its provider could not parse.
pub(super) const UNPARSED: &str = "Your last answer could not be parsed, and none of its calls \
ran. Answer again; write the input of every call as valid JSON.";

/// Result of a call that was cut.
pub(super) const CUT_CALL: &str = "the call was cut off because the answer was too long, and did \
not run";

/// Result of a call in a discarded answer.
pub(super) const NOT_CARRIED_OUT: &str = "the call did not run";

/// Result of a call whose turn ended before it finished.
pub(super) const NO_RESULT: &str = "the turn ended before there was a result; it is unknown how \
much of the call ran";

/// System prompt for summaries.
pub(super) const SUMMARY_SYSTEM: &str = "You write notes for an engineer who takes over \
unfinished work and sees nothing but your notes.";

/// Replacement for removed messages without a summary.
pub(super) const NO_SUMMARY: &str = "[The middle of this conversation was removed because it \
became too long. Look at the files for what has been done so far.]";

/// Returns the system prompt for sessions without their own.
pub(super) fn system(cwd: &Path) -> String {
    format!(
        "You are an engineer who works alone in the directory {cwd}, through tools only. Nobody \
         answers questions: decide, and continue until the task is done. Read before you change \
         something, and check what you changed by running it. The result of a denied call gives \
         the reason; do not try to bypass it, find another way. One answer may contain several \
         calls that only read. When the task is done, describe in a few sentences what you did \
         and call no tool.",
        cwd = cwd.display()
    )
}

/// Returns the request for a summary of a conversation.
pub(super) fn summary_question(task: &str, transcript: &str) -> String {
    format!(
        "The task:\n\n{task}\n\nThe conversation so far:\n\n{transcript}\nWrite notes from \
         which the work can continue: what is done and how it was checked, which files matter \
         and what is in them, what was decided and why, what failed, and what comes next. Leave \
         out what can be looked up. Write only the notes."
    )
}

/// Returns the replacement for removed messages, with their summary.
pub(super) fn summary(text: &str) -> String {
    format!("[Notes on the work so far; the messages themselves were removed.]\n\n{text}")
}

/// Returns the replacement for removed messages, with a summary that was cut.
pub(super) fn cut_summary(text: &str) -> String {
    let notes = summary(text);
    format!("{notes}\n\n[The notes end here, because they became too long. Look at the files.]")
}

/// Appends user instructions to the replacement for removed messages.
pub(super) fn with_instructions(notes: &str, instructions: &[String]) -> String {
    let mut text = format!(
        "{notes}\n\n[You also received these messages in the meantime, and they still apply:]"
    );
    for instruction in instructions {
        text += "\n\n";
        text += instruction;
    }
    text
}
