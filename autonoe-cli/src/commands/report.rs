//! `autonoe report`.

use std::process::ExitCode;

use autonoe_core::{Journal, RunStory};

use super::output_file::write_output;
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
    write_output(&html, &args.output, "the page", &project, surroundings)?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the run that is asked for: the newest, or the one whose id begins so.
fn chosen<'s>(stories: &'s [RunStory], id: Option<&str>) -> Result<&'s RunStory, CliError> {
    match id {
        Some(id) => {
            let runs: Vec<_> = stories.iter().map(|story| story.run.clone()).collect();
            let run = find_run(&runs, id)?;
            let mut found = stories.iter().filter(|story| story.run == *run);
            found
                .next()
                .ok_or_else(|| CliError::failure("the run is gone"))
        }
        None => stories.last().ok_or_else(|| {
            CliError::failure("there has been no run in this project")
                .with_hint("`autonoe run` starts one")
        }),
    }
}
