//! What moderators and administrators do to members: roles, suspensions, boards to look after. Each with its line in the
//! log of moderation, in one transaction.

use madang_board::rules::{About, Action, Refused, may};
use madang_board::{Act, ActKind, Actor, BoardId, MemberId, Reason, Role};
use madang_kernel::{Id, Invalid, ShardId, Timestamp};

use crate::{Change, ChangeMember, Member, MemberError, MemberService};

/// Moderators of a board that are listed.
pub const MODERATORS_MAX: usize = 100;

impl MemberService {
    /// Gives a member a role (administrators). An administrator keeps the role until another takes it, so that the site
    /// is never left without one by mistake.
    pub async fn set_role(&self, actor: &Actor, member: MemberId, role: Role) -> Result<Member, MemberError> {
        may(actor, Action::GiveRole, About::NOTHING)?;
        if actor.member_id == member && role < Role::Admin {
            return Err(Refused::NotAllowed(
                "You cannot give up your own administrator role. Another administrator has to change it.",
            )
            .into());
        }
        let mut act = self.act(actor, ActKind::RoleGiven, member)?;
        act.detail = role.name().to_owned();
        self.supervise(member, Change::Role(role), act).await
    }

    /// Has a member only read until `until` (moderators; administrators also moderators).
    pub async fn suspend(
        &self,
        actor: &Actor,
        member: MemberId,
        until: Timestamp,
        reason: &str,
    ) -> Result<Member, MemberError> {
        may(actor, Action::Suspend(Role::Member), About::NOTHING)?;
        let reason = Reason::required(reason)?;
        if until <= self.clock.now() {
            return Err(Invalid::field("until", "must be in the future").into());
        }
        let mut act = self.act(actor, ActKind::MemberSuspended, member)?;
        (act.detail, act.reason) = (until.to_string(), reason.into_string());
        // Whether they stand below is for the transaction to say: they may be given a role at this moment.
        self.supervise(member, Change::Suspend { until, by: actor.role }, act).await
    }

    /// Lets a member write again (moderators; administrators also moderators). Doing it again changes nothing.
    pub async fn lift_suspension(&self, actor: &Actor, member: MemberId) -> Result<Member, MemberError> {
        may(actor, Action::Suspend(Role::Member), About::NOTHING)?;
        let act = self.act(actor, ActKind::SuspensionLifted, member)?;
        self.supervise(member, Change::LiftSuspension { by: actor.role }, act).await
    }

    /// Makes a member moderator of a board (administrators). Whether the board exists is for the caller to know.
    pub async fn appoint(&self, actor: &Actor, board: BoardId, member: MemberId) -> Result<Member, MemberError> {
        may(actor, Action::AppointModerator, About::NOTHING)?;
        let act = Act { board_id: Some(board), ..self.act(actor, ActKind::ModeratorAppointed, member)? };
        self.supervise(member, Change::Appoint(board), act).await
    }

    /// Takes a board from its moderator (administrators). Doing it again changes nothing.
    pub async fn dismiss(&self, actor: &Actor, board: BoardId, member: MemberId) -> Result<Member, MemberError> {
        may(actor, Action::AppointModerator, About::NOTHING)?;
        let act = Act { board_id: Some(board), ..self.act(actor, ActKind::ModeratorDismissed, member)? };
        self.supervise(member, Change::Dismiss(board), act).await
    }

    /// Who moderates a board, by the time of their registration, at most [`MODERATORS_MAX`]: at once right for changes made
    /// here, within the polling interval for those made elsewhere.
    pub async fn moderators(&self, board: BoardId) -> Result<Vec<Member>, MemberError> {
        let mut members = Vec::new();
        for member in self.sessions.moderators(board).into_iter().take(MODERATORS_MAX) {
            members.extend(self.store.find(member).await?);
        }
        Ok(members)
    }

    pub(crate) fn act(&self, actor: &Actor, kind: ActKind, member: MemberId) -> Result<Act, MemberError> {
        let act_id = self.ids.next(ShardId::HOME).map_err(madang_kernel::StoreError::from)?;
        Ok(Act::of(actor, act_id, kind, member.raw(), self.clock.now()))
    }

    async fn supervise(&self, member_id: MemberId, change: Change, act: Act) -> Result<Member, MemberError> {
        let change = ChangeMember { member_id, change, changed_at: act.acted_at, act: Some(act) };
        Ok(self.change(change).await?.member)
    }
}
