//! `autonoe flow graph`: draws a flow as Mermaid or DOT.

use std::path::Path;
use std::process::ExitCode;

use autonoe_flow::FlowGraph;

use super::findings::{format_finding, load_and_validate};
use super::folders::find;
use crate::args::{FlowGraphArgs, GraphFormat};
use crate::cli_env::CliEnv;
use crate::commands::output_file::write_output;
use crate::error::CliError;

/// Draws the steps of a flow, even if it is invalid.
pub(super) fn graph(args: &FlowGraphArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let format = args.format.map_or_else(|| format_for(&args.output), Ok)?;
    let project = args.project.find(env)?;
    let folder = find(&args.flow, &project, env)?;
    let (findings, definition) = load_and_validate(&folder);
    let Some(definition) = definition else {
        let error = findings
            .errors
            .first()
            .map(|finding| format_finding("error", finding, &env.working_dir));
        return Err(CliError::failure(format!(
            "the flow {:?} cannot be drawn\n{}",
            args.flow,
            error.unwrap_or_default().trim_end()
        )));
    };
    if !findings.valid {
        let (name, verdict) = (&args.flow, findings.verdict());
        env.print_note(&format!(
            "warning: {name} has {verdict}: run `autonoe flow validate {name}` to see the problems"
        ));
    }
    let graph = FlowGraph::new(definition.registry());
    let text = match format {
        GraphFormat::Mermaid => graph.to_mermaid(),
        GraphFormat::Dot => graph.to_dot(),
    };
    write_output(
        &text,
        &args.output,
        "the drawing",
        is_drawing,
        &project,
        env,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a text is an earlier drawing, by its beginning.
fn is_drawing(text: &str) -> bool {
    let beginnings = ["flowchart TD\n    n0", "digraph flow {\n    rankdir=TB;\n"];
    beginnings
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// Returns the format for a file extension.
fn format_for(output: &Path) -> Result<GraphFormat, CliError> {
    let ending = output.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("dot" | "gv") => Ok(GraphFormat::Dot),
        Some(picture @ ("svg" | "png" | "pdf")) => Err(CliError::usage(format!(
            "`autonoe flow graph` writes only Mermaid and DOT; use Graphviz for a picture: \
             `autonoe flow graph FLOW --format dot | dot -T{picture}`"
        ))),
        _ => Ok(GraphFormat::Mermaid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_extension_selects_the_format() {
        for (file, format) in [
            ("-", GraphFormat::Mermaid),
            ("flow.mmd", GraphFormat::Mermaid),
            ("flow", GraphFormat::Mermaid),
            ("docs/flow.dot", GraphFormat::Dot),
            ("FLOW.GV", GraphFormat::Dot),
        ] {
            let found = format_for(Path::new(file)).expect("a format");
            assert_eq!(found, format, "{file}");
        }
        assert!(format_for(Path::new("FLOW.SVG")).is_err());
    }
}
