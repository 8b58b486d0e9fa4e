//! What a site needs before people come: the sessions that have ended, a first board, a first administrator. Where parts
//! may be away at a start, what could not be done is done when they are back.

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
const AGAIN_MS: u64 = 2_000;

/// Why a step was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// A part is away; later it works.
    #[error("{0}")]
    Away(StoreError),
    /// It will not work later either.
    #[error("{0}")]
    Refused(String),
}

/// How the site stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Administrator {
    /// There is one.
    Known,
    /// There is none, and the settings name none.
    Missing,
    /// Nobody can tell now, or it is not this process's business.
    Unknown,
}

/// Takes every step, or leaves them to the background where a part is away and the site starts without it.
pub(crate) async fn take(site: &Site, settings: &Settings, background: &Supervisor) -> anyhow::Result<Administrator> {
    match every_step(site, settings).await {
        Ok(administrator) => Ok(administrator),
        Err(StepError::Away(error)) if site.backing.is_shared() => {
            warn!("starting without a part that the first steps of a site need, trying on: {error}");
            let (site, settings) = (site.clone(), Arc::new(settings.clone()));
            background.spawn("first-steps", OnError::Restart, move |stop| later(site.clone(), settings.clone(), stop));
            Ok(Administrator::Unknown)
        }
        Err(error) => Err(error.into()),
    }
}

async fn later(site: Site, settings: Arc<Settings>, stop: Stop) -> Result<(), Infallible> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(AGAIN_MS)) => {}
        }
        match every_step(&site, &settings).await {
            Ok(_) => return Ok(()),
            Err(StepError::Away(_)) => {}
            Err(StepError::Refused(reason)) => {
                error!("{reason}");
                return Ok(());
            }
        }
    }
}

async fn every_step(site: &Site, settings: &Settings) -> Result<Administrator, StepError> {
    site.services.sessions.refresh().await?;
    if let Some(articles) = &site.services.articles
        && articles.ensure_first_board().await?
    {
        info!("created the board general");
    }
    match &site.services.members {
        Some(members) => first_administrator(members, settings).await,
        None => Ok(Administrator::Unknown),
    }
}

/// Creates the administrator that the settings name, while there is none.
async fn first_administrator(members: &MemberService, settings: &Settings) -> Result<Administrator, StepError> {
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
            let text = format!("an ordinary member has the name {name:?}: set MADANG_ADMIN_NAME to another");
            return Err(StepError::Refused(text));
        }
        Err(MemberError::NameTaken) => {}
        Err(MemberError::Store(error)) => return Err(error.into()),
        Err(error) => {
            let text = format!("cannot create the administrator of MADANG_ADMIN_NAME: {error}");
            return Err(StepError::Refused(text));
        }
    }
    Ok(Administrator::Known)
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Away(error),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<MemberError> for StepError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<ArticleError> for StepError {
    fn from(error: ArticleError) -> Self {
        match error {
            ArticleError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}
