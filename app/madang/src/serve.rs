//! `madang serve`: starts everything in order, runs until a signal, and stops in the reverse order.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use madang_api::{ApiLimits, ApiState};
use madang_kernel::Role;
use madang_member::MemberError;
use madang_messaging::{OnError, Stop, Supervisor};
use madang_web::LiveHub;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::{TcpListener, UnixListener};
use tracing::{info, warn};

use crate::config::{Config, Settings};
use crate::control::{self, ControlServer, Ending};
use crate::data_directory::DataDirectory;
use crate::operations::Operations;
use crate::readiness::SiteReadiness;
use crate::roles::{self, Roles};
use crate::signals::{Signal, Signals};
use crate::site::Site;
use crate::{consumers, hot, pages, telemetry, upkeep, write_back};

/// How long background tasks and commands may take to notice that they should end.
const BACKGROUND_STOP: Duration = Duration::from_secs(2);

/// Serves until SIGTERM or SIGINT.
pub async fn serve(config: &Config) -> anyhow::Result<()> {
    let mut signals = Signals::install()?;
    let settings = &config.settings;
    let roles = checked_roles(settings)?;
    for name in &config.ignored_environment {
        warn!("{name} in the environment is no setting and is ignored");
    }
    let data = DataDirectory::take(&settings.data, "serve")?;
    // A port that is taken is the likeliest failure: found out before anything is opened.
    let listener = TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("cannot listen on {} (setting `listen`)", settings.listen))?;
    let metrics = telemetry::start_metrics()?;
    let site = Site::open(settings, &data).await?;
    let running = Running::start(site, listener, settings, &data, &roles, metrics).await?;
    let signal = running.until_signal(&mut signals).await;
    let limit = Duration::from_millis(settings.drain_timeout_ms);
    tokio::select! {
        drained = tokio::time::timeout(limit, running.drain(limit)) => {
            drained.with_context(|| format!("not everything ended within {limit:?}; what was acknowledged is safe"))?;
        }
        second = signals.next() => second.exit_at_once(),
    }
    drop(data);
    info!("stopped");
    signal.map(|_| ())
}

fn checked_roles(settings: &Settings) -> anyhow::Result<Roles> {
    let roles: Roles = settings.roles.parse()?;
    if !roles::Role::ALL.into_iter().all(|role| roles.has(role) || role == roles::Role::Web) {
        warn!("this version runs all services in one process; only the role web can be left out");
    }
    Ok(roles)
}

/// A server at work. Stages stop in this order: HTTP and commands, consumers, background work, the store.
struct Running {
    site: Site,
    http: Supervisor,
    commands: Supervisor,
    consumers: Supervisor,
    background: Supervisor,
}

impl Running {
    async fn start(
        site: Site,
        listener: TcpListener,
        settings: &Settings,
        data: &DataDirectory,
        roles: &Roles,
        metrics: PrometheusHandle,
    ) -> anyhow::Result<Self> {
        let background = Supervisor::new("background");
        site.keep(&background);
        site.members.refresh_revocations().await.context("cannot load revocations")?;
        if site.articles.ensure_first_board().await.context("cannot create the first board")? {
            info!("created the board general");
        }
        let setup_token = first_administrator(&site, settings).await?;
        upkeep::start(&background, &site, settings, metrics.clone());
        write_back::start(&background, site.views.clone());
        hot::start(&background, site.hot.clone());
        let read = site.read.clone();
        background.spawn("read-model-loads", OnError::Restart, move |stop| {
            let read = read.clone();
            async move { read.run(stop).await }
        });
        // From here on people read their own writes: the model hears of a change before whoever made it is answered.
        let (model, read, live) = (site.read_model.clone(), site.read.clone(), LiveHub::default());
        let open_pages = live.clone();
        site.database.on_commit(Arc::new(move |events| {
            model.merge_committed(events);
            read.note_committed(events);
            open_pages.publish(events);
        }));
        let consumers = Supervisor::new("consumers");
        consumers::start(&consumers, &site).await.context("cannot start the consumer groups")?;

        let commands = Supervisor::new("commands");
        let socket = control::listen(data.path()).context("cannot listen on the control socket")?;
        serve_commands(&commands, &site, data.path(), socket);

        let address = listener.local_addr()?;
        let router = router(&site, settings, roles, metrics, setup_token.clone(), live.clone())?;
        let http = Supervisor::new("http");
        pages::end_streams(&http, live);
        serve_http(&http, listener, router, http_share(Duration::from_millis(settings.drain_timeout_ms)));
        announce(address, setup_token.as_deref(), roles.has(roles::Role::Web), data.path());
        Ok(Self { site, http, commands, consumers, background })
    }

    /// What ended the work: a signal, or a stage that cannot go on.
    async fn until_signal(&self, signals: &mut Signals) -> anyhow::Result<Signal> {
        tokio::select! {
            signal = signals.next() => {
                info!("{signal}: finishing what is under way");
                Ok(signal)
            }
            failed = self.http.failed() => bail!("HTTP: {failed}"),
        }
    }

    async fn drain(self, limit: Duration) {
        tokio::join!(self.http.shutdown(limit), self.commands.shutdown(BACKGROUND_STOP));
        self.consumers.shutdown(BACKGROUND_STOP).await;
        self.background.shutdown(BACKGROUND_STOP).await;
        write_back::finish(&self.site.views).await;
        self.site.close().await;
    }
}

/// What requests under way may take of the time that a stop has: the rest is for the store.
fn http_share(limit: Duration) -> Duration {
    limit - (limit / 4).min(BACKGROUND_STOP)
}

/// Creates the administrator that the settings name; otherwise, while there is none, the token of the set-up link.
async fn first_administrator(site: &Site, settings: &Settings) -> anyhow::Result<Option<Arc<str>>> {
    if site.members.has_admin().await? {
        return Ok(None);
    }
    if settings.admin_name.is_empty() {
        let secret: [u8; 32] = rand::random();
        let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        return Ok(Some(token.into()));
    }
    match site.members.register_with_role(&settings.admin_name, &settings.admin_password, Role::Admin).await {
        Ok(member) => info!("created the administrator {}", member.name),
        // Giving the role to whoever registered the name first would hand them the site.
        Err(MemberError::NameTaken) => {
            bail!("an ordinary member has the name {:?}: set MADANG_ADMIN_NAME to another", settings.admin_name)
        }
        Err(error) => return Err(error).context("cannot create the administrator of MADANG_ADMIN_NAME"),
    }
    Ok(None)
}

fn router(
    site: &Site,
    settings: &Settings,
    roles: &Roles,
    metrics: PrometheusHandle,
    setup_token: Option<Arc<str>>,
    live: LiveHub,
) -> anyhow::Result<Router> {
    let api = ApiState {
        members: site.members.clone(),
        articles: site.articles.clone(),
        comments: site.comments.clone(),
        likes: site.likes.clone(),
        views: site.views.clone(),
        read: site.read.clone(),
        rendered: madang_api::Rendered::default(),
        hot: site.hot.clone(),
        guests: site.guests.clone(),
        readiness: Arc::new(SiteReadiness(site.clone())),
        metrics: Arc::new(move || metrics.render()),
        limits: ApiLimits {
            body_bytes: settings.body_limit_bytes,
            in_flight: settings.in_flight_max,
            request_timeout: Duration::from_millis(settings.request_timeout_ms),
            cookies_secure: settings.cookies_secure,
            trusted_proxies: settings.trusted_proxies.parse().context("setting `trusted_proxies`")?,
        },
    };
    if !roles.has(roles::Role::Web) {
        return Ok(madang_api::router(api));
    }
    let pages = pages::state(site, settings, &api.limits, setup_token, live)?;
    Ok(madang_api::router_with_pages(api, madang_web::router(pages)))
}

fn serve_http(supervisor: &Supervisor, listener: TcpListener, router: Router, drain: Duration) {
    let listener = Mutex::new(Some(listener));
    supervisor.spawn("http", OnError::Stop, move |stop: Stop| {
        let listener = listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let router = router.clone();
        async move {
            let listener = listener.ok_or("the listener is gone")?;
            madang_api::serve(listener, router, stop.cancelled_owned(), drain).await;
            Ok::<(), &str>(())
        }
    });
}

fn serve_commands(supervisor: &Supervisor, site: &Site, data: &Path, socket: UnixListener) {
    let operations = Operations::beside_people(site.clone());
    let server = Arc::new(ControlServer::new(Box::new(move |request, report| {
        let operations = operations.clone();
        Box::pin(async move { operations.run(request, report).await }) as futures_util::future::BoxFuture<'_, Ending>
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
fn announce(address: SocketAddr, setup_token: Option<&str>, pages: bool, data: &Path) {
    let mut text = format!("listening on http://{address}\n");
    if let Some(token) = setup_token {
        text.push_str(&format!(
            "This site has no administrator yet. To become one, do one of these:\n\
             - run: madang member create --role admin --name NAME --password-stdin --data {}\n\
             - start with MADANG_ADMIN_NAME and MADANG_ADMIN_PASSWORD in the environment\n",
            data.display()
        ));
        if pages {
            text.push_str(&format!("- open: http://{address}/setup?token={token}\n"));
        }
    }
    let mut stdout = std::io::stdout().lock();
    // Nobody may be reading; the server works all the same.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
