//! What `/readyz` says: whether the parts that a request needs would answer now.

use async_trait::async_trait;
use madang_server::{PartState, Readiness};

use crate::composition::site::Site;

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

/// Whether ids can be issued.
pub(crate) fn ids(site: &Site) -> PartState {
    let left_ms = site.ids.lease().until_ms - site.clock.now().as_millis();
    let detail = if left_ms > 0 { "node lease held" } else { "node lease has ended" };
    PartState { name: "ids".to_owned(), ok: left_ms > 0, detail: detail.to_owned() }
}
