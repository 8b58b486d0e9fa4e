//! `cargo xtask image`: the container of deploy/Dockerfile, on a Debian made by debootstrap, built by buildah and run by podman.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::network::Network;
use super::{build, debian_root};
use crate::interrupt::Interrupt;
use crate::steps::Steps;
use crate::{stack, workspace};

/// Builds the container image of deploy/Dockerfile without a registry, and runs it.
///
/// The base is a Debian made by debootstrap, the binary that of `cargo xtask package`. The container is started without a
/// network but its own loopback, used, stopped by SIGTERM, and started again on the same volume. Needs root; buildah,
/// podman and runc are installed if missing. Images and containers are kept below target/containers.
#[derive(clap::Args)]
pub(crate) struct Image {
    /// Uses the binary as it was built last.
    #[arg(long)]
    no_build: bool,
}

const NEEDS: [(&str, &str); 3] = [("buildah", "buildah"), ("podman", "podman"), ("runc", "runc")];
const BASE: &str = "localhost/madang-debian";
const IMAGE: &str = "localhost/madang";
const ADDRESS: &str = "127.0.0.1:8080";
const PASSWORD: &str = "only for this image";
/// How long the site may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

impl Image {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let interrupt = Interrupt::listen()?;
        let mut steps = Steps::of("image");
        steps.run("build", || build(self.no_build))?;
        let engine = steps.run("engine", Engine::ready)?;
        steps.run("base", || engine.base(&interrupt))?;
        steps.run("image", || engine.image())?;
        steps.run("run", || engine.used(&interrupt))?;
        steps.summarize();
        Ok(())
    }
}

/// buildah and podman on a storage of their own.
struct Engine {
    storage: [String; 4],
}

impl Engine {
    fn ready() -> Result<Self> {
        ensure!(rustix::process::getuid().is_root(), "images are built and run by root here");
        stack::ensure_installed(&NEEDS, &workspace::target().join("apt.log"))?;
        let folder = workspace::target().join("containers");
        std::fs::create_dir_all(&folder)?;
        let path = |name: &str| folder.join(name).display().to_string();
        Ok(Self { storage: ["--root".into(), path("storage"), "--runroot".into(), path("run")] })
    }

    fn buildah(&self, arguments: &[&str]) -> Result<String> {
        said(Command::new("buildah").args(&self.storage).args(arguments).current_dir(workspace::root()))
    }

    /// runc, because crun refuses machines whose control groups are of both versions.
    fn podman(&self, arguments: &[&str]) -> Result<String> {
        said(Command::new("podman").args(&self.storage).args(["--runtime", "runc"]).args(arguments))
    }

    /// An image of a Debian that nobody has used.
    fn base(&self, interrupt: &Interrupt) -> Result<()> {
        let archive = debian_root::archive(interrupt)?;
        let container = self.buildah(&["from", "scratch"])?;
        self.buildah(&["add", "--quiet", &container, &archive.display().to_string(), "/"])?;
        self.buildah(&["commit", "--quiet", "--rm", &container, BASE]).map(drop)
    }

    fn image(&self) -> Result<()> {
        let base = format!("BASE={BASE}");
        // What runs while building needs no network, and no namespaces beside those that a chroot has.
        let arguments = ["build", "--isolation=chroot", "--network=host", "--build-arg", &base, "--build-arg"];
        let arguments =
            [&arguments[..], &["BINARY=given", "--file", "deploy/Dockerfile", "--tag", IMAGE, "."]].concat();
        self.buildah(&arguments)?;
        let size = self.podman(&["image", "inspect", "--format", "{{.Size}} bytes, user {{.User}}", IMAGE])?;
        println!("{IMAGE}: {size}");
        Ok(())
    }

    /// Started, written to, stopped, started again on the same volume.
    fn used(&self, interrupt: &Interrupt) -> Result<()> {
        let _container = Removed { engine: self };
        let (files, processes) = ("nofile=4096:4096", "nproc=4096:4096");
        self.podman(&[
            "run",
            "--detach",
            "--name",
            NAME,
            "--network=none",
            "--ulimit",
            files,
            "--ulimit",
            processes,
            IMAGE,
        ])?;
        self.answers(interrupt)?;
        let create = ["exec", "--interactive", NAME, "madang", "member", "create", "--role", "admin", "--name", "ann"];
        let mut command = Command::new("podman");
        command.args(&self.storage).args(["--runtime", "runc"]).args(create).arg("--password-stdin");
        super::network::with_input(&mut command, PASSWORD)?;
        let network = self.network()?;
        let who = json!({"name": "ann", "password": PASSWORD});
        let session = network.send(ADDRESS, "POST", "/api/v1/sessions", None, Some(&who))?.json()?;
        let token = session["token"].as_str().context("a token")?.to_owned();
        let boards = network.send(ADDRESS, "GET", "/api/v1/boards", None, None)?.json()?;
        let path = format!("/api/v1/boards/{}/articles", boards["items"][0]["board_id"].as_str().context("a board")?);
        let body = json!({"title": "Kept", "content": "in the volume"});
        let article = network.send(ADDRESS, "POST", &path, Some(&token), Some(&body))?.json()?;
        self.podman(&["stop", "--time", "20", NAME])?;
        let ended = self.podman(&["inspect", "--format", "{{.State.ExitCode}}", NAME])?;
        ensure!(ended == "0", "stopped by SIGTERM, it ended with {ended}");
        self.podman(&["start", NAME])?;
        self.answers(interrupt)?;
        let path = format!("/api/v1/articles/{}", article["article_id"].as_str().context("an article")?);
        let found = self.network()?.send(ADDRESS, "GET", &path, None, None)?.json()?;
        ensure!(found["title"] == "Kept", "{found}");
        println!("started, written to, stopped by SIGTERM with exit code 0, started again: the article is there");
        Ok(())
    }

    fn network(&self) -> Result<Network> {
        let id = self.podman(&["inspect", "--format", "{{.State.Pid}}", NAME])?;
        Ok(Network::of(id.parse().with_context(|| format!("{id} is no process"))?))
    }

    fn answers(&self, interrupt: &Interrupt) -> Result<()> {
        let network = self.network()?;
        let until = std::time::Instant::now() + ANSWER_MAX;
        while !network.send(ADDRESS, "GET", "/healthz", None, None).is_ok_and(|answer| answer.status == 200) {
            let late = std::time::Instant::now() >= until;
            ensure!(!late, "the container does not answer:\n{}", self.podman(&["logs", NAME])?);
            interrupt.pause(Duration::from_millis(200))?;
        }
        Ok(())
    }
}

const NAME: &str = "madang-under-test";

/// The container goes with this, and its volume.
struct Removed<'a> {
    engine: &'a Engine,
}

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = self.engine.podman(&["rm", "--force", "--volumes", NAME]);
    }
}

/// The last line that a command said.
fn said(command: &mut Command) -> Result<String> {
    let name = Path::new(command.get_program()).display().to_string();
    let Output { status, stdout, stderr } = command.output().with_context(|| format!("`{name}` did not start"))?;
    ensure!(status.success(), "{name}: {}", String::from_utf8_lossy(&stderr));
    Ok(String::from_utf8_lossy(&stdout).lines().last().unwrap_or_default().trim().to_owned())
}
