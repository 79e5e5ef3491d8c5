//! `autonoe flow import`: translates an agent of climpt into a flow.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use autonoe_app::exit_code;
use autonoe_app::text::{flows_dir, sanitize_line};
use autonoe_core::project::create_folder;
use autonoe_flow::import::{ImportNote, ImportNoteKind, ImportedFlow};

use super::findings::{format_finding, load_and_validate};
use super::folders::FlowFolder;
use crate::args::FlowImportArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Translates an agent of climpt into a flow of the project, and lists the changed and dropped
/// parts.
pub(super) fn import(args: &FlowImportArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let here = &env.working_dir;
    let imported = autonoe_flow::import(&here.join(&args.dir)).map_err(|error| {
        let finding = format_finding("error", error.finding(), here);
        CliError::failure(format!(
            "the agent cannot be imported\n{}",
            finding.trim_end()
        ))
    })?;
    let imported = match &args.name {
        Some(name) => imported.rename(name.clone()),
        None => imported,
    };
    let name = imported.name.to_string();
    let flows = flows_dir(&project);
    let path = flows.join(&name);
    let unwritable = |error: io::Error| {
        let place = path.display();
        CliError::failure(format!("the flow cannot be written to {place}: {error}"))
    };
    project.ensure_state_dir()?;
    restore(&flows, &name).map_err(unwritable)?;
    if path.symlink_metadata().is_ok() && !args.force {
        let message = format!("the flow {name:?} already exists");
        return Err(CliError::usage(message)
            .with_hint("choose another name with --name, or replace the flow with --force"));
    }
    write(&imported, &flows).map_err(unwritable)?;
    let mut text: String = imported.notes.iter().map(note).collect();
    let (findings, _) = load_and_validate(&FlowFolder {
        name,
        path: path.clone(),
    });
    text.push_str(&findings.format(here));
    let place = path.strip_prefix(here).unwrap_or(&path);
    text.push_str(&format!("imported into {}\n", place.display()));
    env.print(&text)?;
    Ok(exit_code::success_if(findings.valid))
}

/// Restores the flow that an interrupted import was replacing.
fn restore(flows: &Path, name: &str) -> io::Result<()> {
    let (path, old) = (flows.join(name), old_path(flows, name));
    if path.symlink_metadata().is_err() && old.symlink_metadata().is_ok() {
        fs::rename(old, path)
    } else {
        Ok(())
    }
}

/// Returns the path of the old flow during its replacement.
fn old_path(flows: &Path, name: &str) -> PathBuf {
    flows.join(format!(".{name}.old"))
}

/// Writes the flow under a temporary name and renames it at the end, so that a flow exists either
/// completely or not at all.
fn write(imported: &ImportedFlow, flows: &Path) -> io::Result<()> {
    create_folder(flows)?;
    let name = imported.name.as_str();
    let new = flows.join(format!(".{name}.new"));
    let old = old_path(flows, name);
    let path = flows.join(name);
    // An interrupted import may have left these folders.
    remove(&new)?;
    remove(&old)?;
    fs::create_dir(&new)?;
    for (file, text) in &imported.files {
        let file = new.join(file);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    if path.symlink_metadata().is_ok() {
        fs::rename(&path, &old)?;
    }
    fs::rename(&new, &path)?;
    remove(&old)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn note(note: &ImportNote) -> String {
    let kind = match note.kind {
        ImportNoteKind::Changed => "changed",
        ImportNoteKind::Dropped => "dropped",
    };
    let mut text = format!("{kind}: {}\n", sanitize_line(&note.message));
    for place in &note.places {
        let place = format!("{} {}", place.file.display(), place.pointer);
        text.push_str(&format!("  --> {}\n", sanitize_line(place.trim_end())));
    }
    text.push('\n');
    text
}
