//! A member's own sessions: which there are, and ending them one by one or all others at once.

use madang_board::SessionId;
use madang_kernel::Timestamp;

use crate::{Change, ChangeMember, MemberError, MemberService, Session, SessionRecord};

/// Sessions that are listed, the newest.
const LISTED_MAX: usize = 100;
/// Of what a program says of itself, so much is kept.
const AGENT_MAX_CHARS: usize = 200;

/// One of the sessions of whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSession {
    /// Names it.
    pub session_id: SessionId,
    /// When they signed in.
    pub created_at: Timestamp,
    /// When it was used last, to within a minute or two.
    pub last_seen_at: Timestamp,
    /// What the program that signed in said of itself.
    pub agent: Option<String>,
    /// Whether it is the one that asks.
    pub is_current: bool,
}

impl MemberService {
    /// The sessions of whoever asks that are good, the newest first. Of those from before sessions were kept, only the one
    /// that asks.
    pub async fn own_sessions(&self, session: &Session) -> Result<Vec<OwnSession>, MemberError> {
        let now = self.clock.now();
        let kept = self.store.sessions(session.actor.member_id, LISTED_MAX).await?;
        let good = kept.into_iter().filter(|record| self.sessions.is_good(record, now));
        let mut listed: Vec<OwnSession> = good.map(|record| listed(record, session)).collect();
        if !listed.iter().any(|own| own.is_current) {
            let Session { session_id, created_at, .. } = *session;
            listed.insert(0, OwnSession { session_id, created_at, last_seen_at: now, agent: None, is_current: true });
        }
        Ok(listed)
    }

    /// Ends one of the sessions of whoever asks: at once here, within the polling interval elsewhere.
    pub async fn end_own_session(&self, session: &Session, ends: SessionId) -> Result<(), MemberError> {
        if ends == session.session_id {
            return self.sign_out(session).await;
        }
        let found = self.store.find_session(ends).await?;
        let found = found.filter(|record| record.member_id == session.actor.member_id).ok_or(MemberError::NotFound)?;
        self.end_session(found.session_id, found.expires_at).await
    }

    /// Ends every session of whoever asks but the one that asks, also those that no list knows.
    pub async fn end_other_sessions(&self, session: &Session) -> Result<(), MemberError> {
        let change = Change::EndOtherSessions { keep: session.session_id };
        let (member_id, changed_at) = (session.actor.member_id, self.clock.now());
        self.change(ChangeMember { member_id, change, changed_at, act: None }).await?;
        Ok(())
    }
}

fn listed(record: SessionRecord, asks: &Session) -> OwnSession {
    let SessionRecord { session_id, created_at, last_seen_at, agent, .. } = record;
    let agent = Some(agent).filter(|agent| !agent.is_empty());
    OwnSession { session_id, created_at, last_seen_at, agent, is_current: session_id == asks.session_id }
}

/// What is kept of what a program says of itself: a line, and not a long one.
pub(crate) fn kept_agent(agent: &str) -> String {
    agent.chars().filter(|char| !char.is_control()).take(AGENT_MAX_CHARS).collect()
}
