//! `autonoe report`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use autonoe_core::{Journal, RunStory};

use crate::args::ReportArgs;
use crate::error::{CliError, whole};
use crate::report::{Facts, page};
use crate::surroundings::Surroundings;

/// Writes a page about a run that a browser shows without a network.
pub(crate) fn report(args: &ReportArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let journal =
        Journal::read(&project.journal_path()).map_err(|error| CliError::failure(whole(&error)))?;
    let stories = journal.stories();
    let story = chosen(&stories, args.run.as_deref())?;
    let facts = Facts::gather(&project, &journal, &stories, story)?;
    let html = page(&facts);
    if args.output == Path::new("-") {
        surroundings.say(&html)?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = surroundings.working_dir.join(&args.output);
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    if folder.is_some_and(|folder| folder.starts_with(project.state_dir())) {
        return Err(CliError::usage(
            "the page would stand among the files of Autonoe; name another place with --output",
        ));
    }
    fs::write(&path, html).map_err(|error| {
        CliError::failure(format!("{} cannot be written: {error}", path.display()))
            .with_hint("name another file with --output, or print the page with --output -")
    })?;
    surroundings.say(&format!("{}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the run that is asked for: the newest, or the one whose id begins so.
fn chosen<'s>(stories: &'s [RunStory], id: Option<&str>) -> Result<&'s RunStory, CliError> {
    let Some(newest) = stories.last() else {
        return Err(CliError::failure("there has been no run in this project")
            .with_hint("`autonoe run` starts one"));
    };
    let Some(id) = id else {
        return Ok(newest);
    };
    if let Some(exact) = stories.iter().find(|story| story.run.as_str() == id) {
        return Ok(exact);
    }
    let begin_so: Vec<_> = stories
        .iter()
        .filter(|story| !id.is_empty() && story.run.as_str().starts_with(id))
        .collect();
    match begin_so.as_slice() {
        [one] => Ok(one),
        [] => Err(
            CliError::usage(format!("there is no run {id:?} in the journal"))
                .with_hint(format!("the newest is {}", newest.run)),
        ),
        several => {
            let ids: Vec<_> = several.iter().map(|story| story.run.as_str()).collect();
            Err(CliError::usage(format!(
                "several runs begin with {id:?}: {}",
                ids.join(", ")
            )))
        }
    }
}
