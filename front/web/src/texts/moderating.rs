//! What moderators read: what was done, and what was removed.

use crate::preferences::Lang;

texts! {
    /// What the pages of moderators say.
    ModeratingTexts {
    act_article_edited: "edited an article", "글을 수정함";
    act_article_deleted: "deleted an article", "글을 삭제함";
    act_article_pinned: "pinned an article", "글을 고정함";
    act_article_unpinned: "unpinned an article", "글 고정을 해제함";
    act_article_locked: "locked an article", "글을 잠금";
    act_article_unlocked: "unlocked an article", "글의 잠금을 해제함";
    act_comment_edited: "edited a comment", "댓글을 수정함";
    act_comment_deleted: "deleted a comment", "댓글을 삭제함";
    act_member_suspended: "suspended a member", "회원의 활동을 정지함";
    act_suspension_lifted: "lifted a suspension", "활동 정지를 해제함";
    act_role_given: "changed a role", "등급을 변경함";
    act_password_reset_issued: "gave a member a link to a new password", "비밀번호 재설정 링크를 발급함";
    act_moderator_appointed: "made someone moderator of a board", "게시판 운영진으로 임명함";
    act_moderator_dismissed: "removed a moderator of a board", "게시판 운영진에서 해임함";
    act_report_resolved: "closed a report", "신고를 처리함";
    act_article_restored: "restored an article", "글을 되돌림";
    act_comment_restored: "restored a comment", "댓글을 되돌림";

    removed_article: "Removed article", "삭제된 글";
    removed_comment: "Removed comment", "삭제된 댓글";
    removed_text: "A moderator removed this. Only moderators of its board see it here.",
        "운영진이 삭제한 내용입니다. 이 게시판의 운영진만 볼 수 있습니다.";
    removed_by: "Removed by", "삭제한 사람";
    removed_until: "Can be restored until", "되돌릴 수 있는 기한:";
    removed_why: "Reason", "사유";
    restore: "Restore", "되돌리기";
    see_removed: "See what was removed", "삭제된 내용 보기";
    article_restored: "The article is back where it was, with its comments and likes.",
        "글을 댓글, 좋아요와 함께 되돌렸습니다.";
    comment_restored: "The comment is back where it was.", "댓글을 되돌렸습니다.";
}}
