//! `madang serve`: starts everything in order, runs until a signal, and stops in the reverse order.

mod bootstrap;
mod certificate_end;
mod connections;
mod operations;
mod pages;
mod public;
pub(crate) mod readiness;
mod signals;

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use madang_messaging::{OnError, Stop, Supervisor};
use madang_server::Server;
use tokio::net::{TcpListener, UnixListener};
use tracing::info;

use self::bootstrap::Administrator;
use self::connections::PublicConnections;
use self::signals::{Signal, Signals};
use crate::commands::control::{self, ControlServer, Ending};
use crate::commands::operations::Operations;
use crate::composition;
use crate::composition::site::{Site, Stages};
use crate::config::data_directory::DataDirectory;
use crate::config::roles::{Role, Roles};
use crate::config::{Config, Settings};
use crate::tasks::{consumers, hot_days, search_upkeep, upkeep, write_back};
use crate::telemetry::{Metrics, gauges};

/// How long background tasks and commands may take to notice that they should end.
const BACKGROUND_STOP: Duration = Duration::from_secs(2);
/// How long events under way may take to reach the log; what does not is found in the outbox later.
const RELAYS_STOP: Duration = Duration::from_secs(6);

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn serve(config: &Config) -> anyhow::Result<()> {
    let mut signals = Signals::install()?;
    let settings = &config.settings;
    let roles = checked_roles(settings)?;
    let data = match settings.cluster {
        None => Some(DataDirectory::take(&settings.data, "serve")?),
        Some(_) => None,
    };
    // A port that is taken is the likeliest failure: found out before anything is opened.
    let listener = TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("cannot listen on {} (setting `listen`)", settings.listen))?;
    let operations = operations::listener(settings).await?;
    let internal = internal_listener(settings).await?;
    let connections = PublicConnections::prepare(settings)?;
    let metrics = Metrics::start(settings.cluster.is_some())?;
    let site = composition::open(settings, roles, data.as_ref()).await?;
    let listeners = Listeners { public: listener, operations, internal, connections };
    let running = Running::start(site, listeners, settings, data.as_ref(), metrics).await?;
    let signal = running.until_signal(&mut signals).await;
    let limit = Duration::from_millis(settings.drain_timeout_ms);
    tokio::select! {
        drained = tokio::time::timeout(limit, running.drain(limit)) => {
            drained.with_context(|| format!("shut down before everything had ended, because {limit:?} (setting `drain_timeout_ms`) had passed; nothing that was acknowledged is lost"))?;
        }
        second = signals.next() => second.exit_at_once(),
    }
    drop(data);
    info!("stopped");
    signal.map(|_| ())
}

/// Where people and other processes are listened to.
struct Listeners {
    public: TcpListener,
    operations: Option<TcpListener>,
    internal: Option<TcpListener>,
    /// How people get in at the first of them, and other processes at the last.
    connections: PublicConnections,
}

async fn internal_listener(settings: &Settings) -> anyhow::Result<Option<TcpListener>> {
    let listen = settings.cluster.as_ref().map(|cluster| cluster.internal.listen.as_str()).filter(|at| !at.is_empty());
    let Some(listen) = listen else { return Ok(None) };
    let bound = TcpListener::bind(listen).await;
    bound.map(Some).with_context(|| format!("cannot listen on {listen} (setting `cluster.internal.listen`)"))
}

fn checked_roles(settings: &Settings) -> anyhow::Result<Roles> {
    let roles: Roles = settings.roles.parse()?;
    // Lists from before there was search are still complete.
    let others = Role::ALL.into_iter().filter(|role| !matches!(role, Role::Web | Role::Search));
    if settings.cluster.is_none() && !others.into_iter().all(|role| roles.has(role)) {
        bail!(
            "without a section [cluster] one process has to run every service: only the role web can be left out of --roles"
        );
    }
    Ok(roles)
}

/// A server at work, by the stages in which it stops.
struct Running {
    site: Site,
    http: Supervisor,
    internal: Supervisor,
    commands: Supervisor,
    consumers: Supervisor,
    coordinators: Supervisor,
    relays: Supervisor,
    background: Supervisor,
}

impl Running {
    async fn start(
        site: Site,
        listeners: Listeners,
        settings: &Settings,
        data: Option<&DataDirectory>,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        let background = Supervisor::new("background");
        site.keep(&background);
        let administrator = bootstrap::run(&site, settings, &background).await?;
        upkeep::start(&background, &site, settings, metrics.clone());
        gauges::start(&background, &site);
        start_services(&background, &site);
        let (coordinators, relays) = (Supervisor::new("coordinators"), Supervisor::new("relays"));
        let stages = Stages { coordinators: &coordinators, relays: &relays, background: &background };
        site.backing.start(&site, &stages);
        let consumers = Supervisor::new("consumers");
        consumers::start(&consumers, &site).await.context("cannot start the consumer groups")?;

        let commands = Supervisor::new("commands");
        if let Some(data) = data {
            let socket = control::listen(data.path()).context("cannot listen on the control socket")?;
            serve_commands(&commands, &site, data.path(), socket);
        }

        let internal = Supervisor::new("internal");
        if let Some((listener, router)) = listeners.internal.zip(site.internal.clone()) {
            info!("listening for other processes on http://{}", listener.local_addr()?);
            serve_http(&internal, listeners.connections.internal_server(listener), router, BACKGROUND_STOP);
        }
        let address = listeners.public.local_addr()?;
        let public::Routers { public: router, operations } = public::routers(&site, settings, metrics)?;
        let http = Supervisor::new("http");
        if let Some(listener) = listeners.operations {
            info!("listening for operators on http://{}", listener.local_addr()?);
            serve_http(&internal, operations::server(listener), operations, BACKGROUND_STOP);
        }
        pages::end_streams(&http, site.live.clone());
        listeners.connections.renew_on_hangup(&background)?;
        serve_http(&http, listeners.connections.server(listeners.public), router, http_share(settings));
        let address = format!("{}://{address}", listeners.connections.scheme());
        announce(&address, administrator, &site, data);
        Ok(Self { site, http, internal, commands, consumers, coordinators, relays, background })
    }

    /// What ended the work: a signal, or a stage that cannot go on.
    async fn until_signal(&self, signals: &mut Signals) -> anyhow::Result<Signal> {
        tokio::select! {
            signal = signals.next() => {
                info!("received {signal}, finishing the requests that have begun");
                Ok(signal)
            }
            failed = self.http.failed() => bail!("the HTTP server stopped: {failed}"),
            failed = self.internal.failed() => bail!("the internal HTTP server stopped: {failed}"),
        }
    }

    /// Shards and partitions are let go of at once, so that other processes have them while requests finish here. Whatever
    /// writes ends before what carries events to the log, and that before the store.
    async fn drain(self, limit: Duration) {
        tokio::join!(
            self.http.shutdown(limit),
            self.commands.shutdown(BACKGROUND_STOP),
            self.consumers.shutdown(BACKGROUND_STOP),
            self.coordinators.shutdown(BACKGROUND_STOP),
        );
        self.internal.shutdown(BACKGROUND_STOP).await;
        self.background.shutdown(BACKGROUND_STOP).await;
        if let Some(views) = &self.site.services.views {
            write_back::finish(views).await;
        }
        self.relays.shutdown(RELAYS_STOP).await;
        self.site.close().await;
    }
}

/// Starts what the services of this process need to run.
fn start_services(background: &Supervisor, site: &Site) {
    if let Some(views) = site.services.views.clone() {
        write_back::start(background, views);
    }
    if let Some(hot) = site.services.hot.clone().filter(|_| site.roles.has(Role::HotArticle)) {
        hot_days::start(background, hot);
    }
    if let Some(search) = site.services.search.clone().filter(|search| search.is_configured()) {
        search_upkeep::start(background, search, site.clock.clone());
    }
    if let Some(read) = site.services.read.clone() {
        background.spawn("read-model-loads", OnError::Restart, move |stop| {
            let read = read.clone();
            async move { read.run(stop).await }
        });
    }
}

/// What requests under way may take of the time that a stop has: the rest is for the store, and for the log of a cluster.
fn http_share(settings: &Settings) -> Duration {
    let limit = Duration::from_millis(settings.drain_timeout_ms);
    match settings.cluster {
        None => limit - (limit / 4).min(BACKGROUND_STOP),
        Some(_) => limit - (limit / 2).min(RELAYS_STOP + BACKGROUND_STOP),
    }
}

fn serve_http(supervisor: &Supervisor, server: Server, router: Router, drain: Duration) {
    let server = Mutex::new(Some(server));
    supervisor.spawn("http", OnError::Stop, move |stop: Stop| {
        let server = server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let router = router.clone();
        async move {
            let server = server.ok_or("the listener was closed")?;
            server.serve(router, stop.cancelled_owned(), drain).await;
            Ok::<(), &str>(())
        }
    });
}

fn serve_commands(supervisor: &Supervisor, site: &Site, data: &Path, socket: UnixListener) {
    let operations = Operations::in_background(site.clone());
    let server = Arc::new(ControlServer::new(Box::new(move |request, output| {
        let operations = operations.clone();
        Box::pin(async move { operations.run(request, output).await }) as futures_util::future::BoxFuture<'_, Ending>
    })));
    let (socket, data) = (Mutex::new(Some(socket)), data.to_owned());
    supervisor.spawn("control-socket", OnError::Restart, move |stop| {
        let first = socket.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (server, data) = (server.clone(), data.clone());
        async move {
            let socket = first.map_or_else(|| control::listen(&data), Ok)?;
            server.run(socket, stop).await;
            Ok::<(), std::io::Error>(())
        }
    });
}

/// Says where the site is and, while it has none, how to become its administrator.
fn announce(address: &str, administrator: Administrator, site: &Site, data: Option<&DataDirectory>) {
    let mut text = format!("listening on {address}\n");
    if administrator == Administrator::Missing {
        let place = data.map_or_else(|| "--config FILE".to_owned(), |data| format!("--data {}", data.path().display()));
        text.push_str(&format!(
            "This site has no administrator yet. Create one in one of these ways:\n\
             - run: madang member create --role admin --name NAME --password-stdin {place}\n\
             - start again with MADANG_ADMIN_NAME and MADANG_ADMIN_PASSWORD in the environment\n",
        ));
        if site.roles.has(Role::Web) {
            text.push_str(&format!("- open {address}/setup and enter the token {}\n", site.setup_token));
        }
    }
    let mut stdout = std::io::stdout().lock();
    // Nobody may be reading; the server works all the same.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
