//! `autonoe ask`: a prompt to an agent, or a chat.

mod chat;
mod conversation;
mod last_conversation;

use std::io::{self, Read};
use std::process::ExitCode;

use autonoe_app::{ChosenBackend, ModelsFile};
use autonoe_core::project::{ProjectError, ProjectRunError, RunLock};
use autonoe_core::{Mode, RunControl};

use self::chat::chat;
use self::conversation::Conversation;
use self::last_conversation::ConversationFiles;
use super::run_ui::RunUi;
use crate::args::AskArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Sends a prompt to an agent, or starts a chat.
pub(crate) fn ask_agent(args: &AskArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let mut agent = args.agent.options();
    agent.is_destructive &= !args.read_only;
    let backend = ChosenBackend::find(agent.backend.as_ref(), Some(&project))?;
    let files = ConversationFiles::new(&project);
    let tag = backend.choice.tag();
    let load_last = || {
        if args.resume {
            files.load_for(tag).map(Some)
        } else {
            Ok(None)
        }
    };
    // Fails early, because reading the prompt can take long.
    load_last()?;
    let prompt = prompt(args, env)?;
    // The file of the project may have changed in the meantime.
    agent.backend = Some(backend.choice.clone());
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let composed = agent.compose(&project, Mode::Run, &models, env)?;
    let mut run_ui = RunUi::open(&agent, &args.output, &project, &models, env);
    run_ui.print_warnings(agent.destructive(), &composed.warnings);
    let presenter = run_ui.start_conversation();
    let (lock, builder) = composed.project.sessions(composed.agents)?;
    // Loaded again under the lock, because another command may have changed it.
    let last = load_last()?;
    let sessions = run_ui.configuration(composed.setup)(builder)
        .conversations(files.content())
        .build_sessions()
        .map_err(ProjectRunError::from)?;
    let mut conversation = Conversation::new(args, sessions, files, presenter, tag, last);
    let ended = match prompt {
        Some(prompt) => {
            let control = RunControl::new();
            let sent = run_ui.run_interruptible(&control, conversation.send(&prompt, &control))?;
            sent.map(|()| ExitCode::SUCCESS)
                .map_err(|unanswered| unanswered.error)
        }
        None => run_ui.block_on(chat(&mut conversation, env))?,
    };
    drop(lock);
    run_ui.check_written()?;
    ended
}

/// Returns the prompt from the command line or standard input; `None` for a chat.
fn prompt(args: &AskArgs, env: &CliEnv) -> Result<Option<String>, CliError> {
    let text = match args.prompt.as_slice() {
        [] if env.is_interactive => return Ok(None),
        [] => read_standard_input()?,
        [dash] if dash == "-" => read_standard_input()?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        Err(CliError::usage("the prompt is empty"))
    } else {
        Ok(Some(text))
    }
}

fn read_standard_input() -> Result<String, CliError> {
    let mut text = String::new();
    match io::stdin().lock().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(CliError::failure(format!(
            "the prompt cannot be read from standard input: {error}"
        ))),
    }
}
