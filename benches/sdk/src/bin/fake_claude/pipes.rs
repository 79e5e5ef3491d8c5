//! Line-based standard input and output.

use std::io::{self, BufRead, StdinLock, StdoutLock, Write};

/// Standard input and output. Each call of `send` is one write.
pub(crate) struct Pipes {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
    line: String,
}

impl Pipes {
    pub(crate) fn new() -> Self {
        Self {
            input: io::stdin().lock(),
            output: io::stdout().lock(),
            line: String::new(),
        }
    }

    /// Sends whole lines.
    pub(crate) fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        self.output.write_all(lines)?;
        self.output.flush()
    }

    /// Waits for a line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<String>> {
        Ok(self.read()?.map(str::to_owned))
    }

    /// Waits for an answer and checks that it contains `id` and `content`.
    pub(crate) fn answer(&mut self, id: &str, content: &str) -> io::Result<()> {
        loop {
            let Some(line) = self.read()? else {
                return Err(io::Error::other("the host left in the middle"));
            };
            if !line.contains("control_response") {
                continue;
            }
            if line.contains(id) && line.contains(content) {
                return Ok(());
            }
            let reason = format!("the answer to {id} is not {content}: {line}");
            return Err(io::Error::other(reason));
        }
    }

    fn read(&mut self) -> io::Result<Option<&str>> {
        self.line.clear();
        let length = self.input.read_line(&mut self.line)?;
        Ok((length > 0).then_some(self.line.as_str()))
    }
}
