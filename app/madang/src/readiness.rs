//! What `/readyz` says: whether the parts that a request needs would answer now.

use async_trait::async_trait;
use madang_api::{PartState, Readiness};
use madang_sqlite::{GroupLag, Lane};

use crate::lag;
use crate::site::Site;

/// Asks the parts of a site.
pub(crate) struct SiteReadiness(pub(crate) Site);

#[async_trait]
impl Readiness for SiteReadiness {
    async fn parts(&self) -> Vec<PartState> {
        let site = &self.0;
        let (writer, lags) = tokio::join!(site.database.write(Lane::People, |_| Ok(())), site.log.lag());
        // Renewing the lease is a write to disk every few seconds: a disk that is full or gone shows here.
        let left_ms = site.ids.lease().until_ms - site.clock.now().as_millis();
        let mut parts = vec![
            part("store", writer.map(|()| "takes writes".to_owned())),
            part("log", lags.as_ref().map(|lags| format!("{} consumer groups", lags.len()))),
            PartState {
                name: "ids".to_owned(),
                ok: left_ms > 0,
                detail: if left_ms > 0 { "node lease held".to_owned() } else { "node lease has ended".to_owned() },
            },
        ];
        // A group that is behind is no reason to send readers elsewhere: what it keeps is old, and says how old.
        parts.extend(lags.unwrap_or_default().iter().map(|lag| group(site, lag)));
        parts
    }
}

fn group(site: &Site, lag: &GroupLag) -> PartState {
    let name = lag.group.as_str();
    let rests = site.groups.pause_of(name).is_some_and(|pause| pause.is_paused());
    let detail = if rests { format!("paused, {}", lag::in_words(lag)) } else { lag::in_words(lag) };
    PartState { name: format!("group {name}"), ok: true, detail }
}

fn part<E: std::fmt::Display>(name: &str, state: Result<String, E>) -> PartState {
    let (ok, detail) = match state {
        Ok(detail) => (true, detail),
        Err(error) => (false, error.to_string()),
    };
    PartState { name: name.to_owned(), ok, detail }
}
