//! Sites to measure: the binary is built, a data directory is filled by `madang seed`, a server started on it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use madang_board::CommentMode;
use madang_kernel::{Clock, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::affinity::SplitCores;
use crate::cli::Options;
use crate::client::{Connection, Request};
use crate::process::Server;

/// Members of a site, unless it asks for more; the load uses their tokens in turn.
pub(crate) const MEMBERS: u32 = 64;
const ADMIN_NAME: &str = "bench_admin";
const ADMIN_PASSWORD: &str = "only for this run";

/// How long consumer groups may take to hear of everything that a site was filled with.
const CATCH_UP_MAX: Duration = Duration::from_secs(300);
/// How often they are asked.
const CATCH_UP_POLL: Duration = Duration::from_millis(200);

/// The folder of one run, removed at its end, and the binary that is measured.
pub(crate) struct Scratch {
    folder: TempDir,
    binary: PathBuf,
    /// The configuration of the servers to measure on, instead of data directories.
    cluster: Option<PathBuf>,
    /// Distinguishes the sites of this run from those of others on the same servers.
    run: String,
}

impl Scratch {
    /// Builds the binary, unless one is given, and makes the folder.
    pub(crate) fn prepare(options: &Options) -> Result<Self> {
        let binary = match &options.binary {
            Some(binary) => binary.canonicalize().with_context(|| format!("there is no {}", binary.display()))?,
            None => build()?,
        };
        let folder = match &options.scratch {
            Some(folder) => {
                fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
                TempDir::with_prefix_in("madang-bench-", folder)
            }
            None => TempDir::with_prefix("madang-bench-"),
        };
        let folder = folder.context("cannot make a folder for the databases")?;
        eprintln!("Measuring {} with databases in {}", binary.display(), folder.path().display());
        let run = format!("bench{}", SystemClock.now().as_millis());
        Ok(Self { folder, binary, cluster: options.cluster.clone(), run })
    }

    /// Whether sites are on servers.
    pub(crate) fn is_on_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// The binary with a subcommand, told where the site of this data directory is.
    fn command(&self, subcommand: &str, data: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg(subcommand);
        match &self.cluster {
            None => command.arg("--data").arg(data),
            Some(file) => command.arg("--config").arg(file).args(["--set", &format!("cluster.name={}", self.run)]),
        };
        command
    }

    /// An empty folder of this name.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// A site with one board of so many articles; filled once, then shared by the scenarios that ask for it.
    pub(crate) fn site(&self, name: &str, articles: u32) -> Result<Site<'_>> {
        self.site_of(name, articles, MEMBERS)
    }

    /// The same with so many members.
    pub(crate) fn site_of(&self, name: &str, articles: u32, members: u32) -> Result<Site<'_>> {
        let data = self.folder.path().join(name);
        let tokens = self.folder.path().join(format!("{name}.tokens"));
        if !tokens.exists() {
            eprintln!("Filling a board with {articles} articles by {members} members");
            self.seed(&data, &tokens, articles, members)?;
        }
        let tokens = fs::read_to_string(&tokens).with_context(|| format!("cannot read {}", tokens.display()))?;
        let tokens: Vec<_> =
            tokens.lines().filter_map(|line| line.split_whitespace().nth(1)).map(String::from).collect();
        if tokens.is_empty() {
            bail!("`madang seed` wrote no tokens");
        }
        Ok(Site { scratch: self, data, tokens })
    }

    fn seed(&self, data: &Path, tokens: &Path, articles: u32, members: u32) -> Result<()> {
        let mut seed = self.command("seed", data);
        seed.args(["--boards", "1", "--articles", &articles.to_string(), "--members", &members.to_string()]);
        seed.arg("--tokens").arg(tokens);
        // Standard output is kept for the table.
        let status =
            seed.stdin(Stdio::null()).stdout(std::io::stderr()).status().context("cannot start `madang seed`")?;
        if !status.success() {
            bail!("`madang seed` ended with {status}");
        }
        Ok(())
    }

    /// A bare server with a body of this length.
    pub(crate) fn bare_server(&self, body_bytes: usize) -> Result<Server> {
        let mut bare = Command::new(std::env::current_exe().context("cannot find this program")?);
        bare.args(["bare", "--body-bytes", &body_bytes.to_string()]);
        Server::start(&mut bare, &self.folder.path().join("bare.log"))
    }
}

/// Builds `madang` in the profile of this program, and finds it beside it.
fn build() -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--package", "madang"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let status = cargo.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("`madang` does not build");
    }
    let binary = std::env::current_exe()?.with_file_name("madang");
    if !binary.exists() {
        bail!("{} is not there: give the binary with --binary", binary.display());
    }
    Ok(binary)
}

/// A filled data directory.
pub(crate) struct Site<'a> {
    scratch: &'a Scratch,
    /// The data directory.
    pub(crate) data: PathBuf,
    /// Bearer tokens of its members.
    pub(crate) tokens: Vec<String>,
}

impl Site<'_> {
    /// Starts a server on the site.
    pub(crate) fn serve(&self) -> Result<Server> {
        Server::start(&mut self.command(), &self.data.with_extension("log"))
    }

    /// Starts a server on the site, on processors of its own.
    pub(crate) fn serve_on(&self, cores: &SplitCores) -> Result<Server> {
        Server::start(&mut cores.server(&self.command()), &self.data.with_extension("log"))
    }

    /// Starts a server on the site, with these variables in its environment.
    pub(crate) fn serve_with(&self, environment: &[(&str, &str)]) -> Result<Server> {
        let mut command = self.command();
        command.envs(environment.iter().copied());
        Server::start(&mut command, &self.data.with_extension("log"))
    }

    /// Starts a server on the site, with an administrator; returns the administrator's token too.
    pub(crate) async fn serve_with_admin(&self) -> Result<(Server, String)> {
        let mut serve = self.command();
        serve.env("MADANG_ADMIN_NAME", ADMIN_NAME).env("MADANG_ADMIN_PASSWORD", ADMIN_PASSWORD);
        let server = Server::start(&mut serve, &self.data.with_extension("log"))?;
        let body = json!({ "name": ADMIN_NAME, "password": ADMIN_PASSWORD }).to_string();
        let session = fetch(server.address, &Request::post_as_guest("/api/v1/sessions", &body)).await;
        let token = text(&session.context("the administrator cannot sign in")?, "token")?;
        Ok((server, token))
    }

    fn command(&self) -> Command {
        let mut serve = self.scratch.command("serve", &self.data);
        serve.args(["--listen", "127.0.0.1:0"]).env("MADANG_RATE_LIMIT", "off");
        serve.env("MADANG_OPERATIONS_LISTEN", "public");
        serve
    }
}

/// The board with the most articles.
#[derive(Debug, Clone)]
pub(crate) struct FullestBoard {
    /// Its id.
    pub(crate) board_id: String,
    /// How many articles are on it.
    pub(crate) article_count: u64,
}

impl FullestBoard {
    /// Asks a server for it.
    pub(crate) async fn find(address: SocketAddr) -> Result<Self> {
        let boards = fetch(address, &Request::get("/api/v1/boards")).await?;
        let boards = boards["items"].as_array().context("the list of boards has no items")?.iter().map(|board| {
            let article_count = board["article_count"].as_u64().context("a board has no count")?;
            Ok(Self { board_id: text(board, "board_id")?, article_count })
        });
        let boards = boards.collect::<Result<Vec<_>>>()?;
        boards.into_iter().max_by_key(|board| board.article_count).context("there is no board")
    }

    /// The path of one of its pages.
    pub(crate) fn page(&self, number: u64, size: u32) -> Request {
        Request::get(&format!("/api/v1/boards/{}/articles?page={number}&page_size={size}", self.board_id))
    }

    /// The ids of its `count` newest articles, or of all if it has fewer.
    pub(crate) async fn ids(&self, address: SocketAddr, count: u32, page_size: u32) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        for number in 1..=count.div_ceil(page_size) {
            ids.extend(self.page_ids(address, number.into(), page_size).await?);
        }
        Ok(ids)
    }

    async fn page_ids(&self, address: SocketAddr, number: u64, page_size: u32) -> Result<Vec<String>> {
        let page = fetch(address, &self.page(number, page_size)).await?;
        let items = page["items"].as_array().context("a page has no items")?;
        items.iter().map(|item| text(item, "article_id")).collect()
    }

    /// The path of its newest article.
    pub(crate) async fn newest_article(&self, address: SocketAddr) -> Result<String> {
        let newest = self.page_ids(address, 1, 1).await?;
        Ok(format!("/api/v1/articles/{}", newest.first().context("the board is empty")?))
    }
}

/// The id of a new article, on a new board that arranges comments in this way.
pub(crate) async fn new_article(address: SocketAddr, admin: &str, mode: CommentMode) -> Result<String> {
    let slug = format!("bench-{}", SystemClock.now().as_millis());
    let board = json!({ "slug": slug, "title": "Comments", "comment_mode": mode }).to_string();
    let board = text(&fetch(address, &Request::post("/api/v1/boards", admin, &board)).await?, "board_id")?;
    let article = json!({ "title": "An article", "content": "Something to talk about." }).to_string();
    let path = format!("/api/v1/boards/{board}/articles");
    text(&fetch(address, &Request::post(&path, admin, &article)).await?, "article_id")
}

/// Waits until every consumer group has heard what the filling of the site wrote: otherwise they are measured too.
pub(crate) async fn caught_up(address: SocketAddr) -> Result<()> {
    let started = Instant::now();
    loop {
        let ready = fetch(address, &Request::get("/readyz")).await?;
        let parts = ready["parts"].as_array().context("/readyz names no parts")?;
        let mut groups =
            parts.iter().filter(|part| part["name"].as_str().is_some_and(|name| name.starts_with("group ")));
        if groups.all(|group| group["detail"] == "up to date") {
            return Ok(());
        }
        if started.elapsed() > CATCH_UP_MAX {
            bail!("the consumer groups did not catch up within {CATCH_UP_MAX:?}: {ready}");
        }
        tokio::time::sleep(CATCH_UP_POLL).await;
    }
}

/// One request on a connection of its own; anything but 2xx is an error.
pub(crate) async fn fetch(address: SocketAddr, request: &Request) -> Result<Value> {
    serde_json::from_slice(&fetch_bytes(address, request).await?).context("the answer is no JSON")
}

async fn fetch_bytes(address: SocketAddr, request: &Request) -> Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(request).await?;
    if !(200..300).contains(&answer.status) {
        bail!("status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
    }
    Ok(answer.body.to_vec())
}

/// What a counter of the server stands at, by its name with its labels; `None` when the server does not tell it (yet).
pub(crate) async fn counter(address: SocketAddr, name: &str) -> Result<Option<f64>> {
    let metrics = fetch_bytes(address, &Request::get("/metrics")).await?;
    Ok(counter_in(&String::from_utf8_lossy(&metrics), name))
}

fn counter_in(metrics: &str, name: &str) -> Option<f64> {
    metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// A text field of an answer.
pub(crate) fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field].as_str().with_context(|| format!("the answer lacks `{field}`"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_found_by_its_whole_name() {
        let metrics = "# TYPE a counter\na_total{kind=\"x\"} 3\na_total{kind=\"xy\"} 4\na 5\n";
        assert_eq!(counter_in(metrics, "a_total{kind=\"xy\"}"), Some(4.0));
        assert_eq!(counter_in(metrics, "a"), Some(5.0));
        assert_eq!(counter_in(metrics, "a_total"), None);
    }
}
