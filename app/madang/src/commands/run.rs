//! From the command line to an exit code: decides who does the work, this process or the server beside it.

use std::io::Read as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Parser as _;
use madang_messaging::Supervisor;
use tokio::runtime::Runtime;

use super::cli::{Cli, Command, CopyArgs, CopyFrom, KeysCommand, MemberCommand, PASSWORD_MAX_BYTES};
use super::console::Console;
use super::control::{self, ControlError, ControlRequest, Ending};
use super::copy::Copy;
use super::operations::Operations;
use super::output::Output;
use super::{backup, doctor, manual, shards, upgrade};
use crate::config::data_directory::{DataDirectory, DataDirectoryError};
use crate::config::keys;
use crate::config::roles::Roles;
use crate::config::{self, Config, Settings, Sources};
use crate::{composition, serve, telemetry};

/// How long a command waits for a server that is just starting or stopping.
pub(super) const SERVER_WAIT: Duration = Duration::from_secs(10);
/// How often it looks.
pub(super) const SERVER_LOOK: Duration = Duration::from_millis(50);
/// How long tasks of a command may take to end.
const TASKS_STOP: Duration = Duration::from_secs(2);
/// Sockets that are taken up at a time: half of what the runtime does between two looks at them, so that what is begun ends
/// before more is begun. What it cannot get to waits in the system, first come first served, and not in queues of the
/// runtime that let the latest go first.
const EVENTS_AT_ONCE: usize = 32;

/// Runs the program.
pub fn run() -> ExitCode {
    match try_run(&Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("madang: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(cli: &Cli) -> anyhow::Result<u8> {
    let serving = matches!(cli.command, None | Some(Command::Serve(_)));
    if !serving && (cli.serve.listen.is_some() || cli.serve.roles.is_some()) {
        bail!("--listen and --roles can only be used with `madang serve`");
    }
    if let Some(Command::Manual { directory }) = &cli.command {
        return manual::write(directory).map(|()| 0);
    }
    let sources =
        Sources { file: cli.common.config.clone(), environment: config::of_process()?, flags: cli.setting_flags() };
    if let Some(Command::Copy(args)) = &cli.command {
        return copy(args, sources);
    }
    let config = Config::load(&sources)?;
    telemetry::start_log(&config, serving)?;
    if matches!(cli.command, Some(Command::Config)) {
        print!("{}", config.describe());
        return Ok(0);
    }
    if matches!(cli.command, Some(Command::Keys(KeysCommand::Rotate))) {
        return rotate_key(&config.settings);
    }
    match &cli.command {
        Some(Command::Backup(args)) => {
            backup::yield_to_others();
            return runtime()?.block_on(backup::backup(args, &config.settings));
        }
        Some(Command::Doctor(args)) => {
            let file = cli.common.config.as_deref();
            return runtime()?.block_on(doctor::doctor(*args, &config.settings, file));
        }
        Some(Command::Shards(command)) => return runtime()?.block_on(shards::shards(command, &config.settings)),
        Some(Command::Upgrade(_)) => return runtime()?.block_on(upgrade::upgrade(&config.settings)),
        Some(Command::Restore(args)) => return backup::restore(args, &config.settings),
        _ => {}
    }
    let runtime = runtime()?;
    match cli.command.as_ref().filter(|_| !serving) {
        None => runtime.block_on(serve::serve(&config)).map(|()| 0),
        Some(command) => runtime.block_on(perform(command, &config.settings)),
    }
}

/// Needs no lock: the file is exchanged as a whole, and a server reads it at its start only.
fn rotate_key(settings: &Settings) -> anyhow::Result<u8> {
    if settings.cluster.is_some() {
        bail!(
            "the keys of a cluster are derived from its secret: to sign with a new one, raise `cluster.token_generation` \
             by one in every process"
        );
    }
    if !settings.data.is_dir() {
        bail!("there is no data directory {}: name another with --data", settings.data.display());
    }
    let kept = keys::rotate_token_key(&settings.data)?;
    println!(
        "created a new key: it signs tokens once the server is started again; tokens signed with {} earlier {} stay valid",
        kept - 1,
        if kept == 2 { "key" } else { "keys" }
    );
    Ok(0)
}

fn runtime() -> anyhow::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().max_io_events_per_tick(EVENTS_AT_ONCE).build().context("cannot start the runtime")
}

/// Copies between two sites, each with settings of its own: those of a cluster belong to the file of --to alone.
fn copy(args: &CopyArgs, sources: Sources) -> anyhow::Result<u8> {
    let CopyFrom::Embedded = args.from;
    let to = Config::load(&Sources { file: Some(args.to.clone()), ..sources.clone() })?;
    let mut sources = sources;
    sources.environment.retain(|(name, _)| !name.starts_with("MADANG_CLUSTER_"));
    sources.flags.retain(|(key, _, _)| !key.starts_with("cluster."));
    let from = Config::load(&sources)?;
    if from.settings.cluster.is_some() {
        bail!(
            "--config must be the configuration of the site to copy from, but that file has a section [cluster]: give \
             the file of the cluster with --to"
        );
    }
    telemetry::start_log(&from, false)?;
    runtime()?.block_on(async {
        let data = DataDirectory::take_existing(&from.settings.data, "copy")
            .context("stop the server first: a site can only be copied while none is running on it")?;
        let slice = usize::try_from(args.slice).unwrap_or(usize::MAX);
        let copy = Copy { data: &data, from: &from.settings, to: &to.settings, slice };
        let mut console = Console::new(None)?;
        let (output, mut lines) = Output::channel();
        // The output ends with the work, and with it what shows it.
        let work = async move { copy.run(&output).await };
        let show = async {
            while let Some(line) = lines.recv().await {
                console.show(line);
            }
        };
        let (outcome, ()) = tokio::join!(work, show);
        console.finish()?;
        outcome
    })
}

async fn perform(command: &Command, settings: &Settings) -> anyhow::Result<u8> {
    let password = match command {
        Command::Member(MemberCommand::Create { .. }) => password_from_stdin()?,
        _ => String::new(),
    };
    let Some(request) = command.request(password) else { bail!("this command does not work on a site") };
    let tokens = match command {
        Command::Seed(args) => args.tokens.as_deref(),
        _ => None,
    };
    let mut console = Console::new(tokens)?;
    let outcome = match settings.cluster {
        None => here_or_there(&request, settings, &mut console).await,
        Some(_) => here(&request, settings, None, &mut console).await,
    };
    console.finish()?;
    outcome
}

/// Takes the directory and works here, or has the server that holds it do the work. A server that is starting or
/// stopping holds the directory without answering: look again until one of both works.
async fn here_or_there(request: &ControlRequest, settings: &Settings, console: &mut Console) -> anyhow::Result<u8> {
    let deadline = Instant::now() + SERVER_WAIT;
    loop {
        let taken = match request.makes_data() {
            true => DataDirectory::take(&settings.data, request.name()),
            false => DataDirectory::take_existing(&settings.data, request.name()),
        };
        let in_use = match taken {
            Ok(data) => return here(request, settings, Some(&data), console).await,
            Err(error @ DataDirectoryError::InUse { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        match control::ask(&settings.data, request, |line| console.show(line)).await {
            Err(ControlError::NobodyListens(_)) if Instant::now() < deadline => tokio::time::sleep(SERVER_LOOK).await,
            Err(ControlError::NobodyListens(_)) => {
                bail!("{in_use}, which does not respond: try again when that process has ended")
            }
            outcome => return Ok(outcome?),
        }
    }
}

/// Opens the site in this process and has it carry a request out.
pub(super) async fn here(
    request: &ControlRequest,
    settings: &Settings,
    data: Option<&DataDirectory>,
    console: &mut Console,
) -> anyhow::Result<u8> {
    let site = composition::open(settings, Roles::ALL, data).await?;
    let tasks = Supervisor::new("command");
    site.keep(&tasks);
    let operations = Operations::alone(site.clone());
    let (output, mut lines) = Output::channel();
    let work = operations.run(request.clone(), output);
    let show = async {
        while let Some(line) = lines.recv().await {
            console.show(line);
        }
    };
    let (ending, ()) = tokio::join!(work, show);
    tasks.shutdown(TASKS_STOP).await;
    drop(operations);
    site.close().await;
    match ending {
        Ending::Exit(code) => Ok(code),
        Ending::Failed(reason) => bail!(reason),
    }
}

fn password_from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().take(PASSWORD_MAX_BYTES).read_to_string(&mut text).context("cannot read the password")?;
    // `echo` ends its line, and nobody means that as part of the password.
    let password = text.strip_suffix('\n').unwrap_or(&text);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        bail!(
            "there is no password on standard input: pipe it in, as in echo 'a long secret' | madang member create …"
        );
    }
    Ok(password.to_owned())
}
