//! Which run of the journal is meant.

use autonoe_core::RunStory;

use crate::error::CliError;

/// Finds the one run whose id is `id`, or else begins with it.
pub(super) fn find_run<'s>(stories: &'s [RunStory], id: &str) -> Result<&'s RunStory, CliError> {
    if id.trim().is_empty() {
        return Err(CliError::usage(
            "--run is blank: write the id of a run, or the beginning of it",
        )
        .with_hint(known(stories)));
    }
    if let Some(exact) = stories.iter().find(|story| story.run.as_str() == id) {
        return Ok(exact);
    }
    let begin_so: Vec<_> = stories
        .iter()
        .filter(|story| story.run.as_str().starts_with(id))
        .collect();
    match begin_so[..] {
        [story] => Ok(story),
        [] => {
            let message = format!("the journal tells of no run `{id}`");
            Err(CliError::usage(message).with_hint(known(stories)))
        }
        _ => {
            let ids: Vec<_> = begin_so.iter().map(|story| story.run.as_str()).collect();
            let message = format!("several runs begin with `{id}`: {}", ids.join(", "));
            Err(CliError::usage(message).with_hint("write more of the id"))
        }
    }
}

/// Says what could have been meant.
fn known(stories: &[RunStory]) -> String {
    match stories.last() {
        Some(newest) => {
            let newest = &newest.run;
            format!("the newest is {newest}; `autonoe log --all` tells all of them")
        }
        None => "no run has been written down here yet; `autonoe run` starts one".to_owned(),
    }
}
