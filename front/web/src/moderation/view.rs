//! The lists of moderators: one entry below the other, each with what it is about, why, by whom and when.

use madang_board::{Act, ActId, ActKind, BoardId, REASON_MAX_CHARS, Report, ReportId, Reported, Role};
use madang_kernel::Scroll;
use maud::{Markup, html};

use super::subject::{Quoted, Subject};
use super::{List, Listing};
use crate::layout::token_field;
use crate::state::Web;
use crate::texts::{ModeratingTexts, Texts};
use crate::visit::Visit;

/// Reports, open or settled.
pub(super) fn reports(
    web: &Web,
    visit: &Visit,
    listing: &Listing,
    found: &Scroll<Report, ReportId>,
    subjects: &[Subject],
) -> Markup {
    let t = visit.texts();
    let empty = if listing.list == List::Open { t.no_open_reports } else { t.no_settled_reports };
    html! {
        (heading(visit, listing))
        @if found.items.is_empty() { p.empty { (empty) } }
        ol.entries {
            @for (report, subject) in found.items.iter().zip(subjects) { (entry(web, visit, listing, report, subject)) }
        }
        (older(t, listing, found.next.map(|next| next.to_string())))
    }
}

/// What was done.
pub(super) fn log(web: &Web, visit: &Visit, listing: &Listing, found: &Scroll<Act, ActId>) -> Markup {
    let t = visit.texts();
    html! {
        (heading(visit, listing))
        @if found.items.is_empty() { p.empty { (t.no_acts) } }
        ol.entries { @for act in &found.items { (line(web, visit, listing, act)) } }
        (older(t, listing, found.next.map(|next| next.to_string())))
    }
}

fn heading(visit: &Visit, listing: &Listing) -> Markup {
    let t = visit.texts();
    let lists = [(List::Open, t.open_reports), (List::Settled, t.settled_reports), (List::Log, t.moderation_log)];
    html! {
        h1 { (t.moderation) }
        nav.tabs aria-label=(t.moderation) {
            @for (list, name) in lists {
                a href=(address(list, listing.board, None)) aria-current=[(list == listing.list).then_some("page")] { (name) }
            }
        }
        @if listing.boards.len() > 1 {
            nav.tabs.small aria-label=(t.boards) {
                @if visit.has(Role::Moderator) {
                    a href=(address(listing.list, None, None)) aria-current=[listing.board.is_none().then_some("page")] { (t.all_boards) }
                }
                @for found in &listing.boards {
                    @let id = found.board.board_id;
                    a href=(address(listing.list, Some(id), None)) aria-current=[(listing.board == Some(id)).then_some("page")] {
                        bdi { (found.board.title) }
                    }
                }
            }
        }
    }
}

fn entry(web: &Web, visit: &Visit, listing: &Listing, report: &Report, subject: &Subject) -> Markup {
    let t = visit.texts();
    html! {
        li {
            p.said { strong { (t.report_reason) ":" } " " bdi { (report.reason) } }
            p.facts {
                @if let Some(title) = board_title(listing, report.board_id) { span { bdi { (title) } } }
                span { (t.reported_by) " " a href={ "/members/" (report.reporter_id) } { bdi { (report.reporter_name) } } }
                span { (web.time.whole(report.reported_at)) }
            }
            (quoted(t, report, subject))
            @match &report.resolution {
                Some(settled) => {
                    p.quiet {
                        (t.settled_at) " " (web.time.whole(settled.resolved_at))
                        @if !settled.note.is_empty() { ": " bdi { (settled.note) } }
                    }
                }
                None => form.settle method="post" action={ "/moderation/reports/" (report.report_id) } {
                    (token_field(visit))
                    @if let Subject::Present(quoted) = subject { a.button href=(quoted.path) { (t.open_reported) } }
                    input name="note" maxlength=(REASON_MAX_CHARS) aria-label=(t.note) placeholder=(t.note_hint);
                    button.button.strong { (t.settle) }
                },
            }
        }
    }
}

/// What was reported, as it is now.
fn quoted(t: &Texts, report: &Report, subject: &Subject) -> Markup {
    let (what, deleted) = match report.reported {
        Reported::Article(_) => (t.an_article, t.reported_article_deleted),
        Reported::Comment(_) => (t.a_comment, t.reported_comment_deleted),
    };
    html! {
        @match subject {
            Subject::Deleted => p.quiet { (deleted) },
            Subject::Present(Quoted { path, title, text, writer: (page, name) }) => {
                blockquote.reported {
                    p.facts { span { (what) } a href=(page) { bdi { (name) } } }
                    @if let Some(title) = title { p.said { a href=(path) { bdi { (title) } } } }
                    p.said { bdi { (text) } }
                }
            }
        }
    }
}

fn line(web: &Web, visit: &Visit, listing: &Listing, act: &Act) -> Markup {
    let (t, m) = (visit.texts(), visit.moderating_texts());
    let subject = match act.kind {
        ActKind::ArticleEdited
        | ActKind::ArticleRestored
        | ActKind::ArticlePinned
        | ActKind::ArticleUnpinned
        | ActKind::ArticleLocked
        | ActKind::ArticleUnlocked => Some((format!("/articles/{}", act.subject), t.an_article)),
        ActKind::CommentEdited | ActKind::CommentRestored => Some((format!("/comments/{}", act.subject), t.a_comment)),
        ActKind::MemberSuspended
        | ActKind::SuspensionLifted
        | ActKind::RoleGiven
        | ActKind::PasswordResetIssued
        | ActKind::ModeratorAppointed
        | ActKind::ModeratorDismissed => Some((format!("/members/{}", act.subject), t.role_member)),
        // What can be restored is seen there; later nothing is.
        ActKind::ArticleDeleted => Some((format!("/articles/{}/restore", act.subject), m.see_removed)),
        ActKind::CommentDeleted => Some((format!("/comments/{}/restore", act.subject), m.see_removed)),
        ActKind::ReportResolved => None,
    };
    html! {
        li {
            p.said {
                a href={ "/members/" (act.moderator_id) } { bdi { (act.moderator_name) } } " " (kind(m, act.kind))
                @if !act.detail.is_empty() { " (" bdi { (act.detail) } ")" }
            }
            @if !act.reason.is_empty() { p.quiet { bdi { (act.reason) } } }
            p.facts {
                span { (web.time.whole(act.acted_at)) }
                @if let Some(title) = act.board_id.and_then(|board| board_title(listing, board)) { span { bdi { (title) } } }
                @if let Some((path, name)) = subject { a href=(path) { (name) } }
            }
        }
    }
}

fn older(t: &Texts, listing: &Listing, next: Option<String>) -> Markup {
    html! {
        @if let Some(next) = next {
            p.more { a.button rel="next" href=(address(listing.list, listing.board, Some(&next))) { (t.older) } }
        }
    }
}

fn board_title(listing: &Listing, board: BoardId) -> Option<&str> {
    listing.boards.iter().find(|found| found.board.board_id == board).map(|found| found.board.title.as_str())
}

fn address(list: List, board: Option<BoardId>, before: Option<&str>) -> String {
    let path = if list == List::Log { "/moderation/log" } else { "/moderation" };
    let settled = (list == List::Settled).then(|| "settled=true".to_owned());
    let board = board.map(|board| format!("board={board}"));
    let before = before.map(|before| format!("before={before}"));
    let query: Vec<_> = settled.into_iter().chain(board).chain(before).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

fn kind(t: &ModeratingTexts, kind: ActKind) -> &'static str {
    match kind {
        ActKind::ArticleEdited => t.act_article_edited,
        ActKind::ArticleDeleted => t.act_article_deleted,
        ActKind::ArticleRestored => t.act_article_restored,
        ActKind::ArticlePinned => t.act_article_pinned,
        ActKind::ArticleUnpinned => t.act_article_unpinned,
        ActKind::ArticleLocked => t.act_article_locked,
        ActKind::ArticleUnlocked => t.act_article_unlocked,
        ActKind::CommentEdited => t.act_comment_edited,
        ActKind::CommentDeleted => t.act_comment_deleted,
        ActKind::CommentRestored => t.act_comment_restored,
        ActKind::MemberSuspended => t.act_member_suspended,
        ActKind::SuspensionLifted => t.act_suspension_lifted,
        ActKind::RoleGiven => t.act_role_given,
        ActKind::PasswordResetIssued => t.act_password_reset_issued,
        ActKind::ModeratorAppointed => t.act_moderator_appointed,
        ActKind::ModeratorDismissed => t.act_moderator_dismissed,
        ActKind::ReportResolved => t.act_report_resolved,
    }
}
