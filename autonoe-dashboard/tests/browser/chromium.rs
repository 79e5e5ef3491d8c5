//! Headless Chromium, driven over its DevTools protocol, with access to this machine only.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit of each step on a busy machine.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);

/// Headless browser with one page. Dropping it ends the browser.
pub(crate) struct Chromium {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// Events that arrived while waiting for something else.
    received: Vec<Value>,
    _profile: TempDir,
}

/// Returns Debian's Chromium, or fails the test if it is not installed.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|dir| dir.join("chromium"));
    places.find(|path| path.is_file()).expect(
        "there is no chromium on the search path, and this test looks at a page with it: \
         run `cargo xtask clis` as root, or install Debian's package chromium",
    )
}

impl Chromium {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a directory can be made");
        // The protocol uses the file descriptors 3 and 4, which only a shell can pass without
        // unsafe code. Name resolution is off, so that nothing can be fetched.
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"])
            .arg(program())
            .args("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(' '))
            .args("--disable-background-networking --disable-sync".split(' '))
            .args("--disable-component-update --disable-extensions --hide-scrollbars".split(' '))
            .args("--disable-dev-shm-usage --force-color-profile=srgb".split(' '))
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("it can be started");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("messages are JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            input: process.stdin.take(),
            process,
            messages,
            sent: 0,
            session: None,
            received: Vec::new(),
            _profile: profile,
        };
        browser.open_page();
        browser
    }

    fn open_page(&mut self) {
        let target = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", &attach);
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        let input = self.input.as_mut().expect("it is open until the end");
        let sent = input.write_all(format!("{request}\0").as_bytes());
        sent.and_then(|()| input.flush())
            .expect("the browser listens");
        let answer = self.wait_for(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.received.iter().position(&is_it) {
            return self.received.remove(place);
        }
        let deadline = Instant::now() + STEP_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .messages
                .recv_timeout(left)
                .expect("the browser answers");
            if is_it(&message) {
                return message;
            }
            self.received.push(message);
        }
    }

    /// Opens a URL and waits until it is loaded.
    pub(crate) fn open(&mut self, address: &str) {
        self.received.clear();
        let opened = self.call("Page.navigate", &json!({ "url": address }));
        assert!(opened["errorText"].is_null(), "{opened}");
        self.wait_for(|message| message["method"] == "Page.loadEventFired");
    }

    /// Returns the value of a JavaScript expression; of a promise, its result.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_until(&mut self, expression: &str) {
        let deadline = Instant::now() + STEP_TIMEOUT;
        while self.evaluate(expression) != true {
            if Instant::now() > deadline {
                let seen = self.text();
                panic!("{expression} did not become true: {seen}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the page shows a text.
    pub(crate) fn wait_for_text(&mut self, text: &str) {
        let text = Value::from(text);
        self.wait_until(&format!("document.body.innerText.includes({text})"));
    }

    /// Returns the visible text of the page.
    pub(crate) fn text(&mut self) -> String {
        let text = self.evaluate("document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks on the element of a selector.
    pub(crate) fn click(&mut self, selector: &str) {
        let selector = Value::from(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const it = document.querySelector({selector}); \
             it.scrollIntoView({{block: 'center'}}); const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2, box.width]; }})()"
        ));
        assert!(
            place[2].as_f64().is_some_and(|width| width > 0.0),
            "{selector} is not seen"
        );
        for kind in ["mousePressed", "mouseReleased"] {
            let mouse = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &mouse);
        }
    }

    /// Returns the browser's errors and warnings since the page was opened.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        const COMPLAINTS: [&str; 3] = [
            "Log.entryAdded",
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
        ];
        let received = self.received.iter();
        received
            .filter(|message| COMPLAINTS.iter().any(|name| message["method"] == *name))
            .collect()
    }

    /// Returns the events of one method since the page was opened.
    pub(crate) fn events(&self, method: &str) -> Vec<&Value> {
        let received = self.received.iter();
        received
            .filter(|message| message["method"] == method)
            .map(|message| &message["params"])
            .collect()
    }

    /// Waits until there are `count` events of one method that `matches` accepts, or for too long.
    /// The browser sends events about a request independently of the response to the page.
    pub(crate) fn until_events(
        &mut self,
        method: &str,
        count: usize,
        matches: impl Fn(&Value) -> bool,
    ) {
        let deadline = Instant::now() + STEP_TIMEOUT;
        let found = |browser: &Self| {
            let events = browser.events(method).into_iter();
            events.filter(|event| matches(event)).count()
        };
        while found(self) < count && Instant::now() < deadline {
            self.evaluate("true");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the requested URLs since the page was opened.
    pub(crate) fn requests(&self) -> Vec<&str> {
        let requests = self.events("Network.requestWillBeSent").into_iter();
        requests
            .map(|request| request["request"]["url"].as_str().unwrap_or("?"))
            .collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser exits when the connection is closed.
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
