//! `autonoe flow import`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use autonoe_core::create_folder;
use autonoe_flow::{ImportNote, ImportNoteKind, ImportedFlow};

use super::findings::{examine, shown};
use super::folders::{FlowFolder, flows_dir};
use crate::args::FlowImportArgs;
use crate::error::CliError;
use crate::exit_code;
use crate::present::harmless_line;
use crate::surroundings::Surroundings;

/// Translates a flow of climpt into a flow of the project, and lists what was changed and dropped.
pub(super) fn import(
    args: &FlowImportArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let here = &surroundings.working_dir;
    let imported = autonoe_flow::import(&here.join(&args.dir)).map_err(|error| {
        let finding = shown("error", error.finding(), here);
        CliError::failure(format!(
            "there is nothing to import\n{}",
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
        let message = format!("there is a flow {name:?} already");
        return Err(CliError::usage(message)
            .with_hint("give another name with --name, or replace the flow with --force"));
    }
    write(&imported, &flows).map_err(unwritable)?;
    let mut text: String = imported.notes.iter().map(note).collect();
    let (examined, _) = examine(&FlowFolder {
        name,
        path: path.clone(),
    });
    text.push_str(&examined.shown(here));
    let place = path.strip_prefix(here).unwrap_or(&path);
    text.push_str(&format!("imported into {}\n", place.display()));
    surroundings.say(&text)?;
    Ok(match examined.is_valid() {
        true => ExitCode::SUCCESS,
        false => exit_code::FAILURE.into(),
    })
}

/// Restores the flow that an interrupted import was to replace.
fn restore(flows: &Path, name: &str) -> io::Result<()> {
    let (path, old) = (flows.join(name), replaced(flows, name));
    match path.symlink_metadata().is_err() && old.symlink_metadata().is_ok() {
        true => fs::rename(old, path),
        false => Ok(()),
    }
}

/// Returns the place of a flow while it is replaced.
fn replaced(flows: &Path, name: &str) -> PathBuf {
    flows.join(format!(".{name}.old"))
}

/// Writes the flow beside the others and gives it its name at the end, so that a flow is there as a
/// whole or not at all.
fn write(imported: &ImportedFlow, flows: &Path) -> io::Result<()> {
    create_folder(flows)?;
    let name = imported.name.as_str();
    let new = flows.join(format!(".{name}.new"));
    let old = replaced(flows, name);
    let path = flows.join(name);
    // An interrupted import may have left them.
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
    let mut text = format!("{kind}: {}\n", harmless_line(&note.message));
    for place in &note.places {
        let place = format!("{} {}", place.file.display(), place.pointer);
        text.push_str(&format!("  --> {}\n", harmless_line(place.trim_end())));
    }
    text.push('\n');
    text
}
