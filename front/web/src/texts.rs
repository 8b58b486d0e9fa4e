//! Every word on the pages, in both languages side by side: one that is missing does not compile.

mod counted;
mod descriptions;
mod health;
mod limits;

pub(crate) use counted::{
    COMMENTS, Counted, LIKES, POINTS, VIEWS, ago, articles, comments, last_page, letters_shown, level, new_comments,
    replayed,
};
pub(crate) use descriptions::{board_description, home_description, member_description, site_time};
pub(crate) use health::HealthTexts;
pub(crate) use limits::{suspended, too_many, wait_pattern, whole_seconds};

use crate::preferences::Lang;

/// The texts of a topic, each in both languages.
macro_rules! texts {
    ($(#[$doc:meta])* $texts:ident { $($name:ident: $en:literal, $ko:literal;)* }) => {
        $(#[$doc])*
        pub(crate) struct $texts { $(pub(crate) $name: &'static str,)* }
        static EN: $texts = $texts { $($name: $en,)* };
        static KO: $texts = $texts { $($name: $ko,)* };

        impl $texts {
            /// The texts in a language.
            pub(crate) fn in_language(lang: Lang) -> &'static Self {
                match lang {
                    Lang::En => &EN,
                    Lang::Ko => &KO,
                }
            }
        }
    };
}

mod moderating;
mod search;

pub(crate) use moderating::ModeratingTexts;
pub(crate) use search::{SearchTexts, nothing_found};

texts! {
    /// What the pages say.
    Texts {
    skip_to_content: "Skip to content", "본문으로 건너뛰기";
    main_navigation: "Main", "주 메뉴";
    language: "Language", "언어";
    appearance: "Appearance", "화면 모드";
    theme_system: "System", "시스템";
    theme_light: "Light", "밝게";
    theme_dark: "Dark", "어둡게";
    to_front_page: "Go to the home page", "홈으로 가기";
    cancel: "Cancel", "취소";
    feed: "Atom feed", "Atom 피드";

    boards: "Boards", "게시판";
    hot: "Hot", "인기글";
    hot_today: "Hot today", "오늘의 인기글";
    hot_articles: "Hot articles", "인기글";
    hot_week: "The top articles of today and the past six days.", "오늘과 지난 6일의 인기글입니다.";
    hot_empty_today: "No hot articles yet today. Articles written today are ranked by their likes, comments and views.",
        "아직 오늘의 인기글이 없습니다. 오늘 쓴 글의 좋아요, 댓글, 조회수로 정해집니다.";
    hot_empty_day: "No hot articles on this day.", "이날은 인기글이 없습니다.";
    hot_all: "All seven days", "7일 전체 보기";
    hot_final: "final", "확정";
    hot_live: "live", "집계 중";
    hot_how: "How is this ranked?", "순위는 어떻게 정하나요?";
    hot_formula: "score = 3 × likes + 2 × comments + 1 × views", "점수 = 좋아요 × 3 + 댓글 × 2 + 조회 × 1";
    hot_rules: "A day's list ranks the articles written that day, by the likes, comments and views they got that day (in the site's time zone). If two have the same score, the earlier article comes first. A list becomes final one hour after its day ends.",
        "그날 쓴 글을 그날 받은 좋아요, 댓글, 조회수로만 매깁니다(사이트 시간대 기준). 점수가 같으면 먼저 쓴 글이 앞섭니다. 하루가 끝나고 한 시간 뒤에 순위가 확정됩니다.";
    moved_up: "up", "상승";
    moved_down: "down", "하락";
    moved_in: "new on the list", "새로 진입";
    hot_movement: "Arrows compare today's ranks with those of about an hour ago.",
        "화살표는 약 한 시간 전 순위와 비교한 것입니다.";

    title: "Title", "제목";
    writer: "Author", "글쓴이";
    time: "Time", "작성일";
    views: "Views", "조회";
    likes: "Likes", "좋아요";
    new_mark: "new", "새글";
    write: "Write", "글쓰기";
    first_article: "No articles here yet. Be the first to write one.", "아직 글이 없습니다. 첫 글을 써 보세요.";
    past_the_end: "There are no articles on this page.", "이 페이지에는 글이 없습니다.";
    pages: "Pages", "페이지";
    previous_ten: "Previous ten pages", "이전 10페이지";
    next_ten: "Next ten pages", "다음 10페이지";
    newest: "Newest", "최신글";
    active: "Active", "활발한 글";
    order: "Order", "정렬";
    last_reply: "Last reply", "최근 댓글";
    no_articles_yet: "Nothing has been written yet. Choose a board and write the first article.",
        "아직 글이 없습니다. 게시판을 골라 첫 글을 써 보세요.";
    nothing_older: "That is all there is.", "더 이상 글이 없습니다.";
    first_page: "To the top", "처음으로";
    older_articles: "Older articles", "이전 글 더 보기";
    list_style: "List", "목록";
    list_pages: "Numbered pages", "페이지 번호";
    list_scroll: "Endless scroll", "무한 스크롤";
    no_boards: "There are no boards yet.", "아직 게시판이 없습니다.";

    edited: "edited", "수정";
    edit: "Edit", "수정";
    delete: "Delete", "삭제";
    like: "Like", "좋아요";
    like_failed: "Your like could not be saved. Please try again.", "좋아요를 저장하지 못했습니다. 다시 눌러 주세요.";
    session_ended_like: "You have been signed out. Sign in again, then press Like.",
        "로그아웃되었습니다. 다시 로그인한 뒤 눌러 주세요.";
    to_board: "Back to the list", "목록으로";
    article_gone: "This article has just been deleted.", "방금 삭제된 글입니다.";
    article_edited: "This article has just been changed.", "방금 변경된 글입니다.";
    pinned: "Pinned", "고정";
    locked: "Locked", "잠김";
    pin: "Pin", "고정하기";
    unpin: "Unpin", "고정 해제";
    lock: "Lock", "잠그기";
    unlock: "Unlock", "잠금 해제";
    pin_article: "Pin this article", "글 고정하기";
    pin_text: "A pinned article stands above the list of its board. The one pinned last comes first.",
        "고정한 글은 게시판 목록 맨 위에 보입니다. 나중에 고정한 글이 더 위에 옵니다.";
    pin_for: "For how long", "기간";
    pin_forever: "Until it is unpinned", "해제할 때까지";
    pins_full: "This board has as many pinned articles as it can have. Unpin another one first.",
        "이 게시판에는 글을 더 고정할 수 없습니다. 먼저 다른 글의 고정을 해제해 주세요.";
    article_pinned: "The article is pinned on top of its board.", "글을 게시판 맨 위에 고정했습니다.";
    article_unpinned: "The article is no longer pinned.", "글 고정을 해제했습니다.";
    article_locked: "The article is locked. Only moderators of the board can comment on it now.",
        "글을 잠갔습니다. 이제 게시판 운영진만 댓글을 쓸 수 있습니다.";
    article_unlocked: "The article is open to comments again.", "글의 잠금을 해제했습니다. 다시 댓글을 쓸 수 있습니다.";
    locked_text: "A moderator has locked this article. It can be read, but new comments are not taken.",
        "운영진이 잠근 글입니다. 읽을 수 있지만 새 댓글은 쓸 수 없습니다.";
    locked_moderator_text: "This article is locked. You can comment on it because you moderate this board.",
        "잠긴 글입니다. 이 게시판의 운영진이므로 댓글을 쓸 수 있습니다.";
    article_deleted: "The article was deleted.", "글을 삭제했습니다.";
    show: "Show", "보기";

    comments: "Comments", "댓글";
    no_comments: "No comments yet. Be the first to comment.", "아직 댓글이 없습니다. 첫 댓글을 남겨 보세요.";
    your_comment: "Your comment", "댓글 쓰기";
    your_reply: "Your reply", "답글 쓰기";
    send_comment: "Post comment", "댓글 등록";
    send_reply: "Post reply", "답글 등록";
    discard_reply: "Discard this reply?", "작성 중인 답글을 지울까요?";
    reply: "Reply", "답글";
    reply_to: "Reply to a comment", "답글 쓰기";
    deleted_comment: "This comment was deleted.", "삭제된 댓글입니다.";
    comment_edited: "edited", "수정됨";
    comment_deleted: "The comment was deleted.", "댓글을 삭제했습니다.";
    more_comments: "More comments", "댓글 더 보기";
    continue_thread: "Continue this thread", "이 대화 이어 보기";
    one_thread: "You are viewing a single thread.", "대화 하나만 보고 있습니다.";
    all_comments: "All comments", "댓글 전체 보기";
    sign_in_to_comment: "Sign in to comment", "로그인하고 댓글 쓰기";
    sign_in_to_write: "Sign in to write", "로그인하고 글쓰기";
    markdown_hint: "You can use Markdown: **bold**, `code`, > quote, lists and links.",
        "마크다운을 쓸 수 있습니다: **굵게**, `코드`, > 인용, 목록, 링크.";

    write_article: "Write an article", "글쓰기";
    edit_article: "Edit the article", "글 수정";
    edit_comment: "Edit the comment", "댓글 수정";
    text: "Text", "내용";
    publish: "Publish", "등록";
    save: "Save", "저장";
    preview: "Preview", "미리보기";
    preview_empty: "Your text will appear here as you write.", "쓰는 대로 여기에 보입니다.";
    draft_restored: "Your unsent draft was restored.", "임시 저장된 글을 불러왔습니다.";
    draft_discard: "Discard it", "지우기";
    changed_meanwhile: "Someone else changed this article while you were writing. Your text is still here; saving again replaces their version.",
        "작성하는 동안 다른 사람이 이 글을 변경했습니다. 쓰신 내용은 그대로 있으며, 다시 저장하면 그 사람의 수정을 덮어씁니다.";
    comment_changed_meanwhile: "Someone else edited this comment while you were writing. Your text is still here; saving again replaces their version.",
        "작성하는 동안 다른 사람이 이 댓글을 수정했습니다. 쓰신 내용은 그대로 있으며, 다시 저장하면 그 사람의 수정을 덮어씁니다.";
    see_their_comment: "See the current version", "현재 댓글 보기";
    see_theirs: "See the current version", "현재 글 보기";
    sent_before: "This form has already been sent. Send it again if you want to post it a second time.",
        "이미 등록된 내용입니다. 한 번 더 올리려면 다시 보내 주세요.";
    session_ended: "You have been signed out. Sign in again in another tab, then send this: your text is still here.",
        "로그아웃되었습니다. 다른 탭에서 로그인한 뒤 다시 보내 주세요. 쓰신 내용은 그대로 있습니다.";
    other_session: "This page was opened before you last signed in. Please send it once more.",
        "마지막으로 로그인하기 전에 연 화면입니다. 한 번 더 보내 주세요.";

    delete_article: "Delete this article?", "글을 삭제할까요?";
    delete_article_text: "The article is deleted together with its comments and likes. This cannot be undone.",
        "글과 함께 댓글, 좋아요도 삭제되며 되돌릴 수 없습니다.";
    delete_comment: "Delete this comment?", "댓글을 삭제할까요?";
    delete_comment_text: "The text is deleted for good. Replies to it stay.", "내용은 완전히 삭제됩니다. 달린 답글은 남습니다.";
    reason: "Reason", "사유";
    reason_hint: "Say which rule was broken. Other moderators will read this.",
        "어떤 규칙을 어겼는지 적어 주세요. 다른 운영진이 봅니다.";
    reason_missing: "must be given when you delete something another member wrote",
        "다른 회원이 쓴 것을 삭제할 때는 꼭 적어야 합니다";

    sign_in: "Sign in", "로그인";
    sign_out: "Sign out", "로그아웃";
    signed_out: "You are signed out.", "로그아웃했습니다.";
    sign_up: "Sign up", "회원 가입";
    name: "Name", "이름";
    password: "Password", "비밀번호";
    name_hint: "2 to 32 letters of any script, digits or _", "2~32자의 글자(모든 문자), 숫자, _";
    password_hint: "8 to 128 characters; common passwords are not accepted", "8~128자, 흔한 비밀번호는 쓸 수 없습니다";
    wrong_password: "Name or password is wrong.", "이름이나 비밀번호가 맞지 않습니다.";
    name_taken: "This name is taken, or looks like one that is. Choose another.", "이미 사용 중이거나 사용 중인 이름과 똑같아 보이는 이름입니다. 다른 이름을 골라 주세요.";
    no_account: "No account yet?", "아직 회원이 아니신가요?";
    have_account: "Already have an account?", "이미 회원이신가요?";
    form_problem: "Please check the following:", "다음을 확인해 주세요:";

    role: "Role", "등급";
    role_member: "Member", "회원";
    role_moderator: "Moderator", "운영진";
    role_admin: "Administrator", "관리자";
    member_since: "Member since", "가입일";
    change_role: "Change role", "등급 변경";
    role_changed: "The role was changed.", "등급을 변경했습니다.";
    own_role: "You cannot give up your own administrator role. Another administrator has to change it.",
        "본인의 관리자 등급은 내려놓을 수 없습니다. 다른 관리자가 변경해야 합니다.";

    articles: "Articles", "글";
    all_articles: "All articles", "글 전체 보기";
    all_their_comments: "All comments", "댓글 전체 보기";
    no_articles_of_theirs: "No articles yet.", "아직 쓴 글이 없습니다.";
    no_comments_of_theirs: "No comments yet.", "아직 쓴 댓글이 없습니다.";
    older: "Older", "이전";
    all_boards: "All boards", "전체 게시판";
    an_article: "Article", "글";
    a_comment: "Comment", "댓글";
    change_password: "Change password", "비밀번호 변경";
    current_password: "Current password", "현재 비밀번호";
    new_password: "New password", "새 비밀번호";
    password_changed: "Your password was changed. You are still signed in here and have been signed out everywhere else.",
        "비밀번호를 변경했습니다. 지금 이 기기의 로그인만 유지되고, 다른 곳에서는 모두 로그아웃되었습니다.";
    sessions: "Where you are signed in", "로그인한 기기";
    sessions_text: "These are the devices on which you are signed in. If you do not recognise one, sign out there and change your password.",
        "로그인한 기기가 여기에 표시됩니다. 모르는 기기가 있으면 로그아웃시키고 비밀번호를 변경하세요.";
    this_session: "this device", "지금 이 기기";
    unknown_agent: "Unknown program", "알 수 없는 프로그램";
    signed_in_at: "Signed in", "로그인";
    last_seen_at: "Last used", "마지막 사용";
    end_session: "Sign out there", "로그아웃시키기";
    end_other_sessions: "Sign out everywhere else", "다른 기기에서 모두 로그아웃";
    choose_password: "Choose a new password", "새 비밀번호 정하기";
    choose_password_text: "choose a new password. You are then signed out everywhere, and sign in with it.",
        "새 비밀번호를 정해 주세요. 모든 기기에서 로그아웃되며, 새 비밀번호로 다시 로그인합니다.";
    password_reset_done: "Your password was changed. Sign in with the new one.",
        "비밀번호를 바꾸었습니다. 새 비밀번호로 로그인해 주세요.";
    reset_over: "This link does not work any more", "더 이상 쓸 수 없는 링크입니다";
    reset_over_text: "A link to a new password works once, and for an hour. Ask an administrator of the site for another one.",
        "비밀번호 재설정 링크는 한 시간 동안 한 번만 쓸 수 있습니다. 사이트 관리자에게 새 링크를 요청해 주세요.";
    forgot_password: "Forgot your password? Ask an administrator of the site for a link to a new one.",
        "비밀번호를 잊으셨나요? 사이트 관리자에게 비밀번호 재설정 링크를 요청해 주세요.";
    reset_password: "Password reset", "비밀번호 재설정";
    reset_password_text: "Makes a link by which this member chooses a new password. It works once, within an hour. Give it to them alone: whoever has it takes over the account.",
        "이 회원이 새 비밀번호를 정할 수 있는 링크를 만듭니다. 한 시간 동안 한 번만 쓸 수 있습니다. 링크를 가진 사람은 계정을 차지할 수 있으니 본인에게만 전달하세요.";
    make_reset_link: "Make a link", "링크 만들기";
    reset_link_made: "Here is the link. It is shown only this once.", "링크를 만들었습니다. 지금 한 번만 보여 드립니다.";
    valid_until: "Works until", "유효 기한:";
    reset_link: "Link to a new password", "비밀번호 재설정 링크";
    own_password: "Your own password", "내 비밀번호";
    own_password_hint: "We ask again in case somebody else is using your device.",
        "다른 사람이 이 기기를 쓰고 있을 때를 대비해 한 번 더 확인합니다.";
    own_password_wrong: "This is not your password.", "비밀번호가 맞지 않습니다.";
    suspend: "Suspend", "활동 정지";
    suspend_text: "A suspended member can read but not write. They are shown the reason, and it is kept in the moderation log.",
        "활동이 정지된 회원은 읽기만 할 수 있습니다. 사유는 본인에게 보이고 운영 기록에 남습니다.";
    suspend_reason_hint: "Say which rule was broken. The member and other moderators will read this.",
        "어떤 규칙을 어겼는지 적어 주세요. 해당 회원과 다른 운영진에게 보입니다.";
    suspend_for: "For how long", "기간";
    day_1: "One day", "하루";
    day_7: "One week", "일주일";
    day_30: "30 days", "30일";
    day_3650: "Ten years", "10년";
    lift_suspension: "Lift the suspension", "정지 해제";
    suspended_mark: "Suspended until", "활동 정지 기한:";
    member_suspended: "The member is suspended.", "회원의 활동을 정지했습니다.";
    suspension_lifted: "The suspension was lifted. The member can write again.",
        "활동 정지를 해제했습니다. 이제 다시 글을 쓸 수 있습니다.";
    suspended_title: "Your account is suspended", "활동이 정지된 계정입니다";
    role_refused: "This role cannot be given right now: the site needs at least one administrator, and a suspended member cannot be promoted.",
        "지금은 이 등급으로 변경할 수 없습니다. 관리자는 한 명 이상 있어야 하고, 활동이 정지된 회원은 등급을 올릴 수 없습니다.";

    report: "Report", "신고";
    report_article: "Report this article", "이 글 신고하기";
    report_comment: "Report this comment", "이 댓글 신고하기";
    report_text: "The moderators will look at it. The author is not told who reported it.",
        "운영진이 확인합니다. 누가 신고했는지 글쓴이에게 알리지 않습니다.";
    report_hint: "What is wrong with it?", "무엇이 문제인가요?";
    reported: "Thank you. Your report was sent to the moderators.", "고맙습니다. 운영진에게 신고를 전달했습니다.";
    back_to_reported: "Go back", "돌아가기";
    moderation: "Moderation", "운영";
    open_reports: "Open", "미처리";
    settled_reports: "Closed", "처리됨";
    moderation_log: "Log", "기록";
    no_open_reports: "No open reports.", "처리할 신고가 없습니다.";
    no_settled_reports: "No report has been closed yet.", "처리한 신고가 아직 없습니다.";
    no_acts: "Nothing has been logged yet.", "아직 운영 기록이 없습니다.";
    report_reason: "Reason", "신고 사유";
    reported_by: "reported by", "신고자";
    reported_article_deleted: "The article has been deleted.", "삭제된 글입니다.";
    reported_comment_deleted: "The comment has been deleted.", "삭제된 댓글입니다.";
    open_reported: "View", "보기";
    settle: "Close report", "처리 완료";
    settled_at: "Closed", "처리";
    report_settled: "The report was closed.", "신고를 처리했습니다.";
    note: "Note", "메모";
    note_hint: "What you did about it, for the other moderators", "어떻게 처리했는지 (다른 운영진에게)";

    administration: "Administration", "관리";
    new_board: "New board", "새 게시판";
    create_board: "Create board", "게시판 만들기";
    slug: "Short name", "주소 이름";
    slug_hint: "2 to 32 of a-z, 0-9 and -; part of its address", "2~32자의 a-z, 0-9, -; 게시판 주소에 쓰입니다";
    slug_taken: "Another board has this short name.", "다른 게시판이 쓰고 있는 주소 이름입니다.";
    manage_board: "Manage", "관리";
    manage_board_title: "Manage board", "게시판 관리";
    no_articles: "There are no articles here.", "글이 없습니다.";
    description: "Description", "소개";
    description_hint: "What belongs here, in a sentence or two. Shown below the name of the board.",
        "어떤 글을 쓰는 곳인지 한두 문장으로 적어 주세요. 게시판 이름 아래에 보입니다.";
    position: "Position", "순서";
    position_hint: "Boards are listed from the smallest number to the greatest; of equal ones the older comes first.",
        "숫자가 작은 게시판부터 나옵니다. 같으면 먼저 만든 게시판이 앞에 옵니다.";
    archived: "Archived", "보관됨";
    archived_text: "This board is archived. It can be read, but nothing on it can be written, liked or changed any more.",
        "보관된 게시판입니다. 읽을 수만 있고, 글과 댓글을 쓰거나 고치거나 좋아요를 누를 수 없습니다.";
    archive: "Archive this board: it can be read, and nothing else", "게시판 보관: 읽기만 할 수 있게 합니다";
    board_saved: "The board was saved.", "게시판을 저장했습니다.";
    board_deleted: "The board was deleted.", "게시판을 삭제했습니다.";
    delete_board: "Delete board", "게시판 삭제";
    delete_board_text: "Deletes the board for good. Its address is free again afterwards.",
        "게시판을 완전히 삭제합니다. 삭제하면 주소 이름을 다시 쓸 수 있습니다.";
    board_has_articles: "A board can be deleted only when it has no articles. Archive it instead to keep it readable.",
        "글이 없는 게시판만 삭제할 수 있습니다. 글을 남겨 두려면 게시판을 보관하세요.";
    moderators: "Moderators of this board", "게시판 운영진";
    no_moderators: "This board has no moderators of its own. Moderators of the site look after it.",
        "이 게시판만의 운영진은 없습니다. 사이트 운영진이 관리합니다.";
    appoint: "Make moderator", "운영진으로 임명";
    dismiss: "Remove", "해임";
    no_such_member: "There is no member of this name.", "이런 이름의 회원이 없습니다.";
    too_many_boards: "This member already moderates as many boards as one member can. Make them a moderator of the whole site.",
        "이미 맡을 수 있는 만큼 게시판을 맡고 있습니다. 사이트 운영진으로 지정해 주세요.";
    comment_mode: "Comments", "댓글 방식";
    two_levels: "Comments and replies", "댓글과 답글";
    tree: "Tree: replies to replies", "트리: 답글의 답글까지";
    health: "Health", "상태";
    part: "Part", "구성 요소";
    state: "State", "상태";
    works: "works", "정상";
    fails: "fails", "이상";
    detail: "Detail", "내용";
    roles_hint: "To change a member's role, open their page by clicking their name on anything they wrote.",
        "회원의 등급은 그 회원의 페이지에서 변경합니다. 글이나 댓글에 있는 이름을 누르세요.";

    dead_letters: "Dead letters", "처리 실패 메시지";
    dead_letters_text: "Messages between parts of the site that kept failing and were set aside. After fixing the cause, send them again: they are processed like any other message and take effect once.",
        "사이트 구성 요소 사이에서 처리에 계속 실패해 따로 보관한 메시지입니다. 원인을 해결한 뒤 다시 보내면 다른 메시지와 똑같이 처리되며, 효과는 한 번만 납니다.";
    no_dead_letters: "No failed messages. There is nothing to do here.", "처리에 실패한 메시지가 없습니다.";
    letters_away: "The messages cannot be listed right now because the part that keeps them does not answer. Try again in a minute.",
        "메시지를 보관하는 구성 요소가 응답하지 않아 지금은 목록을 볼 수 없습니다. 잠시 후 다시 시도해 주세요.";
    message: "Message", "메시지";
    replay: "Send again", "다시 보내기";
    replay_all: "Send all of these again", "보이는 것 모두 다시 보내기";

    set_up: "Set up", "초기 설정";
    set_up_text: "Enter the token that the server printed when it started, and choose a name and a password for the first administrator of this site.",
        "서버가 시작할 때 출력한 토큰을 입력하고, 이 사이트 첫 관리자의 이름과 비밀번호를 정하세요.";
    set_up_token: "Set-up token", "설정 토큰";
    wrong_set_up_token: "This is not the token that the server printed when it started.",
        "서버가 시작할 때 출력한 토큰이 아닙니다.";
    become_admin: "Create administrator", "관리자 만들기";
    set_up_done: "You are the administrator of this site, and signed in.", "관리자 계정을 만들고 로그인했습니다.";
    set_up_over: "This site already has an administrator, who can change the roles of others.",
        "이미 관리자가 있습니다. 등급은 관리자가 변경할 수 있습니다.";
    already_set_up: "Already set up", "이미 설정됨";
    no_set_up: "This site cannot be set up at this address. The server prints the right one when it starts.",
        "이 주소에서는 초기 설정을 할 수 없습니다. 올바른 주소는 서버가 시작할 때 나옵니다.";

    not_found: "Not found", "페이지를 찾을 수 없습니다";
    not_found_text: "There is nothing at this address. It may have been deleted, or the address may be mistyped.",
        "이 주소에는 아무것도 없습니다. 삭제되었거나 주소가 잘못되었을 수 있습니다.";
    wrong_method: "Nothing to show here", "볼 수 있는 페이지가 아닙니다";
    wrong_method_text: "This address only receives a form. Go back to the page with the form and send it from there.",
        "이 주소는 양식을 받기만 합니다. 양식이 있는 화면으로 돌아가 거기서 보내 주세요.";
    forbidden: "Not allowed", "권한이 없습니다";
    forbidden_text: "Your account does not have permission to do this.", "이 작업을 할 권한이 없습니다.";
    cross_site_text: "This form was sent from another site. Open the page here and send it again.",
        "다른 사이트에서 보낸 양식입니다. 이 사이트에서 화면을 열어 다시 보내 주세요.";
    not_signed_in: "Please sign in", "로그인해 주세요";
    not_signed_in_text: "Only members can do this. Sign in, and you will come back to where you were.",
        "회원만 할 수 있습니다. 로그인하면 보던 곳으로 돌아갑니다.";
    form_too_old: "Please send it again", "다시 보내 주세요";
    not_understood: "That could not be read", "보낸 내용을 읽을 수 없습니다";
    not_understood_text: "The form that was sent is incomplete or damaged. Go back, reload the page and send it again.",
        "양식이 온전하지 않습니다. 뒤로 가서 화면을 새로 고친 뒤 다시 보내 주세요.";
    too_many: "Too many attempts", "시도 횟수를 초과했습니다";
    too_large: "Too large", "내용이 너무 깁니다";
    too_large_text: "What you sent is larger than anything this form takes. Go back and shorten the text.",
        "보낸 내용이 너무 깁니다. 뒤로 가서 줄여 주세요.";
    too_slow: "It did not arrive in time", "제때 도착하지 않았습니다";
    too_slow_text: "What you sent took too long to reach the server, and nothing was saved. Check your connection, go back and send it again.",
        "보낸 내용이 서버에 도착하는 데 너무 오래 걸려 저장되지 않았습니다. 연결을 확인하고, 뒤로 가서 다시 보내 주세요.";
    timed_out: "This is taking too long", "시간이 너무 오래 걸립니다";
    timed_out_text: "The server could not finish in time. If you sent something, it may have been saved all the same: check before you send it again.",
        "서버가 제시간에 처리하지 못했습니다. 보낸 내용이 저장되었을 수 있으니, 다시 보내기 전에 확인해 주세요.";
    unavailable: "One moment, please", "잠시만 기다려 주세요";
    unavailable_text: "The server is busy, or a part of it is not available right now. Please try again in a moment.",
        "서버가 바쁘거나 일부가 응답하지 않습니다. 잠시 후 다시 시도해 주세요.";
    internal: "Something went wrong", "문제가 생겼습니다";
    internal_text: "This is our fault, not yours, and it has been logged.", "저희 쪽 오류이며, 기록해 두었습니다.";
    send_failed: "It could not be sent. Your text is still here; check your connection and try again.",
        "보내지 못했습니다. 쓰신 내용은 그대로 있으니 연결을 확인하고 다시 보내 주세요.";
}}

impl Texts {
    /// What a field of a form is called.
    pub(crate) fn field(&self, name: &str) -> Option<&'static str> {
        Some(match name {
            "title" => self.title,
            "content" => self.text,
            "name" => self.name,
            "password" => self.password,
            "current" => self.current_password,
            "new" => self.new_password,
            "slug" => self.slug,
            "description" => self.description,
            "position" => self.position,
            "reason" => self.reason,
            _ => return None,
        })
    }
}
