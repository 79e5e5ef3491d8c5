//! Validates that prompts exist and can be used.

use super::findings::Findings;
use crate::finding::FindingKind::{PromptFallback, PromptNotFound, PromptText};
use crate::load::{PromptFile, PromptUse, prompt_uses};
use crate::prompt::{PromptOrigin, candidates};
use autonoe_core::project::suggest;

pub(super) fn check(found: &mut Findings<'_>) {
    for used in prompt_uses(found.agent, found.registry) {
        prompt(found, &used);
    }
}

fn prompt(found: &mut Findings<'_>, used: &PromptUse) {
    let candidates = candidates(&used.reference, &found.agent.prompts);
    let first = candidates
        .iter()
        .find_map(|it| found.definition.prompt(&it.path).map(|file| (it, file)));
    let pointer = used.pointer.clone();
    match first {
        None => {
            let wanted = candidates[0].path.display().to_string();
            let message = match candidates.len() {
                1 => format!("the prompt {wanted} does not exist"),
                _ => format!("the prompt {wanted} does not exist, and neither does a fallback"),
            };
            let hint = match suggest(&wanted, found.definition.files()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "create the file".to_owned(),
            };
            found.error_in(used.file, PromptNotFound, pointer, message, hint);
        }
        Some((candidate, PromptFile::Broken { problem, hint })) => {
            let message = format!("the prompt {}: {problem}", candidate.path.display());
            found.error_in(used.file, PromptText, pointer, message, hint.clone());
        }
        Some((candidate, PromptFile::Text { .. })) => {
            if candidate.origin != PromptOrigin::Reference {
                let wanted = candidates[0].path.display();
                let message = format!(
                    "the prompt {wanted} does not exist, so {} is used",
                    candidate.path.display()
                );
                let hint = "create it, or refer to the other file";
                found.warn_in(used.file, PromptFallback, pointer, message, hint);
            }
        }
    }
}
