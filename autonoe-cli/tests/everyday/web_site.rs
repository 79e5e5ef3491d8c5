//! `WebSite`, a site on this machine that programs reach by its name, through a proxy.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::backends::programs;

/// A proxy that serves one site itself, over TLS, and logs each request to a file.
const PROXY: &str = r"
const fs = require('fs'), http = require('http'), https = require('https'), net = require('net');
const [folder, host] = process.argv.slice(2);
const read = name => fs.readFileSync(`${folder}/${name}`);
const site = https.createServer({ key: read('key.pem'), cert: read('cert.pem') }, (request, response) => {
  fs.appendFileSync(`${folder}/requests`, `${request.method} ${request.url}\n`);
  response.setHeader('Content-Type', 'text/html');
  response.end('<html><body><h1>The guide</h1><p>Say hello in Latin.</p></body></html>');
}).listen(0, '127.0.0.1', () => {
  const proxy = http.createServer().on('connect', (request, client, head) => {
    client.on('error', () => client.destroy());
    if (request.url !== `${host}:443`) return client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const upstream = net.connect(site.address().port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));
});
";

/// A site that answers every request with a page, and the proxy to it.
pub(crate) struct WebSite {
    folder: TempDir,
    proxy: Child,
    port: u16,
}

impl WebSite {
    pub(crate) fn start(host: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let issued = rcgen::generate_simple_self_signed([host.to_owned()]).expect("a certificate");
        for (name, text) in [
            ("cert.pem", issued.cert.pem()),
            ("key.pem", issued.signing_key.serialize_pem()),
            ("proxy.js", PROXY.to_owned()),
        ] {
            fs::write(folder.path().join(name), text).expect("writable");
        }
        let mut proxy = Command::new(programs::node())
            .arg(folder.path().join("proxy.js"))
            .arg(folder.path())
            .arg(host)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js starts");
        let mut line = String::new();
        let output = proxy.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut line).expect("text");
        let port = line.trim().parse().expect("a port");
        Self {
            folder,
            proxy,
            port,
        }
    }

    pub(crate) fn proxy_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the certificate that clients must trust.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    /// Returns the requests so far, one per line.
    pub(crate) fn requests(&self) -> String {
        fs::read_to_string(self.folder.path().join("requests")).unwrap_or_default()
    }
}

impl Drop for WebSite {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
