//! `autonoe report`: writes the HTML report of a run.

use std::process::ExitCode;

use autonoe_core::project::{Journal, RunHistory};

use super::output_file::write_output;
use super::run_lookup::find_run;
use crate::args::ReportArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::report::{Facts, page};

/// Writes the HTML report of a run, which a browser shows without a network.
pub(crate) fn report(args: &ReportArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let journal = match &args.run {
        None => Journal::read(&project.journal_path())?,
        // The run may be in an archived journal.
        Some(_) => Journal::read_all(&project)?,
    };
    let stories = journal.run_histories();
    let story = find_story(&stories, args.run.as_deref())?;
    let facts = Facts::collect(&project, &journal, &stories, story)?;
    let html = page(&facts);
    write_output(&html, &args.output, "the page", &project, env)?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the run whose ID starts with `id`, or the newest one.
fn find_story<'s>(stories: &'s [RunHistory], id: Option<&str>) -> Result<&'s RunHistory, CliError> {
    match id {
        Some(id) => {
            let runs: Vec<_> = stories.iter().map(|story| story.run.clone()).collect();
            let run = find_run(&runs, id)?;
            let mut found = stories.iter().filter(|story| story.run == *run);
            found
                .next()
                .ok_or_else(|| CliError::failure("the run no longer exists"))
        }
        None => stories.last().ok_or_else(|| {
            CliError::failure("this project has no runs").with_hint("start one with `autonoe run`")
        }),
    }
}
