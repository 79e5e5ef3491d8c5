//! Provider and model of a run on a model, for `--dry-run`.

use autonoe_app::{ChosenBackend, ChosenModel, FindModelError, Origin};
use autonoe_core::Project;
use autonoe_core::project::Source;

use super::settings::Setting;
use crate::args::RunRequest;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Provider and model of a run on a model. The API key is not read.
pub(super) struct ModelChoice {
    chosen: ChosenModel,
}

impl ModelChoice {
    /// Finds the model of `backend`; `None` if the backend does not run on a model.
    pub(super) fn find(
        backend: &ChosenBackend,
        work: &RunRequest<'_>,
        project: &Project,
        env: &CliEnv,
    ) -> Result<Option<Self>, CliError> {
        let model = work.agent.model.as_deref();
        let chosen = backend.on_model(model, Some(project), env);
        let chosen = chosen.transpose().map_err(FindModelError::into_error)?;
        Ok(chosen.map(|chosen| Self { chosen }))
    }

    /// Returns the model of sessions without an explicit model.
    pub(super) fn model(&self) -> &str {
        &self.chosen.backend.model
    }

    /// Returns the provider of the model as a setting.
    pub(super) fn provider(&self) -> Setting {
        let backend = &self.chosen.backend;
        let name = backend.provider_name();
        Setting {
            key: "provider".to_owned(),
            value: format!("{name} (type {})", backend.provider.typetag_name()),
            source: match &self.chosen.origin {
                Origin::BuiltIn => Source::BuiltIn.to_string(),
                Origin::CommandLine => Source::Flag.to_string(),
                Origin::File(path) => path.display().to_string(),
            },
        }
    }
}
