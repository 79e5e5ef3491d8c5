//! Words for the agent in the middle of its turn, until the program has taken them.

use autonoe_core::{AgentError, AgentErrorKind};
use tokio::sync::oneshot;

use super::talk::Answer;

/// Who said a word, and waits for what becomes of it.
pub(super) type Speaker = oneshot::Sender<Result<(), AgentError>>;

/// Words for the agent in the middle of its turn.
///
/// Each is answered once: when the program has taken it, or when it is clear that it will not.
#[derive(Default)]
pub(super) struct Words {
    /// Those that wait for the turn to begin.
    waiting: Vec<(String, Speaker)>,
    /// Those that the program was told.
    told: Vec<(oneshot::Receiver<Answer>, Speaker)>,
}

impl Words {
    /// Keeps a word until the turn has begun.
    pub(super) fn wait(&mut self, text: String, speaker: Speaker) {
        self.waiting.push((text, speaker));
    }

    /// Hands out the words that wait.
    pub(super) fn take_waiting(&mut self) -> Vec<(String, Speaker)> {
        std::mem::take(&mut self.waiting)
    }

    /// Takes note that the program was told a word.
    pub(super) fn told(&mut self, answer: oneshot::Receiver<Answer>, speaker: Speaker) {
        self.told.push((answer, speaker));
    }

    /// Tells those whose word the program has answered.
    pub(super) fn settle(&mut self) {
        for (mut answer, speaker) in std::mem::take(&mut self.told) {
            match answer.try_recv() {
                Ok(answer) => {
                    // Who said it may not wait any more.
                    let _ = speaker.send(answer.map(drop).map_err(|error| {
                        let reason = format!("Codex does not take the word: {}", error.message);
                        AgentError::new(AgentErrorKind::Other, reason)
                    }));
                }
                Err(oneshot::error::TryRecvError::Empty) => self.told.push((answer, speaker)),
                Err(oneshot::error::TryRecvError::Closed) => refuse(speaker),
            }
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.settle();
        let waiting = self.take_waiting().into_iter().map(|(_, speaker)| speaker);
        let told = self.told.drain(..).map(|(_, speaker)| speaker);
        waiting.chain(told).for_each(refuse);
    }
}

fn refuse(speaker: Speaker) {
    let reason = "the turn was over before the word was taken";
    let _ = speaker.send(Err(AgentError::new(AgentErrorKind::Other, reason)));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wire::RpcError;

    #[test]
    fn a_word_is_delivered_when_the_program_says_so() {
        for (answer, is_taken) in [
            (Some(Ok(Value::Null)), true),
            (Some(Err(RpcError::default())), false),
            (None, false),
        ] {
            let (program, heard) = oneshot::channel();
            let (speaker, mut result) = oneshot::channel();
            let mut words = Words::default();
            words.told(heard, speaker);
            words.settle();
            assert!(result.try_recv().is_err(), "nothing is known yet");

            if let Some(answer) = answer.clone() {
                program.send(answer).expect("it is waited for");
            }
            drop(words);

            let result = result.try_recv().expect("it is settled");
            assert_eq!(result.is_ok(), is_taken, "{answer:?}");
        }
    }
}
