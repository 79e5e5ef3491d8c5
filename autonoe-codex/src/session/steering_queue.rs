//! [`SteeringQueue`], the queue of steering messages to the agent.

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use tokio::sync::oneshot;

use super::transport::Answer;

/// Receives the result of a steering message.
pub(super) type SteeringReply = oneshot::Sender<Result<(), AgentError>>;

/// Steering messages to the agent during its turn.
///
/// Each gets one result: when the program has accepted it, or when it is clear that it will not.
#[derive(Default)]
pub(super) struct SteeringQueue {
    /// Messages that wait for the turn to start.
    waiting: Vec<(String, SteeringReply)>,
    /// Messages that were sent to the program.
    sent: Vec<(oneshot::Receiver<Answer>, SteeringReply)>,
}

impl SteeringQueue {
    /// Queues a message until the turn has started.
    pub(super) fn push(&mut self, text: String, speaker: SteeringReply) {
        self.waiting.push((text, speaker));
    }

    /// Removes and returns the waiting messages.
    pub(super) fn drain_waiting(&mut self) -> Vec<(String, SteeringReply)> {
        std::mem::take(&mut self.waiting)
    }

    /// Records that a message was sent to the program.
    pub(super) fn record_sent(
        &mut self,
        answer: oneshot::Receiver<Answer>,
        speaker: SteeringReply,
    ) {
        self.sent.push((answer, speaker));
    }

    /// Reports the result of each message that the program has answered.
    pub(super) fn report_results(&mut self) {
        for (mut answer, speaker) in std::mem::take(&mut self.sent) {
            match answer.try_recv() {
                Ok(answer) => {
                    // The caller may have stopped waiting.
                    let _ = speaker.send(answer.map(drop).map_err(|error| {
                        let reason = format!("Codex did not accept the message: {}", error.message);
                        AgentError::new(AgentErrorKind::Other, reason)
                    }));
                }
                Err(oneshot::error::TryRecvError::Empty) => self.sent.push((answer, speaker)),
                Err(oneshot::error::TryRecvError::Closed) => refuse(speaker),
            }
        }
    }
}

impl Drop for SteeringQueue {
    fn drop(&mut self) {
        self.report_results();
        let waiting = self.drain_waiting().into_iter().map(|(_, speaker)| speaker);
        let sent = self.sent.drain(..).map(|(_, speaker)| speaker);
        waiting.chain(sent).for_each(refuse);
    }
}

fn refuse(speaker: SteeringReply) {
    let reason = "the turn ended before the message was accepted";
    let _ = speaker.send(Err(AgentError::new(AgentErrorKind::Other, reason)));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wire::RpcError;

    #[test]
    fn a_steering_message_is_delivered_when_the_program_accepts_it() {
        for (answer, is_taken) in [
            (Some(Ok(Value::Null)), true),
            (Some(Err(RpcError::default())), false),
            (None, false),
        ] {
            let (program, heard) = oneshot::channel();
            let (speaker, mut result) = oneshot::channel();
            let mut words = SteeringQueue::default();
            words.record_sent(heard, speaker);
            words.report_results();
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
