//! What the loop itself says to a model.

use std::path::Path;

/// What an answer is told that was cut at its length.
pub(super) const GO_ON: &str =
    "Your last answer was cut off because it was too long. Go on where it ended.";

/// What an answer is told that was cut at its length while it called a tool.
pub(super) const CALL_AGAIN: &str = "Your last answer was cut off because it was too long. A call \
that was cut was not carried out: make it again, in smaller pieces.";

/// What an answer is told that its provider could not read.
pub(super) const NOT_READ: &str = "Your last answer could not be read, and nothing of it was \
carried out. Answer again; write the input of every call as valid JSON.";

/// What became of a call that was cut.
pub(super) const CUT_CALL: &str = "the call was cut off because the answer was too long, and was \
not carried out";

/// What became of a call of an answer that does not count.
pub(super) const NOT_CARRIED_OUT: &str = "the call was not carried out";

/// What became of a call when its turn ended before it had a result.
pub(super) const NO_RESULT: &str = "the turn ended before there was a result; nobody knows how \
much of the call was carried out";

/// What holds when a conversation is told in short.
pub(super) const SUMMARY_SYSTEM: &str = "You write notes for an engineer who takes over a \
piece of work in its middle and sees nothing but your notes.";

/// What stands in the place of a summary that nobody could write.
pub(super) const NO_SUMMARY: &str = "[The middle of this conversation was removed because it \
became too long. Look at the files for what has been done so far.]";

/// Returns what holds for a session that brings no system prompt of its own.
pub(super) fn system(cwd: &Path) -> String {
    format!(
        "You are an engineer who works alone in the directory {cwd}, through tools only. \
         Nobody answers questions: decide, and go on until the task is done. \
         Look before you change something, and check what you changed by running it. \
         A call that is refused says why; do not try to get around it, find another way. \
         Several calls that only look may stand in one answer. \
         When the task is done, say in a few sentences what you did and call no tool.",
        cwd = cwd.display()
    )
}

/// Asks for a conversation in short.
pub(super) fn summary_question(task: &str, told: &str) -> String {
    format!(
        "The task of the work:\n\n{task}\n\n\
         What was said and done so far:\n\n{told}\n\
         Write notes with which the work can go on: what is done and how it was checked, which \
         files matter and what is in them, what was decided and why, what failed, and what comes \
         next. Leave out what can be looked up. Write only the notes."
    )
}

/// Returns what stands in the place of the messages that were told in short.
pub(super) fn summary(text: &str) -> String {
    format!("[Notes on the work so far; the messages themselves were removed.]\n\n{text}")
}

/// Returns what stands in the place of the messages that were told in short, but not to the end.
pub(super) fn cut_summary(text: &str) -> String {
    let notes = summary(text);
    format!("{notes}\n\n[The notes end here, because they became too long. Look at the files.]")
}

/// Adds what persons told meanwhile to what stands in the place of messages.
pub(super) fn with_instructions(notes: &str, instructions: &[String]) -> String {
    let mut text = format!("{notes}\n\n[You were also told this in the meantime, and it holds:]");
    for told in instructions {
        text += "\n\n";
        text += told;
    }
    text
}
