//! What a site needs before its first request: the revoked sessions, a first board, a first administrator. Where parts may
//! be away at a start, what could not be done is done when they are back.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_article::ArticleError;
use madang_board::Role;
use madang_kernel::StoreError;
use madang_member::{MemberError, MemberService};
use madang_messaging::{OnError, Stop, Supervisor};
use tracing::{error, info, warn};

use crate::composition::site::Site;
use crate::config::Settings;

/// Between two attempts while a part is away.
const RETRY_MS: u64 = 2_000;

/// Why a site could not be made ready.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BootstrapError {
    /// A part is away; later it works.
    #[error("{0}")]
    Unavailable(StoreError),
    /// It will not work later either.
    #[error("{0}")]
    Refused(String),
}

/// Whether the site has an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Administrator {
    /// There is one.
    Known,
    /// There is none, and the settings name none.
    Missing,
    /// Nobody can tell now, or it is not this process's business.
    Unknown,
}

/// Makes the site ready, or leaves that to the background where a part is away and the site starts without it.
pub(crate) async fn run(site: &Site, settings: &Settings, background: &Supervisor) -> anyhow::Result<Administrator> {
    match make_ready(site, settings).await {
        Ok(administrator) => Ok(administrator),
        Err(BootstrapError::Unavailable(error)) if site.backing.is_shared() => {
            warn!(
                "starting while a part is not available; revocations are read, and the first board and administrator are created, when it is back: {error}"
            );
            let (site, settings) = (site.clone(), Arc::new(settings.clone()));
            background.spawn("bootstrap", OnError::Restart, move |stop| later(site.clone(), settings.clone(), stop));
            Ok(Administrator::Unknown)
        }
        Err(error) => Err(error.into()),
    }
}

async fn later(site: Site, settings: Arc<Settings>, stop: Stop) -> Result<(), Infallible> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(RETRY_MS)) => {}
        }
        match make_ready(&site, &settings).await {
            Ok(_) => return Ok(()),
            Err(BootstrapError::Unavailable(_)) => {}
            Err(BootstrapError::Refused(reason)) => {
                error!("cannot prepare the site for its first request: {reason}");
                return Ok(());
            }
        }
    }
}

async fn make_ready(site: &Site, settings: &Settings) -> Result<Administrator, BootstrapError> {
    site.services.sessions.refresh().await?;
    if let Some(articles) = &site.services.articles
        && articles.ensure_first_board().await?
    {
        info!("created the first board, general");
    }
    match &site.services.members {
        Some(members) => first_administrator(members, settings).await,
        None => Ok(Administrator::Unknown),
    }
}

/// Creates the administrator that the settings name, while there is none.
async fn first_administrator(members: &MemberService, settings: &Settings) -> Result<Administrator, BootstrapError> {
    if members.has_admin().await? {
        return Ok(Administrator::Known);
    }
    if settings.admin_name.is_empty() {
        return Ok(Administrator::Missing);
    }
    match members.register_with_role(&settings.admin_name, &settings.admin_password, Role::Admin).await {
        Ok(member) => info!("created the administrator {}", member.name),
        // Another process may have been faster. Giving the role to whoever registered the name first would hand them
        // the site.
        Err(MemberError::NameTaken) if !members.has_admin().await? => {
            let name = &settings.admin_name;
            let text =
                format!("the name {name:?} belongs to an ordinary member: set MADANG_ADMIN_NAME to another name");
            return Err(BootstrapError::Refused(text));
        }
        Err(MemberError::NameTaken) => {}
        Err(MemberError::Store(error)) => return Err(error.into()),
        Err(error) => {
            let text = format!("cannot create the administrator that MADANG_ADMIN_NAME names: {error}");
            return Err(BootstrapError::Refused(text));
        }
    }
    Ok(Administrator::Known)
}

impl From<StoreError> for BootstrapError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Unavailable(error),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<MemberError> for BootstrapError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<ArticleError> for BootstrapError {
    fn from(error: ArticleError) -> Self {
        match error {
            ArticleError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}
