//! Runs the allowed `curl` commands against a local server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use autonoe_security::BashSecurity;

use super::project::{Project, SECRET, tokens};
use super::{ROUNDS, SEED};
use crate::common::mutate::{Mutator, number};

/// A server that records every request, and redirects to another name of itself.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that runs until the tests end.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let retained = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let retained = Arc::clone(&retained);
                thread::spawn(move || answer(stream, port, &retained));
            }
        });
        Self { port, requests }
    }

    /// Removes and returns the requests that were not for this machine, or that contain a secret.
    fn take_violations(&self) -> Vec<String> {
        let mut requests = self.requests.lock().expect("no panic");
        let mut taken: Vec<String> = requests.drain(..).collect();
        taken.retain(|request| !self.is_local(request) || request.contains(SECRET));
        taken
    }

    fn is_local(&self, request: &str) -> bool {
        let first = request.lines().next().unwrap_or_default();
        // A proxy receives the whole URL, or a request to connect. `-X` can put any text before
        // that.
        let target = first.rsplit(' ').nth(1).unwrap_or_default();
        let is_for_proxy = first.starts_with("CONNECT") || !target.starts_with('/');
        let hosts = ["localhost", "127.0.0.1", "127.0.0.2"];
        let mut headers = request.lines().take_while(|line| !line.is_empty());
        let is_named = headers.any(|line| {
            let host = line.strip_prefix("Host: ").unwrap_or_default();
            hosts.iter().any(|it| host == format!("{it}:{}", self.port))
        });
        is_named && !is_for_proxy
    }
}

fn answer(mut stream: TcpStream, port: u16, requests: &Mutex<Vec<String>>) {
    let wait = stream.set_read_timeout(Some(Duration::from_millis(50)));
    wait.expect("a time-out can be set");
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    // Until it pauses: an upload may follow the head, and the client does not wait for the answer
    // before that.
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        request.extend_from_slice(&buffer[..count]);
        if request.len() > 1 << 16 {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    if !text.is_empty() {
        requests.lock().expect("no panic").push(text);
    }
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://0.0.0.0:{port}/elsewhere\r\nETag: \"x\"\r\n\
         Set-Cookie: a=b\r\nAlt-Svc: h2=\":{port}\"\r\nContent-Length: 2\r\n\
         Content-Disposition: attachment; filename=\"../made\"\r\nConnection: close\r\n\r\nok"
    );
    // The client may have disconnected.
    drop(stream.write_all(answer.as_bytes()));
}

/// Tokens of a command; `PORT` is the port of the server.
const TOKENS: &str = r#"
http://localhost:PORT/  http://127.0.0.1:PORT/x  localhost:PORT  http://127.0.0.2:PORT/
http://0.0.0.0:PORT/  http://example.com/  0.0.0.0:PORT  http://localhost@0.0.0.0:PORT/
'http://{localhost,0.0.0.0}:PORT/'  'http://localhost:[PORT-PORT]/'  "http://$x:PORT/"
http://localhost:PORT\@0.0.0.0:PORT/  http://localhost:PORT#@0.0.0.0:PORT/  --url  -s  -S
-f  -i  -I  -v  -sS  -sf  -sL  -L  --location  --max-redirs 0  --max-redirs 5  -X POST  -X
-d x  -d @body  -d @$HOME/.ssh/id_rsa  -d '@body'  --data-binary @../home/.ssh/id_rsa
--data @/proc/self/environ  -T body  -T ~/.netrc  -F f=@body  -F f=@../home/.ssh/id_rsa
-F 'f=<../home/.netrc'  -H 'A: b'  -H @body  -H @../home/.ssh/id_rsa
-o /dev/null  -o out  -o .git/config  -o ../made  -O  -J  -OJ
--output-dir ..  --output-dir .git  --create-dirs  -D head  -D .autonoe/status.json
-c jar  -c .git/config  -b a=b  -b ../home/.netrc  -b body  -w '%{http_code}'
-w '%output{.git/config}x'  -w @../home/.ssh/id_rsa  -n  --netrc  --netrc-optional
--netrc-file body  -K body  --config body  -q  -Z  -x http://127.0.0.1:PORT
--proxy 127.0.0.1:PORT  --preproxy 127.0.0.1:PORT  -p  --socks5 127.0.0.1:PORT
--connect-to ::127.0.0.1:PORT  --connect-to 'example.com::127.0.0.1:PORT'
--resolve example.com:80:127.0.0.1  --resolve '*:80:127.0.0.1'  --next  -:  --trace t
--trace-ascii .git/config  --stderr .git/config  --libcurl made.c  --etag-save .git/config
--etag-compare body  --hsts h  --alt-svc a  --unix-socket /x  --interface lo  -m 1
--max-time 2  --retry 1  --compressed  -k  -4  -u a:b  -A x  -e http://x  -G  --json '{}'
--json @body  --data-urlencode a@body  --data-raw @body  --form-string a=b
--data-urlencode 'a@../home/.ssh/id_rsa'
--variable a@../home/.ssh/id_rsa --expand-data '{{a}}'  --engine x
--cert ../home/.ssh/id_rsa  -E body  file:///etc/passwd  -r 0-1  -#
"#;

/// Variables before the command.
const VARIABLES: &[&str] = &[
    "http_proxy=http://127.0.0.1:PORT ",
    "ALL_PROXY=127.0.0.1:PORT ",
    "CURL_HOME=. ",
    "A=b ",
    "x=0.0.0.0; ",
    "x=localhost; ",
    "for x in localhost 0.0.0.0; do ",
    "SSLKEYLOGFILE=.git/config ",
];

fn command(random: &mut Mutator, tokens: &[&str], port: u16) -> String {
    let variable = match random.below(6) {
        0 => VARIABLES[random.below(VARIABLES.len())],
        _ => "",
    };
    let mut text = format!("{variable}curl");
    for _ in 0..=random.below(3) {
        text.push(' ');
        text.push_str(tokens[random.below(tokens.len())]);
    }
    text.push_str(["", " http://localhost:PORT/", " -s http://127.0.0.1:PORT/a"][random.below(3)]);
    if variable.starts_with("for") {
        text.push_str("; done");
    }
    text.replace("PORT", &port.to_string())
}

#[test]
fn allowed_curl_commands_reach_this_machine_only_and_touch_no_protected_file() {
    let (server, project) = (Server::start(), Project::new(&[("body", "x\n")]));
    let (validator, before) = (project.validator(), project.protected());
    let mut random = Mutator::new(number(SEED, 7), Vec::new());
    let tokens = tokens(TOKENS);
    let mut ran = 0;
    for _ in 0..number(ROUNDS, 1_000) {
        let command = command(&mut random, &tokens, server.port);
        if !validator.check(&command).is_allowed() {
            continue;
        }
        ran += 1;
        project.run(&command);
        assert_eq!(server.take_violations(), [""; 0], "{command}");
        assert_eq!(project.protected(), before, "{command}");
    }
    eprintln!("{ran} commands run, 0 violations");
    assert!(
        ran > 50,
        "only {ran} commands were allowed, which shows little"
    );
}

#[test]
fn a_violation_by_curl_is_seen() {
    let server = Server::start();
    for command in [
        "curl -sL http://localhost:PORT/",
        "curl -s http://0.0.0.0:PORT/",
        "curl -s -x 127.0.0.1:PORT http://localhost:PORT/",
        "curl -s --connect-to ::127.0.0.1:PORT http://example.com/",
        "curl -s -d @$HOME/.ssh/id_rsa http://localhost:PORT/",
        "curl -s -F f=@../home/.ssh/id_rsa http://localhost:PORT/",
        "curl -s -o .git/config http://localhost:PORT/",
        "curl -s -c ../made http://localhost:PORT/",
    ] {
        let project = Project::new(&[]);
        let before = project.protected();

        project.run(&command.replace("PORT", &server.port.to_string()));

        let is_seen = !server.take_violations().is_empty() || project.protected() != before;
        assert!(is_seen, "{command}");
    }
}
