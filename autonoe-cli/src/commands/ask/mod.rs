//! `autonoe ask`.

mod chat;
mod conversation;
mod last_conversation;

use std::io::{self, Read};
use std::process::ExitCode;

use autonoe_core::{
    Mode, ProjectError, ProjectGround, ProjectRunError, RunControl, RunLock, Spent,
};

use self::chat::chat;
use self::conversation::{Conversation, Memory};
use self::last_conversation::ConversationFiles;
use super::stage::Stage;
use crate::args::AskArgs;
use crate::compose::{ChosenBackend, ModelsFile, sandbox_switch};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Asks an agent about the project, gives it a task, or chats with it.
pub(crate) fn ask(args: &AskArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let agent = args.agent();
    let backend = ChosenBackend::find(agent.backend.as_ref(), Some(&project))?;
    let files = ConversationFiles::new(&project);
    let load_last = || match args.resume {
        true => files.load_of(backend.choice.tag()).map(Some),
        false => Ok(None),
    };
    // Before the prompt is read, which may take long.
    load_last()?;
    let prompt = prompt(args, surroundings)?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let wanted = agent.wanted(surroundings);
    let built = backend.build(&project, Mode::Run, wanted, &models, surroundings)?;
    let mut stage = Stage::open(&agent, &args.output(), &project, &models, surroundings);
    stage.warn_of(args.destructive(), &built.warnings);
    let answers = stage.stream_answers();
    let (lock, builder) = ProjectGround::of(&project)
        .sandbox(sandbox_switch(agent.no_sandbox, surroundings))
        .destructive(args.destructive())
        .sessions(built.agents)?;
    // Without the lock, another command may have changed it.
    let last = load_last()?;
    let configure = stage.configuration(
        &agent,
        built.outer_sandbox,
        built.missing_server,
        surroundings,
    );
    let sessions = configure(builder)
        .conversations(files.content())
        .build_sessions()
        .map_err(ProjectRunError::from)?;
    let budget = agent.limits.given().budget;
    let mut conversation = Conversation {
        sessions: sessions.keeping(budget),
        files,
        presenter: stage.presenter(),
        answers,
        backend: backend.choice.tag().to_owned(),
        access: args.access(),
        max_turns: args.max_turns,
        budget,
        memory: match last {
            Some(_) => Memory::Required,
            None => Memory::Wanted,
        },
        last,
        spent: Spent::default(),
    };
    let ended = match prompt {
        Some(prompt) => {
            let control = RunControl::new();
            let sent = stage.play(&control, conversation.send(&prompt, &control))?;
            sent.map(|()| ExitCode::SUCCESS)
                .map_err(|unanswered| unanswered.error)
        }
        None => stage.see_through(chat(&mut conversation, surroundings))?,
    };
    drop(lock);
    stage.check_written()?;
    ended
}

/// Returns the prompt of the command line or of standard input; `None` for a chat.
fn prompt(args: &AskArgs, surroundings: &Surroundings) -> Result<Option<String>, CliError> {
    let text = match args.prompt.as_slice() {
        [] if surroundings.is_interactive => return Ok(None),
        [] => standard_input()?,
        [dash] if dash == "-" => standard_input()?,
        words => words.join(" "),
    };
    match text.trim().is_empty() {
        true => Err(CliError::usage("the prompt is empty")),
        false => Ok(Some(text)),
    }
}

fn standard_input() -> Result<String, CliError> {
    let mut text = String::new();
    match io::stdin().lock().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(CliError::failure(format!(
            "the prompt cannot be read from standard input: {error}"
        ))),
    }
}
