//! What is shown of agents on a model.

use autonoe_core::{Project, Source};

use super::settings::Setting;
use crate::args::Work;
use crate::compose::{ChosenBackend, ChosenModel, NoModel, Origin};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// What is shown of agents on a model. No key is looked for.
pub(super) struct OnModel {
    chosen: ChosenModel,
}

impl OnModel {
    /// Finds the model of `backend`; `None` if it is another backend.
    pub(super) fn find(
        backend: &ChosenBackend,
        work: &Work<'_>,
        project: &Project,
        surroundings: &Surroundings,
    ) -> Result<Option<Self>, CliError> {
        let model = work.agent.model.as_deref();
        let chosen = backend.on_model(model, Some(project), surroundings);
        let chosen = chosen.transpose().map_err(NoModel::into_error)?;
        Ok(chosen.map(|chosen| Self { chosen }))
    }

    /// Returns the model of sessions that name none.
    pub(super) fn model(&self) -> &str {
        &self.chosen.backend.model
    }

    /// Says who serves the model.
    pub(super) fn provider(&self) -> Setting {
        let backend = &self.chosen.backend;
        let name = backend.provider_name();
        Setting {
            key: "provider".to_owned(),
            value: format!("{name}, of the type {}", backend.provider.typetag_name()),
            source: match &self.chosen.origin {
                Origin::BuiltIn => Source::BuiltIn.to_string(),
                Origin::CommandLine => Source::Flag.to_string(),
                Origin::File(path) => path.display().to_string(),
            },
        }
    }
}
