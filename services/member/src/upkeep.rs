//! What is done for members from time to time, beside their requests.

use crate::{MemberError, MemberService};

/// Moderators and administrators that are known; past it some have no badge.
const STAFF_MAX: usize = 10_000;
/// Sessions noted in one transaction.
const SEEN_SLICE: usize = 200;
/// Members given their skeletons in one transaction.
const SKELETONS_SLICE: usize = 200;

impl MemberService {
    /// Reads again who runs the site, stores which sessions were used, and gives members from before skeletons were kept
    /// theirs.
    pub async fn keep_up(&self) -> Result<(), MemberError> {
        self.staff.replace(self.store.staff(STAFF_MAX).await?);
        for seen in self.sessions.take_seen().chunks(SEEN_SLICE) {
            self.store.note_seen(seen.to_vec()).await?;
        }
        while self.store.give_skeletons(SKELETONS_SLICE).await? == SKELETONS_SLICE {}
        Ok(())
    }
}
