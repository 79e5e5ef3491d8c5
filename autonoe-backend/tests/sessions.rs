//! Sessions of a fake program: its ownership, and its shutdown in all cases.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_backend::{Program, ProgramClient, ProgramOptions, ProgramTurn, TurnEnd, TurnStep};
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClient, AgentError, RunId, SessionSpec, StreamEvent};
use futures::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// The behaviour of the program, and the record of its calls.
#[derive(Debug)]
struct Behaviour {
    launch_fails: bool,
    ready: Ready,
    done: Mutex<Vec<&'static str>>,
    options: ProgramOptions,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            launch_fails: false,
            ready: Ready::default(),
            done: Mutex::default(),
            options: ProgramOptions::new("/usr/bin/parrot", []),
        }
    }
}

#[derive(Debug, Default)]
enum Ready {
    #[default]
    AtOnce,
    Never,
    Fails,
}

impl Behaviour {
    fn record(&self, call: &'static str) {
        self.done.lock().expect("nobody panics").push(call);
    }

    fn done(&self) -> Vec<&'static str> {
        self.done.lock().expect("nobody panics").clone()
    }
}

/// Repeats its prompt. `wait` waits to be stopped, `linger` takes a while to stop, and `break`
/// breaks.
struct Parrot(Arc<Behaviour>);

impl Program for Parrot {
    type Options = Arc<Behaviour>;

    type Turn<'a> = ParrotTurn;

    const NAME: &str = "the parrot";

    const FOLDER: &str = "autonoe-parrot-";

    fn program_options(behaviour: &Arc<Behaviour>) -> &ProgramOptions {
        &behaviour.options
    }

    async fn launch(behaviour: &Arc<Behaviour>, _spec: &SessionSpec) -> Result<Self, AgentError> {
        behaviour.record("launch");
        if behaviour.launch_fails {
            Err(failure("there is no parrot"))
        } else {
            Ok(Self(behaviour.clone()))
        }
    }

    async fn ready(
        &mut self,
        behaviour: &Arc<Behaviour>,
        _spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        match behaviour.ready {
            Ready::AtOnce => Ok(()),
            Ready::Never => std::future::pending().await,
            Ready::Fails => Err(failure("it sleeps")),
        }
    }

    fn start_turn(
        &mut self,
        _behaviour: &Arc<Behaviour>,
        _spec: &SessionSpec,
        prompt: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<ParrotTurn, AgentError> {
        self.0.record("turn");
        events.push(StreamEvent::text(prompt));
        let mut turn = ParrotTurn::new(&self.0);
        match prompt {
            "wait" => {}
            "linger" => turn.yields_before_stop = 50,
            "break" => return Err(failure("it broke")),
            _ => turn.send(Input::Done),
        }
        Ok(turn)
    }

    async fn end(self) {
        self.0.record("end");
    }
}

/// A turn in which the program is silent until it is stopped. After the steering message "deaf", it
/// does not stop.
struct ParrotTurn {
    behaviour: Arc<Behaviour>,
    inputs: mpsc::UnboundedReceiver<Input>,
    sender: mpsc::UnboundedSender<Input>,
    is_deaf: bool,
    is_stopping: bool,
    yields_before_stop: u32,
}

enum Input {
    Text(String),
    Stopped,
    Done,
}

impl ParrotTurn {
    fn new(behaviour: &Arc<Behaviour>) -> Self {
        let (sender, inputs) = mpsc::unbounded_channel();
        Self {
            behaviour: behaviour.clone(),
            inputs,
            sender,
            is_deaf: false,
            is_stopping: false,
            yields_before_stop: 0,
        }
    }

    fn send(&self, input: Input) {
        self.sender.send(input).expect("it is read");
    }
}

impl ProgramTurn for ParrotTurn {
    type Input = Input;
    type Ending = Result<SessionOutcome, AgentError>;

    async fn recv(&mut self) -> Input {
        while self.is_stopping && self.yields_before_stop > 0 {
            self.yields_before_stop -= 1;
            tokio::task::yield_now().await;
        }
        self.inputs.recv().await.unwrap_or(Input::Stopped)
    }

    fn handle(&mut self, input: Input, events: &mut Vec<StreamEvent>) -> TurnStep<Self::Ending> {
        match input {
            Input::Text(text) => {
                events.push(StreamEvent::text(text));
                TurnStep::Continue
            }
            Input::Stopped => TurnStep::End(Ok(SessionOutcome::Interrupted)),
            Input::Done => TurnStep::End(Ok(SessionOutcome::Completed)),
        }
    }

    fn deadline(&mut self, last_input: Instant) -> Instant {
        last_input + SILENCE_LIMIT
    }

    fn on_deadline(&mut self, is_interrupted: bool) -> Self::Ending {
        Err(failure(if is_interrupted {
            "it does not stop"
        } else {
            "it is silent"
        }))
    }

    fn interrupt(&mut self) {
        self.behaviour.record("interrupt");
        self.is_stopping = true;
        if !self.is_deaf {
            self.send(Input::Stopped);
        }
    }

    fn steer(&mut self, text: String, reply: oneshot::Sender<Result<(), AgentError>>) {
        self.is_deaf |= text == "deaf";
        self.send(Input::Text(text));
        let _ = reply.send(Ok(()));
    }

    async fn finish(&mut self, ending: Self::Ending, _events: &mut Vec<StreamEvent>) -> TurnEnd {
        TurnEnd {
            is_usable: ending.is_ok(),
            result: ending.map(end),
        }
    }

    async fn abandon(self) {
        self.behaviour.record("abandon");
    }
}

fn failure(message: &str) -> AgentError {
    AgentError::new(AgentErrorKind::Other, message)
}

fn end(outcome: SessionOutcome) -> StreamEvent {
    StreamEvent::end(outcome, None)
}

fn client(behaviour: &Arc<Behaviour>) -> Box<ProgramClient<Parrot>> {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
    let spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
    Box::new(ProgramClient::new(Arc::new(behaviour.clone()), spec))
}

/// Sends one prompt, and returns the texts and the end of the turn.
async fn run_prompt(client: &mut ProgramClient<Parrot>, prompt: &str) -> (Vec<String>, String) {
    let (mut texts, mut ended) = (Vec::new(), "not at all".to_owned());
    let mut stream = client.query(prompt.into());
    while let Some(item) = stream.next().await {
        match item {
            Ok(StreamEvent::Text { text, .. }) => texts.push(text),
            Ok(StreamEvent::End { outcome, .. }) => ended = outcome.to_string(),
            Ok(_) => {}
            Err(error) => ended = error.to_string(),
        }
    }
    (texts, ended)
}

#[tokio::test]
async fn a_program_starts_with_the_first_query_and_ends_when_it_is_disposed_of() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    assert_eq!(behaviour.done(), Vec::<&str>::new());

    let first = run_prompt(&mut client, "hello").await;
    let second = run_prompt(&mut client, "again").await;
    client.dispose().await.expect("it ends");

    assert_eq!(first.0, ["hello"]);
    assert_eq!(second.0, ["again"]);
    assert_eq!(behaviour.done(), ["launch", "turn", "turn", "end"]);
}

#[tokio::test]
async fn a_client_without_a_query_has_nothing_to_end() {
    let behaviour = Arc::new(Behaviour::default());

    client(&behaviour).dispose().await.expect("it ends");

    assert_eq!(behaviour.done(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_failed_start_is_reported_once() {
    for (launch_fails, ready, message, expected) in [
        (true, Ready::AtOnce, "there is no parrot", &["launch"][..]),
        (false, Ready::Fails, "it sleeps", &["launch", "end"]),
    ] {
        let behaviour = Arc::new(Behaviour {
            launch_fails,
            ready,
            ..Behaviour::default()
        });
        let mut client = client(&behaviour);

        let (_, ended) = run_prompt(&mut client, "hello").await;
        let (_, second) = run_prompt(&mut client, "hello").await;
        client.dispose().await.expect("it ends");

        assert_eq!(ended, message);
        assert_eq!(second, "the parrot has exited; start a new session");
        assert_eq!(behaviour.done(), expected);
    }
}

#[tokio::test]
async fn a_program_ends_when_its_query_is_dropped_during_the_start() {
    let behaviour = Arc::new(Behaviour {
        ready: Ready::Never,
        ..Behaviour::default()
    });
    let mut client = client(&behaviour);

    let mut stream = client.query("hello".into());
    assert!(futures::poll!(stream.next()).is_pending());
    drop(stream);
    client.dispose().await.expect("it ends");

    assert_eq!(behaviour.done(), ["launch", "end"]);
}

#[tokio::test]
async fn a_program_that_is_not_ready_can_be_interrupted() {
    let behaviour = Arc::new(Behaviour {
        ready: Ready::Never,
        ..Behaviour::default()
    });
    let mut client = client(&behaviour);
    let control = client.control();

    let turn = run_prompt(&mut client, "hello");
    let ((texts, ended), stopped) = tokio::join!(turn, control.interrupt());
    client.dispose().await.expect("it ends");

    stopped.expect("it stops");
    assert_eq!(texts, Vec::<String>::new());
    assert_eq!(ended, SessionOutcome::Interrupted.to_string());
    assert_eq!(behaviour.done(), ["launch", "end"]);
}

#[tokio::test]
async fn a_turn_is_steered_and_interrupted_and_the_next_one_runs() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let control = client.control();

    let turn = run_prompt(&mut client, "wait");
    let requests = async {
        control.steer("faster").await.expect("it is steered");
        control.interrupt().await.expect("it stops");
    };
    let ((texts, ended), ()) = tokio::join!(turn, requests);

    assert_eq!(texts, ["wait", "faster"]);
    assert_eq!(ended, SessionOutcome::Interrupted.to_string());
    assert_eq!(run_prompt(&mut client, "hello").await.0, ["hello"]);
    control.interrupt().await.expect("there is nothing to stop");
    let late = control.steer("faster").await.expect_err("there is no turn");
    assert_eq!(late.to_string(), "no turn is in progress");
    client.dispose().await.expect("it ends");
    control.interrupt().await.expect("there is nothing to stop");
    let late = control.steer("faster").await.expect_err("it is over");
    assert_eq!(late.to_string(), "the session is over");
}

#[tokio::test]
async fn a_program_that_broke_is_ended_at_once() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);

    let (texts, ended) = run_prompt(&mut client, "break").await;
    let (_, second) = run_prompt(&mut client, "hello").await;

    assert_eq!(
        (texts, ended.as_str()),
        (vec!["break".to_owned()], "it broke")
    );
    assert_eq!(second, "the parrot has exited; start a new session");
    assert_eq!(behaviour.done(), ["launch", "turn", "end"]);
    client.dispose().await.expect("it ends");
}

#[tokio::test]
async fn a_stream_that_is_dropped_stops_its_turn_and_not_the_program() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);

    let mut stream = client.query("wait".into());
    stream
        .next()
        .await
        .expect("it sends an event")
        .expect("no error");
    drop(stream);
    let (texts, _) = run_prompt(&mut client, "hello").await;
    client.dispose().await.expect("it ends");

    assert_eq!(texts, ["hello"]);
    assert_eq!(
        behaviour.done(),
        ["launch", "turn", "interrupt", "turn", "end"]
    );
}

#[tokio::test]
async fn a_turn_under_way_ends_with_its_client() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let mut stream = client.query("wait".into());
    stream
        .next()
        .await
        .expect("it sends an event")
        .expect("no error");
    drop(stream);

    client.dispose().await.expect("it ends");

    assert_eq!(behaviour.done().last(), Some(&"end"));
}

#[tokio::test]
async fn a_query_waits_for_the_end_of_a_turn_that_was_dropped() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);

    let mut stream = client.query("linger".into());
    stream
        .next()
        .await
        .expect("it sends an event")
        .expect("no error");
    drop(stream);
    let (texts, ended) = run_prompt(&mut client, "hello").await;
    client.dispose().await.expect("it ends");

    assert_eq!(texts, ["hello"]);
    assert_eq!(ended, SessionOutcome::Completed.to_string());
}

#[tokio::test]
async fn an_open_control_does_not_keep_the_program_running() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let control = client.control();
    run_prompt(&mut client, "hello").await;

    drop(client);
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }

    assert_eq!(behaviour.done(), ["launch", "turn", "end"]);
    let late = control.steer("faster").await.expect_err("it is over");
    assert_eq!(late.to_string(), "the session is over");
}

#[tokio::test(start_paused = true)]
async fn a_silent_turn_fails_and_its_program_is_ended() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let control = client.control();
    let started = Instant::now();

    let turn = run_prompt(&mut client, "wait");
    let requests = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        control.steer("louder").await.expect("it is steered");
    };
    let ((_, ended), ()) = tokio::join!(turn, requests);

    assert_eq!(ended, "it is silent");
    assert_eq!(started.elapsed(), Duration::from_secs(110));
    assert_eq!(behaviour.done(), ["launch", "turn", "end"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_stop_is_interrupted_once_and_then_abandoned() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let control = client.control();

    let turn = run_prompt(&mut client, "wait");
    let requests = async {
        control.steer("deaf").await.expect("it is steered");
        for _ in 0..2 {
            control.interrupt().await.expect("it is interrupted");
        }
    };
    let ((_, ended), ()) = tokio::join!(turn, requests);

    assert_eq!(ended, "it does not stop");
    assert_eq!(behaviour.done(), ["launch", "turn", "interrupt", "end"]);
}

#[tokio::test]
async fn a_turn_is_abandoned_when_its_session_is_disposed_of() {
    let behaviour = Arc::new(Behaviour::default());
    let mut client = client(&behaviour);
    let control = client.control();
    let mut stream = client.query("wait".into());
    stream
        .next()
        .await
        .expect("it sends an event")
        .expect("no error");
    control.steer("deaf").await.expect("it is steered");
    drop(stream);

    client.dispose().await.expect("it ends");

    let done = behaviour.done();
    assert_eq!(done[done.len() - 2..], ["abandon", "end"]);
}
