//! What `/readyz` says: whether the parts that a request needs would answer now.

use async_trait::async_trait;
use madang_api::{PartState, Readiness};
use madang_sqlite::Lane;

use crate::site::Site;

/// Asks the parts of a site.
pub(crate) struct SiteReadiness(pub(crate) Site);

#[async_trait]
impl Readiness for SiteReadiness {
    async fn parts(&self) -> Vec<PartState> {
        let site = &self.0;
        let (writer, log) = tokio::join!(site.database.write(Lane::People, |_| Ok(())), site.log.groups());
        // Renewing the lease is a write to disk every few seconds: a disk that is full or gone shows here.
        let left_ms = site.ids.lease().until_ms - site.clock.now().as_millis();
        vec![
            part("store", writer.map(|()| "takes writes".to_owned())),
            part("log", log.map(|groups| format!("{} consumer groups", groups.len()))),
            PartState {
                name: "ids".to_owned(),
                ok: left_ms > 0,
                detail: if left_ms > 0 { "node lease held".to_owned() } else { "node lease has ended".to_owned() },
            },
        ]
    }
}

fn part<E: std::fmt::Display>(name: &str, state: Result<String, E>) -> PartState {
    let (ok, detail) = match state {
        Ok(detail) => (true, detail),
        Err(error) => (false, error.to_string()),
    };
    PartState { name: name.to_owned(), ok, detail }
}
