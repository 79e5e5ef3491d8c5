//! `autonoe flow graph`.

use std::path::Path;
use std::process::ExitCode;

use autonoe_flow::FlowGraph;

use super::findings::{examine, shown};
use super::folders::named;
use crate::args::{FlowGraphArgs, GraphFormat};
use crate::commands::output_file::write_output;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Draws the steps of a flow, also of one that is not valid.
pub(super) fn graph(
    args: &FlowGraphArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let format = args.format.map_or_else(|| by_ending(&args.output), Ok)?;
    let project = args.project.find(surroundings)?;
    let folder = named(&args.flow, &project, surroundings)?;
    let (examined, definition) = examine(&folder);
    let Some(definition) = definition else {
        let told = examined.errors().first();
        let told = told.map(|finding| shown("error", finding, &surroundings.working_dir));
        return Err(CliError::failure(format!(
            "the flow {:?} cannot be drawn\n{}",
            args.flow,
            told.unwrap_or_default().trim_end()
        )));
    };
    if !examined.is_valid() {
        let (name, verdict) = (&args.flow, examined.verdict());
        surroundings.note(&format!(
            "warning: {name} has {verdict}: `autonoe flow validate {name}` tells what is wrong"
        ));
    }
    let graph = FlowGraph::of(definition.registry());
    let text = match format {
        GraphFormat::Mermaid => graph.to_mermaid(),
        GraphFormat::Dot => graph.to_dot(),
    };
    write_output(&text, &args.output, "the drawing", &project, surroundings)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the format that the ending of a file stands for.
fn by_ending(output: &Path) -> Result<GraphFormat, CliError> {
    let ending = output.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("dot" | "gv") => Ok(GraphFormat::Dot),
        Some(picture @ ("svg" | "png" | "pdf")) => Err(CliError::usage(format!(
            "`autonoe flow graph` writes Mermaid and DOT; Graphviz makes a picture: \
             `autonoe flow graph FLOW --format dot | dot -T{picture}`"
        ))),
        _ => Ok(GraphFormat::Mermaid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_says_how_it_is_drawn() {
        for (file, format) in [
            ("-", GraphFormat::Mermaid),
            ("flow.mmd", GraphFormat::Mermaid),
            ("flow", GraphFormat::Mermaid),
            ("docs/flow.dot", GraphFormat::Dot),
            ("FLOW.GV", GraphFormat::Dot),
        ] {
            let found = by_ending(Path::new(file)).expect("a format");
            assert_eq!(found, format, "{file}");
        }
        assert!(by_ending(Path::new("FLOW.SVG")).is_err());
    }
}
