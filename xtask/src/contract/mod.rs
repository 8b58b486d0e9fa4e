//! `cargo xtask contract`: whether others can work with the OpenAPI description. A linter reads it, clients are generated from
//! it and compiled, and each client goes through what people do on the real binary.

mod tools;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use self::tools::Tools;
use crate::site::Site;
use crate::{program, workspace};

/// Clients generated from the OpenAPI description, and what they do.
///
/// Builds and starts the embedded server on a scratch directory, and takes /openapi.json from it. Redocly's linter must find
/// nothing wrong with it. openapi-generator makes a client in TypeScript (typescript-fetch) and one in Python, both with the
/// generators' defaults; the compiler of TypeScript must accept the first, and each then signs up, signs in, writes, comments,
/// likes, reads, reports, settles, deletes and signs out (xtask/contract/flow.ts, flow.py).
///
/// Needs Java, Maven, npm, Node.js and Python 3 with venv. The first run fetches pinned versions into the cache directory of
/// the user. Part of `cargo xtask test`, but for --no-stack.
#[derive(clap::Args)]
pub(crate) struct Contract {}

/// Builds the binary and runs it all.
pub(crate) fn run() -> Result<()> {
    workspace::run(workspace::cargo().args(["build", "-p", "madang"]))?;
    step()
}

/// The part of `cargo xtask test`; the binary is built.
pub(crate) fn step() -> Result<()> {
    let tools = Tools::ready().context("--no-stack leaves this check out")?;
    let site = Site::start()?;
    let folder = site.scratch().join("contract");
    std::fs::create_dir_all(folder.join("typescript"))?;
    std::fs::write(folder.join("openapi.json"), site.description()?)?;
    lint(&tools, &folder)?;
    generate(&tools, &folder)?;
    in_typescript(&tools, &site, &folder)?;
    in_python(&tools, &site, &folder)?;
    site.is_alive()
}

fn file(name: &str) -> std::path::PathBuf {
    workspace::root().join("xtask/contract").join(name)
}

fn lint(tools: &Tools, folder: &Path) -> Result<()> {
    let mut redocly = tools.npm_program("redocly");
    redocly.args(["lint", "openapi.json", "--format", "stylish", "--config"]).arg(file("redocly.yaml"));
    // It asks nobody whether it is new enough, and tells nobody that it ran.
    redocly.env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true").env("REDOCLY_TELEMETRY", "off").current_dir(folder);
    workspace::run(&mut redocly).context("Redocly's linter finds fault with the description")
}

/// Both clients by one Java, which takes longest to start.
fn generate(tools: &Tools, folder: &Path) -> Result<()> {
    let mut java = Command::new(program::get("java")?);
    java.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-jar"]);
    java.arg(&tools.generator).args(["batch", "--fail-fast"]).args([file("typescript.yaml"), file("python.yaml")]);
    let log = std::fs::File::create(folder.join("generator.log"))?;
    java.stdout(log.try_clone()?).stderr(log).current_dir(folder);
    workspace::run(&mut java).with_context(|| program::tail(&folder.join("generator.log")))
}

fn in_typescript(tools: &Tools, site: &Site, folder: &Path) -> Result<()> {
    let folder = folder.join("typescript");
    for name in ["flow.ts", "tsconfig.json"] {
        std::fs::copy(file(name), folder.join(name)).with_context(|| format!("could not copy {name}"))?;
    }
    let mut compiler = tools.npm_program("tsc");
    workspace::run(compiler.args(["--project", "tsconfig.json"]).current_dir(&folder))
        .context("the client in TypeScript does not compile")?;
    let mut node = Command::new(program::get("node")?);
    workspace::run(in_flow(node.arg("compiled/flow.js"), site).current_dir(&folder))
        .context("the client in TypeScript could not do what it should")
}

fn in_python(tools: &Tools, site: &Site, folder: &Path) -> Result<()> {
    let mut python = Command::new(&tools.python);
    python.arg(file("flow.py")).env("PYTHONPATH", folder.join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    workspace::run(in_flow(&mut python, site)).context("the client in Python could not do what it should")
}

/// Tells a flow where the site is, and who runs it.
fn in_flow<'a>(command: &'a mut Command, site: &Site) -> &'a mut Command {
    let (name, password) = site.administrator_sign_in();
    command.env("SITE", site.url()).env("ADMIN_NAME", name).env("ADMIN_PASSWORD", password)
}
