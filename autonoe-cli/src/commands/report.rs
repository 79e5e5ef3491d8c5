//! `autonoe report`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use autonoe_core::{Journal, RunStory};

use super::which_run::find_run;
use crate::args::ReportArgs;
use crate::error::CliError;
use crate::report::{Facts, page};
use crate::surroundings::Surroundings;

/// Writes a page about a run that a browser shows without a network.
pub(crate) fn report(args: &ReportArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let journal = match &args.run {
        None => Journal::read(&project.journal_path())?,
        // It may be in a journal that was put aside.
        Some(_) => Journal::read_all(&project)?,
    };
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
    match id {
        Some(id) => find_run(stories, id),
        None => stories.last().ok_or_else(|| {
            CliError::failure("there has been no run in this project")
                .with_hint("`autonoe run` starts one")
        }),
    }
}
