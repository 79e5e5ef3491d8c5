//! Which runs to tell.

use autonoe_core::RunStory;

use crate::args::LogArgs;
use crate::error::CliError;

/// Which runs to tell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The last one.
    Last,
    /// The one whose id begins so.
    Run(String),
    /// All of them.
    All,
}

impl Selection {
    pub(super) fn of(args: &LogArgs) -> Self {
        match (&args.run, args.all) {
            (Some(id), _) => Self::Run(id.clone()),
            (None, true) => Self::All,
            (None, false) => Self::Last,
        }
    }
}

/// Finds the one run whose id is `id`, or else begins with it.
pub(super) fn find_run<'s>(stories: &'s [RunStory], id: &str) -> Result<&'s RunStory, CliError> {
    let exact = stories.iter().find(|story| story.run.as_str() == id);
    let found: Vec<_> = match exact {
        Some(story) => vec![story],
        None => stories
            .iter()
            .filter(|story| story.run.as_str().starts_with(id))
            .collect(),
    };
    match found[..] {
        [story] => Ok(story),
        [] => Err(
            CliError::failure(format!("the journal tells of no run {id:?}"))
                .with_hint("`autonoe log --all` tells all of them"),
        ),
        _ => {
            let ids: Vec<_> = found.iter().map(|story| story.run.as_str()).collect();
            Err(CliError::failure(format!(
                "several runs begin with {id:?}: {}",
                ids.join(", ")
            ))
            .with_hint("write more of the id"))
        }
    }
}
