//! Finds prompts and fills their variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::places::{Candidate, PromptOrigin, candidates};
use super::template::{Template, Variables};
use crate::definition::{FlowPath, PromptPlaces, PromptRef, VariableName};
use crate::error::{FlowError, FlowErrorKind};
use crate::load::{FlowDefinition, FlowFolder, FolderError};

/// Finds the prompts of a flow in its folder, and fills their variables.
///
/// A prompt is looked for where the reference says, then where its fallback
/// says, then in the folder for what is looked for last. Files are read anew
/// each time, and none outside the folder of the flow, also not through a
/// symlink.
///
/// ```
/// use autonoe_flow::{
///     FlowAgent, FlowDefinition, PromptResolver, StepsRegistry, Variables,
/// };
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
    places: PromptPlaces,
    system_prompt: Option<FlowPath>,
}

/// Where the files come from.
#[derive(Clone, Debug)]
pub(crate) enum PromptFiles {
    Folder(FlowFolder),
    Memory(BTreeMap<PathBuf, String>),
}

/// A prompt that was found and filled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedPrompt {
    /// The text, which is not blank.
    pub text: String,
    /// The file, from the folder of the flow.
    pub file: PathBuf,
    /// Where it was found.
    pub origin: PromptOrigin,
    /// The variables that had no value and were left as they are.
    pub undefined: BTreeSet<VariableName>,
}

impl PromptResolver {
    /// Makes a resolver for the prompts of `definition`.
    pub fn new(definition: &FlowDefinition) -> Self {
        let agent = definition.agent();
        Self {
            files: definition.prompt_files(),
            places: agent.prompts.clone(),
            system_prompt: agent.behavior.system_prompt_path.clone(),
        }
    }

    /// Returns the prompt of `reference` with `variables` put in.
    ///
    /// A variable without a value stays as it is, and is traced as a warning.
    ///
    /// # Errors
    ///
    /// There is no such prompt (`prompt_not_found`), or the first one that is
    /// there cannot be used (`prompt_parse`): it is blank, spells a variable
    /// wrong, is no text, or leads out of the folder.
    pub fn resolve(
        &self,
        reference: &PromptRef,
        variables: &Variables,
    ) -> Result<ResolvedPrompt, FlowError> {
        let candidates = candidates(reference, &self.places);
        for candidate in &candidates {
            if let Some(text) = self.files.read(&candidate.path)? {
                return filled(&text, candidate, variables);
            }
        }
        let looked: Vec<String> = candidates
            .iter()
            .map(|candidate| candidate.path.display().to_string())
            .collect();
        let message = format!("there is no prompt at {}", looked.join(", nor at "));
        Err(FlowError::new(FlowErrorKind::PromptNotFound, message))
    }

    /// Returns the system prompt with `variables` put in, or `None` if the definition names none.
    ///
    /// # Errors
    ///
    /// As for [`resolve`](Self::resolve).
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
    /// Refuses variables without a value if the flow is strict about them.
    pub(crate) fn require_defined(&self, places: &PromptPlaces) -> Result<(), FlowError> {
        let names = self.undefined.iter();
        let names: Vec<String> = names
            .filter(|name| !places.allow_undefined.contains(name))
            .map(|name| format!("`{name}`"))
            .collect();
        if !places.strict_variables || names.is_empty() {
            return Ok(());
        }
        let (file, names) = (self.file.display(), names.join(", "));
        let message = format!("the prompt {file} names variables that nothing sets: {names}");
        Err(FlowError::new(FlowErrorKind::UndefinedVariable, message))
    }
}

fn filled(
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
        tracing::warn!(%file, origin = ?candidate.origin, "a prompt was not where it should be; another is used");
    }
    for variable in &filled.undefined {
        tracing::warn!(%file, %variable, "nothing sets a variable of a prompt; it stays as it is");
    }
    Ok(ResolvedPrompt {
        text: filled.text,
        file: candidate.path.clone(),
        origin: candidate.origin,
        undefined: filled.undefined,
    })
}

impl PromptFiles {
    fn read(&self, path: &Path) -> Result<Option<String>, FlowError> {
        match self {
            Self::Memory(files) => Ok(files.get(path).cloned()),
            Self::Folder(folder) => folder.read(path).map_err(|error| {
                let message = format!("the prompt {} cannot be used", path.display());
                let error: FolderError = error;
                FlowError::new(FlowErrorKind::PromptParse, message).because(error)
            }),
        }
    }
}

/// The names of the variables that a flow sets itself, with what they hold.
///
/// A retry sends the text of the first try, so that they have the values of that.
///
/// No parameter, variable or output may have one of these names.
pub const CONTEXT_VARIABLES: &[(&str, &str)] = &[
    ("flow", "the name of the flow"),
    ("step", "the id of the step"),
    ("iteration", "how many iterations there were, with this one"),
    ("visit", "how often the step was visited, with this time"),
    (
        "retry",
        "how often the step was tried again in this visit; in prompts of checks",
    ),
    (
        "previous_response",
        "the text of the answer before; blank if there is none",
    ),
    ("response", "the text of the answer that a check judges"),
    ("failure", "why the step that is escalated failed"),
];

/// Tells whether every prompt has a variable of this name.
pub(crate) fn is_context_variable(name: &str) -> bool {
    CONTEXT_VARIABLES.iter().any(|(known, _)| *known == name)
}
