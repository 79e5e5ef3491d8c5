//! Places of a definition that use prompts.

use crate::definition::{Check, FlowAgent, PromptRef, StepId, StepsRegistry};
use autonoe_core::project::config_parts::below;

/// A place of a definition that uses a prompt.
#[derive(Clone, Debug)]
pub(crate) struct PromptUse {
    pub(crate) file: PromptUseFile,
    pub(crate) pointer: String,
    pub(crate) reference: PromptRef,
    /// The step whose variables fill it; `None` for the system prompt.
    pub(crate) step: Option<StepId>,
}

/// The file that uses the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptUseFile {
    Agent,
    Registry,
}

/// Returns every place that uses a prompt.
pub(crate) fn prompt_uses(agent: &FlowAgent, registry: &StepsRegistry) -> Vec<PromptUse> {
    let system = agent.behavior.system_prompt_path.as_ref();
    let mut uses: Vec<PromptUse> = system
        .map(|path| PromptUse {
            file: PromptUseFile::Agent,
            pointer: "/behavior/systemPromptPath".to_owned(),
            reference: PromptRef::path(path.clone()),
            step: None,
        })
        .into_iter()
        .collect();
    for (id, step) in &registry.steps {
        let Some(work) = step.work() else {
            continue;
        };
        let at = below("/steps", id.as_str());
        let mut add = |pointer: String, reference: &PromptRef| {
            uses.push(PromptUse {
                file: PromptUseFile::Registry,
                pointer,
                reference: reference.clone(),
                step: Some(id.clone()),
            });
        };
        if let Some(prompt) = &work.prompt {
            add(format!("{at}/prompt"), prompt);
        }
        if let Some(Check::Prompt(check)) = &work.check {
            add(format!("{at}/check/prompt"), &check.prompt);
        }
    }
    uses
}
