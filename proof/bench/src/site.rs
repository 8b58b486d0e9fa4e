//! Sites to measure: the binary is built, a data directory is filled by `madang seed`, a server started on it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::Options;
use crate::client::{Connection, Request};
use crate::process::Server;

/// Members of every site, whose tokens the load uses in turn.
const MEMBERS: u32 = 64;

/// The folder of one run, removed at its end, and the binary that is measured.
pub(crate) struct Scratch {
    folder: TempDir,
    binary: PathBuf,
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
        Ok(Self { folder, binary })
    }

    /// An empty folder of this name.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// A site with one board of so many articles; filled once, then shared by the scenarios that ask for it.
    pub(crate) fn site(&self, name: &str, articles: u32) -> Result<Site<'_>> {
        let data = self.folder.path().join(name);
        let tokens = self.folder.path().join(format!("{name}.tokens"));
        if !tokens.exists() {
            eprintln!("Filling a board with {articles} articles");
            self.seed(&data, &tokens, articles)?;
        }
        let tokens = fs::read_to_string(&tokens).with_context(|| format!("cannot read {}", tokens.display()))?;
        let tokens: Vec<_> =
            tokens.lines().filter_map(|line| line.split_whitespace().nth(1)).map(String::from).collect();
        if tokens.is_empty() {
            bail!("`madang seed` wrote no tokens");
        }
        Ok(Site { scratch: self, data, tokens })
    }

    fn seed(&self, data: &Path, tokens: &Path, articles: u32) -> Result<()> {
        let mut seed = Command::new(&self.binary);
        seed.args(["seed", "--boards", "1", "--articles", &articles.to_string(), "--members", &MEMBERS.to_string()]);
        seed.arg("--tokens").arg(tokens).arg("--data").arg(data);
        // Standard output is kept for the table.
        let status =
            seed.stdin(Stdio::null()).stdout(std::io::stderr()).status().context("cannot start `madang seed`")?;
        if !status.success() {
            bail!("`madang seed` ended with {status}");
        }
        Ok(())
    }

    /// The bare server of `get-article`.
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
        let mut serve = Command::new(&self.scratch.binary);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&self.data).env("MADANG_RATE_LIMIT", "off");
        Server::start(&mut serve, &self.data.with_extension("log"))
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

    /// The path of its newest article.
    pub(crate) async fn newest_article(&self, address: SocketAddr) -> Result<Request> {
        let page = fetch(address, &self.page(1, 1)).await?;
        let article = page["items"].get(0).context("the board is empty")?;
        Ok(Request::get(&format!("/api/v1/articles/{}", text(article, "article_id")?)))
    }
}

/// One request on a connection of its own; anything but 2xx is an error.
pub(crate) async fn fetch(address: SocketAddr, request: &Request) -> Result<Value> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(request).await?;
    if !(200..300).contains(&answer.status) {
        bail!("status {}: {}", answer.status, String::from_utf8_lossy(answer.body));
    }
    serde_json::from_slice(answer.body).context("the answer is no JSON")
}

/// A text field of an answer.
pub(crate) fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field].as_str().with_context(|| format!("the answer lacks `{field}`"))?.to_owned())
}
