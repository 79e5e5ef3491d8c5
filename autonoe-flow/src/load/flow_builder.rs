//! [`FlowBuilder`]: builds a flow definition in code.

use std::collections::BTreeMap;

use super::flow_definition::FlowDefinition;
use crate::definition::{
    Behavior, Completion, FlowAgent, FlowName, FlowPath, Gateway, ParameterDefinition,
    PermissionMode, PromptPaths, PromptRef, Step, StepId, StepLimits, StepMachine, StepsRegistry,
    Target, Transition, VariableName, WorkStep,
};
use crate::error::{FlowError, FlowErrorKind};

/// Builds a [`FlowDefinition`] in code, with inline prompts.
///
/// The flow starts with the first step that is added. A step without a check, a transition and
/// sub-steps leads to the step that is added after it, and the last one to the end.
///
/// ```
/// use autonoe_flow::definition::{Target, Transition, WorkStep};
/// use autonoe_flow::FlowBuilder;
///
/// let flow = FlowBuilder::new("review")
///     .description("Drafts a text and polishes it.")
///     .step("draft", "Write a draft.", WorkStep::default())
///     .step("polish", "Polish the draft.", WorkStep {
///         transition: Some(Transition {
///             max_retries: Some(2),
///             ..Transition::to(Target::End)
///         }),
///         ..WorkStep::default()
///     })
///     .build()?
///     .validated()?;
///
/// assert_eq!(flow.definition().registry().entry_step.as_str(), "draft");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct FlowBuilder {
    name: String,
    description: Option<String>,
    completion: Completion,
    allowed_tools: Vec<String>,
    permission_mode: PermissionMode,
    parameters: Vec<(String, ParameterDefinition)>,
    limits: StepLimits,
    steps: Vec<AddedStep>,
}

#[derive(Debug)]
struct AddedStep {
    id: String,
    step: Step,
    prompt: Option<String>,
}

impl FlowBuilder {
    /// Creates a builder for the flow `name`, which is complete when its steps reach their end.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: None,
            completion: Completion::StepMachine(StepMachine {}),
            allowed_tools: Vec::new(),
            permission_mode: PermissionMode::default(),
            parameters: Vec::new(),
            limits: StepLimits::default(),
            steps: Vec::new(),
        }
    }

    /// Sets the description.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Sets the completion condition.
    pub fn completion(mut self, completion: Completion) -> Self {
        self.completion = completion;
        self
    }

    /// Grants a tool to the flow's agents.
    pub fn allowed_tool(mut self, tool: impl Into<String>) -> Self {
        self.allowed_tools.push(tool.into());
        self
    }

    /// Sets the permissions of agents beyond granted tools.
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = mode;
        self
    }

    /// Adds a parameter.
    pub fn parameter(mut self, name: impl Into<String>, parameter: ParameterDefinition) -> Self {
        self.parameters.push((name.into(), parameter));
        self
    }

    /// Sets how often steps may be visited.
    pub fn limits(mut self, limits: StepLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a step that sends `prompt` to its agent.
    pub fn step(self, id: impl Into<String>, prompt: impl Into<String>, step: WorkStep) -> Self {
        self.add(id.into(), Some(prompt.into()), Step::Normal(step))
    }

    /// Adds a sub-step. Its parent lists it in [`WorkStep::sub_steps`].
    pub fn sub_step(
        self,
        id: impl Into<String>,
        prompt: impl Into<String>,
        step: WorkStep,
    ) -> Self {
        self.add(id.into(), Some(prompt.into()), Step::SubStep(step))
    }

    /// Adds a gateway, which selects the next step.
    pub fn gateway(self, id: impl Into<String>, gateway: Gateway) -> Self {
        self.add(id.into(), None, Step::Gateway(gateway))
    }

    fn add(mut self, id: String, prompt: Option<String>, step: Step) -> Self {
        self.steps.push(AddedStep { id, step, prompt });
        self
    }

    /// Builds the definition. [`FlowDefinition::validated`] checks whether it is consistent.
    ///
    /// # Errors
    ///
    /// There is no step, two steps or two parameters have the same name, a step has two prompts or
    /// a blank one, or a name is invalid.
    pub fn build(self) -> Result<FlowDefinition, FlowError> {
        let ids = self.steps.iter().map(|added| name::<StepId>(&added.id));
        let ids: Vec<StepId> = ids.collect::<Result<_, _>>()?;
        let Some(entry_step) = ids.first().cloned() else {
            return Err(invalid("the flow has no steps; call .step(..)"));
        };
        let is_in_sequence = |added: &AddedStep| !matches!(added.step, Step::SubStep(_));
        let mut steps = BTreeMap::new();
        let mut prompts = Vec::new();
        for (place, (added, id)) in self.steps.iter().zip(&ids).enumerate() {
            let mut step = added.step.clone();
            if let Step::Normal(work) | Step::SubStep(work) = &mut step
                && let Some(text) = &added.prompt
            {
                let call = match added.step {
                    Step::SubStep(_) => ".sub_step(..)",
                    _ => ".step(..)",
                };
                if work.prompt.is_some() {
                    return Err(invalid(&format!(
                        "{call}: the step {id} has two prompts; remove WorkStep::prompt"
                    )));
                }
                if text.trim().is_empty() {
                    return Err(invalid(&format!("{call}: the prompt of {id} is blank")));
                }
                let path = format!("prompts/{id}.md");
                prompts.push((path.clone(), text.clone()));
                let path = FlowPath::try_from(path).map_err(|error| invalid(&error))?;
                work.prompt = Some(PromptRef::path(path));
            }
            if let Step::Normal(work) = &mut step
                && work.check.is_none()
                && work.transition.is_none()
                && work.sub_steps.is_empty()
            {
                let mut later = self.steps.iter().zip(&ids).skip(place + 1);
                let next = later.find(|(added, _)| is_in_sequence(added));
                let next = next.map_or(Target::End, |(_, id)| Target::Step(id.clone()));
                work.transition = Some(Transition::to(next));
            }
            if steps.insert(id.clone(), step).is_some() {
                return Err(invalid(&format!(".step(..): two steps have the name {id}")));
            }
        }
        let mut parameters = BTreeMap::new();
        for (key, parameter) in self.parameters {
            let name = name::<VariableName>(&key)?;
            if parameters.insert(name, parameter).is_some() {
                return Err(invalid(&format!(
                    ".parameter(..): two parameters have the name {key}"
                )));
            }
        }
        let agent = FlowAgent {
            schema: None,
            version: "1".to_owned(),
            name: name::<FlowName>(&self.name)?,
            display_name: None,
            description: self.description,
            behavior: Behavior {
                system_prompt_path: None,
                completion: self.completion,
                allowed_tools: self.allowed_tools,
                permission_mode: self.permission_mode,
            },
            parameters,
            prompts: PromptPaths::default(),
        };
        let registry = StepsRegistry {
            schema: None,
            version: None,
            entry_step,
            steps,
            limits: self.limits,
        };
        let definition = FlowDefinition::new(agent, registry);
        Ok(prompts
            .into_iter()
            .fold(definition, |definition, (path, text)| {
                definition.with_prompt(path, &text)
            }))
    }
}

fn name<N: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<N, FlowError> {
    text.parse()
        .map_err(|error: N::Err| invalid(&error.to_string()))
}

fn invalid(message: &str) -> FlowError {
    FlowError::new(FlowErrorKind::ConfigurationValidation, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step() -> WorkStep {
        WorkStep::default()
    }

    #[test]
    fn a_built_flow_is_the_same_as_one_from_files() {
        let built = FlowBuilder::new("review")
            .step("draft", "Write a draft.", step())
            .step("polish", "Polish it.", step())
            .limits(StepLimits {
                step_loop: 3,
                ..StepLimits::default()
            })
            .build()
            .expect("it can be built");

        let agent = json!({
            "version": "1", "name": "review", "behavior": {"completionType": "stepMachine"},
        });
        let registry = json!({
            "entryStep": "draft",
            "steps": {
                "draft": {"prompt": "prompts/draft.md", "transition": {"next": "polish"}},
                "polish": {"prompt": "prompts/polish.md", "transition": {"next": "end"}},
            },
            "limits": {"stepLoop": 3},
        });
        let agent: FlowAgent = serde_json::from_value(agent).expect("an agent");
        let registry: StepsRegistry = serde_json::from_value(registry).expect("steps");
        assert_eq!(*built.registry(), registry);
        assert_eq!(
            serde_json::to_value(built.agent()).expect("JSON"),
            serde_json::to_value(agent).expect("JSON"),
        );
        assert!(built.validated().is_ok());
    }

    #[test]
    fn a_flow_without_steps_or_with_bad_names_is_refused() {
        let message = |builder: FlowBuilder| match builder.build() {
            Ok(_) => "it was built".to_owned(),
            Err(error) => error.to_string(),
        };

        assert!(message(FlowBuilder::new("review")).contains("call .step(..)"));
        let twice = FlowBuilder::new("review")
            .step("draft", "Write.", step())
            .step("draft", "Write.", step());
        assert!(message(twice).starts_with(".step(..): two steps have the name draft"));
        for bad in [
            FlowBuilder::new("No Name").step("draft", "Write.", step()),
            FlowBuilder::new("review").step("../x", "Write.", step()),
        ] {
            assert!(message(bad).contains(" is not "), "the name is refused");
        }
    }

    #[test]
    fn two_prompts_a_blank_one_and_two_parameters_of_one_name_are_refused() {
        let own_prompt = || WorkStep {
            prompt: Some(serde_json::from_value(json!("prompts/own.md")).expect("a prompt")),
            ..step()
        };
        let builder = || FlowBuilder::new("review");
        let parameter = || -> ParameterDefinition {
            serde_json::from_value(json!({"type": "string"})).expect("a parameter")
        };
        for (call, problem, refused) in [
            (
                ".step(..)",
                "two prompts",
                builder().step("draft", "Write.", own_prompt()),
            ),
            (
                ".sub_step(..)",
                "two prompts",
                builder().step("draft", "Write.", step()).sub_step(
                    "part",
                    "Write a part.",
                    own_prompt(),
                ),
            ),
            (
                ".step(..)",
                "is blank",
                builder().step("draft", " ", step()),
            ),
            (
                ".parameter(..)",
                "two parameters have the name branch",
                builder()
                    .step("draft", "Write.", step())
                    .parameter("branch", parameter())
                    .parameter("branch", parameter()),
            ),
        ] {
            let error = refused.build().expect_err(problem).to_string();

            assert!(error.starts_with(&format!("{call}: ")), "{error}");
            assert!(error.contains(problem), "{error}");
        }
    }
}
