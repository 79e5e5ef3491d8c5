//! Sessions of a program that is none: who owns it, and that it always ends.

use std::sync::{Arc, Mutex};

use autonoe_backend::{After, Command, Commands, Program, ProgramClient, Query};
use autonoe_core::{
    AgentClient, AgentError, AgentErrorKind, Gate, Grants, ProjectPaths, RunId, SessionKey,
    SessionOutcome, SessionSpec, StreamEvent, Toolbox,
};
use futures::{FutureExt, StreamExt};

/// What the program does, and what was done with it.
#[derive(Debug, Default)]
struct Story {
    launch_fails: bool,
    ready: Ready,
    done: Mutex<Vec<&'static str>>,
}

#[derive(Debug, Default)]
enum Ready {
    #[default]
    AtOnce,
    Never,
    Fails,
}

impl Story {
    fn did(&self, what: &'static str) {
        self.done.lock().expect("nobody panics").push(what);
    }

    fn done(&self) -> Vec<&'static str> {
        self.done.lock().expect("nobody panics").clone()
    }
}

/// Says its prompt again. `wait` waits to be stopped, `linger` takes its time for it, `break` breaks, and `obey`
/// goes on until it is disposed of.
struct Parrot(Arc<Story>);

impl Program for Parrot {
    type Options = Arc<Story>;

    const NAME: &str = "the parrot";

    async fn launch(story: &Arc<Story>, _spec: &SessionSpec) -> Result<Self, AgentError> {
        story.did("launch");
        match story.launch_fails {
            true => Err(failure("there is no parrot")),
            false => Ok(Self(story.clone())),
        }
    }

    async fn ready(&mut self, story: &Arc<Story>, _spec: &SessionSpec) -> Result<(), AgentError> {
        match story.ready {
            Ready::AtOnce => Ok(()),
            Ready::Never => std::future::pending().await,
            Ready::Fails => Err(failure("it sleeps")),
        }
    }

    async fn turn(
        &mut self,
        _story: &Arc<Story>,
        _spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> After {
        self.0.did("turn");
        query.tell([StreamEvent::text(query.prompt.clone())]);
        match query.prompt.as_str() {
            "wait" => self.waits(query, commands).await,
            "linger" => {
                query.dropped.cancelled().await;
                for _ in 0..50 {
                    if let Some(Some(Command::Query(other))) = commands.recv().now_or_never() {
                        other.refuse();
                    }
                    tokio::task::yield_now().await;
                }
                After::Ready
            }
            "obey" => loop {
                if let Some(Command::Dispose(done)) = commands.recv().await {
                    return After::Disposed(done);
                }
            },
            "break" => {
                query.end(Err(failure("it broke")));
                After::Useless
            }
            _ => {
                query.end(Ok(end(SessionOutcome::Completed)));
                After::Ready
            }
        }
    }

    async fn end(self) {
        self.0.did("end");
    }
}

impl Parrot {
    async fn waits(&self, query: Query, commands: &mut Commands) -> After {
        loop {
            let command = tokio::select! {
                biased;
                () = query.dropped.cancelled() => {
                    self.0.did("dropped");
                    query.end(Ok(end(SessionOutcome::Interrupted)));
                    return After::Ready;
                }
                command = commands.recv() => command,
            };
            match command {
                Some(Command::Interrupt(reply)) => {
                    let _ = reply.send(Ok(()));
                    query.end(Ok(end(SessionOutcome::Interrupted)));
                    return After::Ready;
                }
                Some(Command::Steer(text, reply)) => {
                    query.tell([StreamEvent::text(text)]);
                    let _ = reply.send(Ok(()));
                }
                Some(Command::Query(other)) => other.refuse(),
                Some(Command::Dispose(done)) => return After::Disposed(done),
                None => return After::Useless,
            }
        }
    }
}

fn failure(message: &str) -> AgentError {
    AgentError::new(AgentErrorKind::Other, message)
}

fn end(outcome: SessionOutcome) -> StreamEvent {
    StreamEvent::end(outcome, None)
}

fn client(story: &Arc<Story>) -> Box<ProgramClient<Parrot>> {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
    let spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
    Box::new(ProgramClient::new(Arc::new(story.clone()), spec))
}

/// Asks one thing, and returns what comes of it: texts, and how it ended.
async fn asked(client: &mut ProgramClient<Parrot>, prompt: &str) -> (Vec<String>, String) {
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
    let story = Arc::new(Story::default());
    let mut client = client(&story);
    assert_eq!(story.done(), Vec::<&str>::new());

    let first = asked(&mut client, "hello").await;
    let second = asked(&mut client, "again").await;
    client.dispose().await.expect("it ends");

    assert_eq!(first.0, ["hello"]);
    assert_eq!(second.0, ["again"]);
    assert_eq!(story.done(), ["launch", "turn", "turn", "end"]);
}

#[tokio::test]
async fn a_client_that_was_never_asked_has_nothing_to_end() {
    let story = Arc::new(Story::default());

    client(&story).dispose().await.expect("it ends");

    assert_eq!(story.done(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_program_that_cannot_be_started_or_does_not_get_ready_is_told_once() {
    for (launch_fails, ready, why, expected) in [
        (true, Ready::AtOnce, "there is no parrot", &["launch"][..]),
        (false, Ready::Fails, "it sleeps", &["launch", "end"]),
    ] {
        let story = Arc::new(Story {
            launch_fails,
            ready,
            ..Story::default()
        });
        let mut client = client(&story);

        let (_, ended) = asked(&mut client, "hello").await;
        let (_, again) = asked(&mut client, "hello").await;
        client.dispose().await.expect("it ends");

        assert_eq!(ended, why);
        assert_eq!(
            again,
            "the parrot is not there any more; start a new session"
        );
        assert_eq!(story.done(), expected);
    }
}

#[tokio::test]
async fn a_program_that_is_not_waited_for_any_more_ends() {
    let story = Arc::new(Story {
        ready: Ready::Never,
        ..Story::default()
    });
    let mut client = client(&story);

    let mut stream = client.query("hello".into());
    assert!(futures::poll!(stream.next()).is_pending());
    drop(stream);
    client.dispose().await.expect("it ends");

    assert_eq!(story.done(), ["launch", "end"]);
}

#[tokio::test]
async fn a_program_that_is_not_ready_can_be_interrupted() {
    let story = Arc::new(Story {
        ready: Ready::Never,
        ..Story::default()
    });
    let mut client = client(&story);
    let control = client.control();

    let turn = asked(&mut client, "hello");
    let ((texts, ended), stopped) = tokio::join!(turn, control.interrupt());
    client.dispose().await.expect("it ends");

    stopped.expect("it stops");
    assert_eq!(texts, Vec::<String>::new());
    assert_eq!(ended, SessionOutcome::Interrupted.to_string());
    assert_eq!(story.done(), ["launch", "end"]);
}

#[tokio::test]
async fn a_turn_is_steered_and_interrupted_and_the_next_one_comes() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);
    let control = client.control();

    let turn = asked(&mut client, "wait");
    let told = async {
        control.steer("faster").await.expect("it hears");
        control.interrupt().await.expect("it stops");
    };
    let ((texts, ended), ()) = tokio::join!(turn, told);

    assert_eq!(texts, ["wait", "faster"]);
    assert_eq!(ended, SessionOutcome::Interrupted.to_string());
    assert_eq!(asked(&mut client, "hello").await.0, ["hello"]);
    control.interrupt().await.expect("there is nothing to stop");
    let late = control.steer("faster").await.expect_err("there is no turn");
    assert_eq!(late.to_string(), "no turn is under way");
    client.dispose().await.expect("it ends");
    control.interrupt().await.expect("there is nothing to stop");
    let late = control.steer("faster").await.expect_err("it is over");
    assert_eq!(late.to_string(), "the session is over");
}

#[tokio::test]
async fn a_program_that_broke_is_ended_at_once() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);

    let (texts, ended) = asked(&mut client, "break").await;
    let (_, again) = asked(&mut client, "hello").await;

    assert_eq!(
        (texts, ended.as_str()),
        (vec!["break".to_owned()], "it broke")
    );
    assert_eq!(
        again,
        "the parrot is not there any more; start a new session"
    );
    assert_eq!(story.done(), ["launch", "turn", "end"]);
    client.dispose().await.expect("it ends");
}

#[tokio::test]
async fn a_stream_that_is_dropped_stops_its_turn_and_not_the_program() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);

    let mut stream = client.query("wait".into());
    stream.next().await.expect("it speaks").expect("no error");
    drop(stream);
    let (texts, _) = asked(&mut client, "hello").await;
    client.dispose().await.expect("it ends");

    assert_eq!(texts, ["hello"]);
    assert_eq!(story.done(), ["launch", "turn", "dropped", "turn", "end"]);
}

#[tokio::test]
async fn a_turn_under_way_ends_with_its_client() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);
    let mut stream = client.query("wait".into());
    stream.next().await.expect("it speaks").expect("no error");
    drop(stream);

    client.dispose().await.expect("it ends");

    assert_eq!(story.done().last(), Some(&"end"));
}

#[tokio::test]
async fn a_query_waits_for_the_end_of_a_turn_that_was_dropped() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);

    let mut stream = client.query("linger".into());
    stream.next().await.expect("it speaks").expect("no error");
    drop(stream);
    let (texts, ended) = asked(&mut client, "hello").await;
    client.dispose().await.expect("it ends");

    assert_eq!(texts, ["hello"]);
    assert_eq!(ended, SessionOutcome::Completed.to_string());
}

#[tokio::test]
async fn a_control_that_is_kept_does_not_keep_the_program() {
    let story = Arc::new(Story::default());
    let mut client = client(&story);
    let control = client.control();
    asked(&mut client, "hello").await;

    drop(client);
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }

    assert_eq!(story.done(), ["launch", "turn", "end"]);
    let late = control.steer("faster").await.expect_err("it is over");
    assert_eq!(late.to_string(), "the session is over");
}
