//! A real nginx in front of a cluster, with the configuration that is delivered and only ports of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::http::Http;
use crate::waiting::within;
use madang_test_servers::ports;

const START: Duration = Duration::from_secs(30);

/// Where nginx's connections to the processes come from: an address that no client of a test has, so that a process can
/// tell the proxy, whose word it takes, from everybody else.
pub(crate) const PROXY_ADDRESS: &str = "127.0.0.9";

/// The roles that the configuration knows, each by the name of its upstream.
const UPSTREAMS: [(&str, &str); 8] = [
    ("madang_member", "member"),
    ("madang_article", "article"),
    ("madang_comment", "comment"),
    ("madang_like", "like"),
    ("madang_view", "view"),
    ("madang_hot_article", "hot-article"),
    ("madang_article_read", "article-read"),
    ("madang_web", "web"),
];

/// A running nginx that ends with its owner.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) address: String,
    log: PathBuf,
}

impl Nginx {
    /// Starts it in a directory of its own; `instances` tells the public addresses of the processes with a role.
    pub(crate) fn start(directory: &Path, instances: impl Fn(&str) -> Vec<String>) -> Self {
        let address = format!("127.0.0.1:{}", ports::free());
        let ours = directory.join("nginx");
        std::fs::create_dir_all(&ours).expect("a directory");
        let delivered = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/nginx.conf");
        let config = directory.join("nginx.conf");
        std::fs::copy(&delivered, &config).expect("the configuration is delivered");
        std::fs::write(ours.join("listen.conf"), format!("listen {address};\naccess_log off;\n")).expect("written");
        std::fs::write(ours.join("upstreams.conf"), upstreams(&ours, instances)).expect("written");
        let log = directory.join("nginx.log");
        let file = File::options().create(true).append(true).open(&log).expect("a log");
        let mut command = Command::new(madang_test_servers::program("nginx"));
        command.arg("-c").arg(&config).arg("-p").arg(directory).args(["-e", "stderr"]);
        // One process: what ends it leaves nothing behind.
        let pid = ours.join("pid");
        command.arg("-g").arg(format!("daemon off; master_process off; pid {};", pid.display()));
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("a log")).stderr(file);
        let mut nginx = Self { child: command.spawn().expect("nginx starts"), address, log };
        within(START, "nginx listens", || {
            if let Some(ended) = nginx.child.try_wait().expect("waits") {
                panic!("nginx ended with {ended}:\n{}", nginx.log());
            }
            Http::connect(&nginx.address).ok().map(drop)
        });
        nginx
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The one file that says which processes there are, as deploy/nginx/upstreams.conf does, and what a test needs besides.
fn upstreams(ours: &Path, instances: impl Fn(&str) -> Vec<String>) -> String {
    let mut text = format!("proxy_bind {PROXY_ADDRESS};\n");
    for place in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        // Debian's are not ours to write to.
        text.push_str(&format!("{place}_temp_path {};\n", ours.join(place).display()));
    }
    for (upstream, role) in UPSTREAMS {
        let servers = instances(role).into_iter().map(|address| format!("    server {address} fail_timeout=2s;\n"));
        text.push_str(&format!("upstream {upstream} {{\n{}    keepalive 16;\n}}\n", servers.collect::<String>()));
    }
    text
}
