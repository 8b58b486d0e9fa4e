//! What `/readyz` says: whether the parts that a request needs would answer now; and how the process has fared until now.

use async_trait::async_trait;
use madang_server::{HealthHistory, HealthSlot, PartState, Readiness};

use crate::composition::site::Site;
use crate::telemetry::Metrics;

/// Asks the parts of a site.
pub(crate) struct SiteReadiness(pub(crate) Site);

#[async_trait]
impl Readiness for SiteReadiness {
    async fn parts(&self) -> Vec<PartState> {
        self.0.backing.parts(&self.0).await
    }

    fn can_serve(&self, parts: &[PartState]) -> bool {
        self.0.backing.can_serve(parts)
    }
}

/// How this process has fared, as its figures tell.
pub(crate) struct SiteHistory(pub(crate) Metrics);

impl HealthHistory for SiteHistory {
    fn slots(&self) -> Vec<HealthSlot> {
        self.0.last_day()
    }
}

/// What the state of sessions is called.
pub(crate) const SESSIONS: &str = "sessions";

/// Whether this process knows which sessions have ended; while it does not, it believes no token.
pub(crate) fn sessions(site: &Site) -> PartState {
    let sessions = &site.services.sessions;
    let detail = match sessions.refreshed_at() {
        None => "revocations have not been read yet, so every token is refused".to_owned(),
        Some(read) => {
            let age_s = site.clock.now().since(read).as_secs();
            let consequence = if sessions.is_current() { "" } else { ", which is too long: every token is refused" };
            format!("revocations read {age_s} s ago{consequence}")
        }
    };
    PartState { name: SESSIONS.to_owned(), ok: sessions.is_current(), detail }
}

/// Whether ids can be issued.
pub(crate) fn ids(site: &Site) -> PartState {
    let left_ms = site.ids.lease().until_ms - site.clock.now().as_millis();
    let detail = if left_ms > 0 { "node lease held" } else { "node lease has ended" };
    PartState { name: "ids".to_owned(), ok: left_ms > 0, detail: detail.to_owned() }
}
