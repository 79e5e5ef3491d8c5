//! What the loop itself says to a model.

use std::path::Path;

/// What an answer is told that was cut at its length.
pub(super) const GO_ON: &str =
    "Your last answer was cut off because it was too long. Go on where it ended.";

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
