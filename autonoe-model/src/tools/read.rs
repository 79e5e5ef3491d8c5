//! [`Read`]: tool that reads files.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{Attachment, ToolDescription, ToolErrorCode};
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

mod excerpt;

use self::excerpt::{Content, Excerpt, LineRange};
use super::failure::{blocking, cancelled, invalid, system};
use super::search::{BudgetedReader, SearchBudget};
use super::workspace::Purpose;
use super::{ToolLimits, ToolWorkspace};

/// Reads a file of the workspace, with line numbers. Images become attachments.
#[derive(Clone, Debug)]
pub struct Read {
    workspace: Arc<ToolWorkspace>,
    limits: ToolLimits,
}

/// Input of [`Read`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// The line to begin with, from 1. Leave it out to read from the beginning.
    #[serde(default)]
    pub offset: Option<u64>,
    /// Number of lines to read. Leave it out for as many as fit.
    #[serde(default)]
    pub limit: Option<u64>,
}

impl Read {
    /// Name of the tool.
    pub const NAME: &'static str = "Read";

    /// Creates the tool.
    pub fn new(workspace: Arc<ToolWorkspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

    fn read(&self, input: &ReadInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let entry = self.workspace.entry(&input.file_path, Purpose::Read)?;
        let (mut file, stat) = entry.open()?;
        let path = entry.path.display().to_string();
        let failed = |error| system(format!("{path:?}"), error);
        let content = Content::sniff(&mut file).map_err(failed)?;
        file.rewind().map_err(failed)?;
        match content {
            Content::Text => {
                let range = LineRange {
                    from: input.offset.unwrap_or(1).max(1),
                    lines: input.limit.unwrap_or(self.limits.read_lines),
                    bytes: self.limits.read_bytes,
                    line_bytes: self.limits.line_bytes,
                };
                let mut budget = SearchBudget::new(&self.limits, stop);
                let paced = BudgetedReader {
                    file,
                    budget: &mut budget,
                };
                let excerpt = Excerpt::read(BufReader::new(paced), &range);
                let excerpt = excerpt.map_err(|error| match budget.incomplete_reason() {
                    _ if stop.is_cancelled() => cancelled(),
                    Some(_) => too_long(&path, &self.limits),
                    None => failed(error),
                })?;
                self.text(&path, &excerpt, &range)
            }
            Content::Image(media_type) => self.image(&path, file, media_type),
            Content::Binary => Err(invalid(format!(
                "{path:?} is a binary file of {} bytes",
                stat.st_size
            ))),
        }
    }

    fn text(
        &self,
        path: &str,
        excerpt: &Excerpt,
        range: &LineRange,
    ) -> Result<ToolOutput, ToolError> {
        if excerpt.lines == 0 && range.from > 1 {
            let there = excerpt.lines_read;
            return Err(invalid(format!("{path:?} has only {there} lines")));
        }
        Ok(ToolOutput::new(excerpt.render(range))
            .with_title(format!("Read {path}"))
            .with_metadata("path", path)
            .with_metadata("lines", excerpt.lines)
            .with_metadata("truncated", excerpt.more))
    }

    fn image(&self, path: &str, file: File, media_type: &str) -> Result<ToolOutput, ToolError> {
        let limit = self.limits.image_bytes;
        let mut data = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut data);
        read.map_err(|error| system(format!("{path:?}"), error))?;
        if data.len() as u64 > limit {
            return Err(invalid(format!(
                "{path:?} is an image of more than {limit} bytes"
            )));
        }
        let size = data.len();
        Ok(
            ToolOutput::new(format!("{path} is attached ({media_type}, {size} bytes)"))
                .with_title(format!("Read {path}"))
                .with_metadata("path", path)
                .with_attachment(Attachment {
                    media_type: media_type.to_owned(),
                    name: Some(path.to_owned()),
                    data: data.into(),
                }),
        )
    }
}

fn too_long(path: &str, limits: &ToolLimits) -> ToolError {
    let limit = limits.search_time.as_millis();
    let message = format!(
        "reading {path:?} up to these lines took more than {limit} milliseconds; start at an \
         earlier line, or use Bash"
    );
    ToolError::new(ToolErrorCode::TIMEOUT, message)
}

#[async_trait]
impl TypedTool for Read {
    type Input = ReadInput;

    fn describe(&self) -> ToolDescription {
        let description = format!(
            "Reads a file of the workspace. Each line has its number and a tab before it. Reads \
             up to {} lines; use offset and limit for others. Lines of more than {} bytes are \
             cut. Images (PNG, JPEG, GIF, WebP) are attached. Use Glob to list directories.",
            self.limits.read_lines, self.limits.line_bytes
        );
        ToolDescription::new(Self::NAME, description).read_only()
    }

    async fn run(&self, input: ReadInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(context, move |stop| tool.read(&input, stop)).await
    }
}
