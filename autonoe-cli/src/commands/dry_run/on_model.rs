//! What is shown of agents on a model.

use autonoe_core::{Project, Source};

use super::settings::Setting;
use crate::args::Work;
use crate::compose::{ChosenModel, ModelName, NoModel, Origin};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// What is shown of agents on a model. No key is looked for.
pub(super) struct OnModel {
    chosen: ChosenModel,
}

impl OnModel {
    pub(super) fn find(
        name: &ModelName,
        work: &Work<'_>,
        project: &Project,
        surroundings: &Surroundings,
    ) -> Result<Self, CliError> {
        let model = work.agent.model.as_deref();
        let chosen = ChosenModel::find(name, model, Some(project), surroundings);
        Ok(Self {
            chosen: chosen.map_err(NoModel::into_error)?,
        })
    }

    /// Returns the model of sessions that name none.
    pub(super) fn model(&self) -> &str {
        &self.chosen.backend.model
    }

    /// Says which backend it is.
    pub(super) fn settings(&self) -> [Setting; 2] {
        let backend = &self.chosen.backend;
        let (name, model) = (backend.provider_name(), &backend.model);
        let provider = format!("{name}, of the type {}", backend.provider.typetag_name());
        let origin = match &self.chosen.origin {
            Origin::BuiltIn => Source::BuiltIn.to_string(),
            Origin::CommandLine => Source::Flag.to_string(),
            Origin::File(path) => path.display().to_string(),
        };
        [
            Setting::new("backend", format!("model:{name}/{model}"), &Source::Flag),
            Setting {
                key: "provider".to_owned(),
                value: provider,
                source: origin,
            },
        ]
    }
}
