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
#[derive(Debug)]
pub struct Chromium {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// Events that arrived while waiting for something else.
    received: Vec<Value>,
    _profile: TempDir,
}

/// Preferred colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
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
    /// Starts the browser with an empty page.
    ///
    /// # Panics
    ///
    /// Chromium is not installed.
    pub fn start() -> Self {
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

    /// Calls a method of the DevTools protocol, and returns its result.
    ///
    /// # Panics
    ///
    /// The browser has ended, or reports an error.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
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

    /// Sets the width of the window and the colour scheme.
    pub fn set_window(&mut self, width: u32, scheme: Scheme) {
        let scheme = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let window =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &window);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// Opens a URL and waits until it is loaded.
    ///
    /// # Panics
    ///
    /// The page cannot be loaded.
    pub fn open(&mut self, address: &str) {
        self.received.clear();
        let opened = self.call("Page.navigate", &json!({ "url": address }));
        assert!(opened["errorText"].is_null(), "{opened}");
        self.wait_for(|message| message["method"] == "Page.loadEventFired");
    }

    /// Returns the value of a JavaScript expression; of a promise, its result.
    ///
    /// # Panics
    ///
    /// The expression throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    ///
    /// It stays false for too long.
    pub fn wait_until(&mut self, expression: &str) {
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
    pub fn wait_for_text(&mut self, text: &str) {
        let text = Value::from(text);
        self.wait_until(&format!("document.body.innerText.includes({text})"));
    }

    /// Returns the visible text of the page.
    pub fn text(&mut self) -> String {
        let text = self.evaluate("document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks on the element of a selector.
    ///
    /// # Panics
    ///
    /// The element is missing or invisible.
    pub fn click(&mut self, selector: &str) {
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
    pub fn logged_errors(&self) -> Vec<&Value> {
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
    pub fn events(&self, method: &str) -> Vec<&Value> {
        let received = self.received.iter();
        received
            .filter(|message| message["method"] == method)
            .map(|message| &message["params"])
            .collect()
    }

    /// Waits until there are `count` events of one method that `matches` accepts, or for too long.
    /// The browser sends events about a request independently of the response to the page.
    pub fn until_events(&mut self, method: &str, count: usize, matches: impl Fn(&Value) -> bool) {
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

    /// Returns elements that overflow the window and cannot be scrolled into view, except those
    /// that the selector matches.
    pub fn overflowing(&mut self, except: &str) -> Value {
        self.evaluate(&format!("({OVERFLOW})({})", Value::from(except)))
    }

    /// Returns texts with a contrast below 4.5 to 1, except those in elements of the selector.
    pub fn pale_texts(&mut self, except: &str) -> Value {
        self.evaluate(&format!("({PALE})({})", Value::from(except)))
    }

    /// Returns the accessibility tree: roles and names in the order of the page.
    pub fn accessibility_tree(&mut self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let visible = nodes.iter().filter(|node| node["ignored"] == false);
        visible
            .map(|node| (text(&node["role"]), text(&node["name"])))
            .collect()
    }

    /// Returns the requested URLs since the page was opened.
    pub fn requests(&self) -> Vec<&str> {
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

/// Finds elements that overflow the window and cannot be scrolled into view.
const OVERFLOW: &str = r#"
except => {
    const width = document.documentElement.clientWidth;
    const out = [...document.body.querySelectorAll("*")].filter(element =>
        !element.closest(except) && element.getBoundingClientRect().right > width + 0.5);
    const page = document.documentElement.scrollWidth > width ? ["the page"] : [];
    return page.concat(out.map(element => element.outerHTML.slice(0, 100)));
}"#;

/// Finds texts with a contrast below 4.5 to 1.
const PALE: &str = r#"
except => {
    const parse = color => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = element => {
        for (let e = element; e; e = e.parentElement) {
            const color = parse(getComputedStyle(e).backgroundColor);
            if (color.length < 4 || color[3] > 0) return color;
        }
        return [255, 255, 255];
    };
    const found = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = texts.nextNode());) {
        const element = node.parentElement;
        if (!node.textContent.trim() || element.closest(except)) continue;
        const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.add(`${contrast.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
    }
    return [...found];
}"#;
