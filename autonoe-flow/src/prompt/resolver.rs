//! [`PromptResolver`]: finds prompts on their search path, and fills their variables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::template::{Template, Variables};
use crate::definition::quoted;
use crate::definition::{FlowPath, PromptPaths, PromptRef, VariableName};
use crate::error::{FlowError, FlowErrorKind};
use crate::load::{FlowDefinition, PromptFiles};

/// Finds the prompts of a flow in its folder, and fills their variables.
///
/// A prompt is searched at its reference, then at the fallbacks of the reference, then in the
/// fallback folder. Files are read each time, and none outside of the folder of the flow, even
/// through a symlink.
///
/// ```
/// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
/// use autonoe_flow::prompt::{PromptResolver, Variables};
/// use autonoe_flow::FlowDefinition;
///
/// # let agent: FlowAgent = serde_json::from_str(
/// #     r#"{"version": "1", "name": "trip", "behavior": {"completionType": "stepMachine"}}"#,
/// # )?;
/// # let registry: StepsRegistry = serde_json::from_str(
/// #     r#"{"entryStep": "plan", "steps": {"plan": {"prompt": "prompts/plan.md", "transition": {"next": "end"}}}}"#,
/// # )?;
/// let definition =
///     FlowDefinition::new(agent, registry).with_prompt("prompts/plan.md", "Plan a trip to {uv-city}.");
/// let resolver = PromptResolver::new(&definition);
/// let variables = Variables::from([("city".parse()?, "Tokyo".to_owned())]);
///
/// let prompt = resolver.resolve(&serde_json::from_str(r#""prompts/plan.md""#)?, &variables)?;
///
/// assert_eq!(prompt.text, "Plan a trip to Tokyo.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptResolver {
    files: PromptFiles,
    paths: PromptPaths,
    system_prompt: Option<FlowPath>,
}

/// A prompt whose variables are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedPrompt {
    /// The text, which is not blank.
    pub text: String,
    /// The file, relative to the folder of the flow.
    pub file: PathBuf,
    /// Place where it was found.
    pub origin: PromptOrigin,
    /// Variables without a value, which are left unchanged in the text.
    pub undefined: BTreeSet<VariableName>,
}

impl PromptResolver {
    /// Creates a resolver for the prompts of `definition`.
    pub fn new(definition: &FlowDefinition) -> Self {
        let agent = definition.agent();
        Self {
            files: definition.prompt_files().clone(),
            paths: agent.prompts.clone(),
            system_prompt: agent.behavior.system_prompt_path.clone(),
        }
    }

    /// Returns the prompt `reference` with its `variables` filled.
    ///
    /// A variable without a value is left unchanged and logged as a warning.
    ///
    /// # Errors
    ///
    /// The prompt does not exist (`prompt_not_found`), or the first one that exists cannot be used
    /// (`prompt_parse`): it is blank, contains a malformed variable, is not text, or is outside of
    /// the folder.
    pub fn resolve(
        &self,
        reference: &PromptRef,
        variables: &Variables,
    ) -> Result<ResolvedPrompt, FlowError> {
        let candidates = candidates(reference, &self.paths);
        for candidate in &candidates {
            if let Some(text) = self.files.read(&candidate.path)? {
                return fill(&text, candidate, variables);
            }
        }
        let paths: Vec<String> = candidates
            .iter()
            .map(|candidate| candidate.path.display().to_string())
            .collect();
        let message = format!("there is no prompt at {}", paths.join(", nor at "));
        Err(FlowError::new(FlowErrorKind::PromptNotFound, message))
    }

    /// Returns the system prompt with its `variables` filled, or `None` if the definition has none.
    ///
    /// # Errors
    ///
    /// See [`resolve`](Self::resolve).
    pub fn resolve_system(
        &self,
        variables: &Variables,
    ) -> Result<Option<ResolvedPrompt>, FlowError> {
        let Some(path) = &self.system_prompt else {
            return Ok(None);
        };
        let reference = PromptRef::path(path.clone());
        self.resolve(&reference, variables).map(Some)
    }
}

impl ResolvedPrompt {
    /// Returns an error for variables without a value if the flow is strict about them.
    pub(crate) fn require_defined(&self, paths: &PromptPaths) -> Result<(), FlowError> {
        let is_allowed = |name: &&VariableName| paths.allow_undefined.contains(name);
        let names = quoted(self.undefined.iter().filter(|name| !is_allowed(name)));
        if !paths.strict_variables || names.is_empty() {
            return Ok(());
        }
        let file = self.file.display();
        let message = format!("nothing sets the variables {names} of the prompt {file}");
        Err(FlowError::new(FlowErrorKind::UndefinedVariable, message))
    }
}

fn fill(
    text: &str,
    candidate: &Candidate,
    variables: &Variables,
) -> Result<ResolvedPrompt, FlowError> {
    let file = candidate.path.display();
    let wrong = |problem: String| FlowError::new(FlowErrorKind::PromptParse, problem);
    let template =
        Template::parse(text).map_err(|error| wrong(format!("the prompt {file}: {error}")))?;
    let filled = template.fill(variables);
    if filled.text.trim().is_empty() {
        return Err(wrong(format!("the prompt {file} is blank")));
    }
    if candidate.origin != PromptOrigin::Reference {
        tracing::warn!(%file, origin = ?candidate.origin, "using the fallback of a missing prompt");
    }
    for variable in &filled.undefined {
        tracing::warn!(%file, %variable, "nothing sets a variable of a prompt");
    }
    Ok(ResolvedPrompt {
        text: filled.text,
        file: candidate.path.clone(),
        origin: candidate.origin,
        undefined: filled.undefined,
    })
}

/// The names of the variables that a flow sets itself, with their descriptions.
///
/// A retry sends the text of the first attempt, so the variables keep the values of that attempt.
///
/// No parameter, variable or output may have one of these names.
pub const CONTEXT_VARIABLES: &[(&str, &str)] = &[
    ("flow", "the name of the flow"),
    ("step", "the id of the step"),
    ("iteration", "the number of the current iteration"),
    ("visit", "the number of the current visit of the step"),
    (
        "retry",
        "the number of retries in this visit; only in prompts of checks",
    ),
    (
        "previous_response",
        "the text of the previous answer; blank if there is none",
    ),
    ("response", "the text of the answer that a check judges"),
    ("failure", "the reason why the escalated step failed"),
];

/// Returns whether a flow sets the variable `name` itself.
pub(crate) fn is_context_variable(name: &str) -> bool {
    CONTEXT_VARIABLES.iter().any(|(known, _)| *known == name)
}

/// Place where a prompt was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PromptOrigin {
    /// At the reference itself.
    Reference,
    /// At a fallback of the reference.
    Fallback,
    /// In the fallback folder, which is searched last.
    Global,
}

/// A possible location of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) origin: PromptOrigin,
}

/// Returns the locations of the prompt `reference` in search order: the reference, its fallbacks,
/// the fallback folder.
pub(crate) fn candidates(reference: &PromptRef, paths: &PromptPaths) -> Vec<Candidate> {
    let base = paths.base.as_path();
    let chain: Vec<PathBuf> = std::iter::successors(Some(reference), |it| it.fallback())
        .map(|reference| reference.file(base))
        .collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for (index, path) in chain.iter().enumerate() {
        let origin = match index {
            0 => PromptOrigin::Reference,
            _ => PromptOrigin::Fallback,
        };
        candidates.push(Candidate {
            path: path.clone(),
            origin,
        });
    }
    if let Some(global) = &paths.fallback_dir {
        let in_global = chain.iter().map(|path| Candidate {
            path: global.as_path().join(below_base(path, base)),
            origin: PromptOrigin::Global,
        });
        candidates.extend(in_global);
    }
    candidates
}

/// Returns `path` relative to `base`, or unchanged if it is not below `base`.
fn below_base<'a>(path: &'a Path, base: &Path) -> &'a Path {
    path.strip_prefix(base).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompt_folders_are_searched_in_the_order_of_the_contract() {
        let reference: PromptRef = serde_json::from_value(json!({
            "c1": "write", "c2": "draft", "c3": "issue", "edition": "new", "adaptation": "short",
            "fallback": {"c1": "write", "c2": "draft", "c3": "issue",
                         "fallback": "prompts/draft.md"},
        }))
        .expect("a reference");
        let paths: PromptPaths =
            serde_json::from_value(json!({"fallbackDir": "shared"})).expect("places");

        let candidates = candidates(&reference, &paths);

        let locations: Vec<_> = candidates
            .iter()
            .map(|it| (it.path.to_str().expect("text"), it.origin))
            .collect();
        assert_eq!(
            locations,
            [
                (
                    "prompts/write/draft/issue/f_new_short.md",
                    PromptOrigin::Reference
                ),
                (
                    "prompts/write/draft/issue/f_default.md",
                    PromptOrigin::Fallback
                ),
                ("prompts/draft.md", PromptOrigin::Fallback),
                (
                    "shared/write/draft/issue/f_new_short.md",
                    PromptOrigin::Global
                ),
                (
                    "shared/write/draft/issue/f_default.md",
                    PromptOrigin::Global
                ),
                ("shared/draft.md", PromptOrigin::Global),
            ]
        );
    }
}
