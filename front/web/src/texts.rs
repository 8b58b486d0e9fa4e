//! Every word on the pages, in both languages side by side: one that is missing does not compile.

use crate::preferences::Lang;

macro_rules! texts {
    ($($name:ident: $en:literal, $ko:literal;)*) => {
        /// What the pages say.
        pub(crate) struct Texts { $(pub(crate) $name: &'static str,)* }
        static EN: Texts = Texts { $($name: $en,)* };
        static KO: Texts = Texts { $($name: $ko,)* };
    };
}

texts! {
    skip_to_content: "Skip to content", "본문으로 건너뛰기";
    main_navigation: "Main", "주 메뉴";
    language: "Language", "언어";
    appearance: "Appearance", "화면 모드";
    theme_system: "System", "시스템";
    theme_light: "Light", "밝게";
    theme_dark: "Dark", "어둡게";
    to_front_page: "To the front page", "첫 화면으로";
    cancel: "Cancel", "취소";
    feed: "Atom feed", "Atom 피드";

    boards: "Boards", "게시판";
    hot: "Hot", "인기글";
    hot_today: "Hot today", "오늘의 인기글";
    hot_articles: "Hot articles", "인기글";
    hot_week: "The best of today and of the six days before.", "오늘과 지난 6일의 인기글입니다.";
    hot_empty_today: "Nothing is hot yet today. Likes, comments and views of what is written today decide.",
        "아직 오늘의 인기글이 없습니다. 오늘 쓴 글이 받은 좋아요와 댓글, 조회로 정해집니다.";
    hot_empty_day: "Nothing was hot on this day.", "이날의 인기글이 없습니다.";
    hot_all: "All seven days", "7일 모두 보기";
    hot_final: "final", "확정";
    hot_live: "live", "집계 중";
    hot_how: "How is this ranked?", "순위는 어떻게 정하나요?";
    hot_formula: "score = 3 × likes + 2 × comments + 1 × views", "점수 = 좋아요 × 3 + 댓글 × 2 + 조회 × 1";
    hot_rules: "Only articles written on that day count, and only what happened to them on that day, in the site's time zone. Of two with the same score the earlier article comes first. A list becomes final one hour after its day has ended.",
        "그날 쓴 글만, 그날 받은 반응만 셉니다(사이트 시간대 기준). 점수가 같으면 먼저 쓴 글이 앞섭니다. 하루가 끝나고 한 시간 뒤에 순위가 확정됩니다.";
    moved_up: "up", "상승";
    moved_down: "down", "하락";
    moved_in: "new in the list", "새로 진입";
    hot_movement: "Arrows compare today's ranks with those of about an hour ago.",
        "화살표는 오늘의 순위를 약 한 시간 전과 비교한 것입니다.";
    score: "Score", "점수";

    title: "Title", "제목";
    writer: "Writer", "글쓴이";
    time: "Time", "시간";
    views: "Views", "조회";
    likes: "Likes", "좋아요";
    new_mark: "new", "새글";
    write: "Write", "글쓰기";
    first_article: "There is nothing here yet. Write the first article.", "아직 글이 없습니다. 첫 글을 써 보세요.";
    past_the_end: "There are no articles on this page.", "이 쪽에는 글이 없습니다.";
    pages: "Pages", "쪽";
    previous_ten: "Previous ten pages", "이전 10쪽";
    next_ten: "Next ten pages", "다음 10쪽";
    newest: "Newest", "최신글";
    older_articles: "Older articles", "이전 글 더 보기";
    list_style: "List", "목록";
    list_pages: "Numbered pages", "쪽 번호";
    list_scroll: "Endless scroll", "끝없이 보기";
    no_boards: "There are no boards yet.", "아직 게시판이 없습니다.";

    edited: "edited", "고침";
    edit: "Edit", "고치기";
    delete: "Delete", "지우기";
    like: "Like", "좋아요";
    like_failed: "The like did not arrive. Please try again.", "좋아요가 전해지지 않았습니다. 다시 눌러 주세요.";
    to_board: "Back to the list", "목록으로";
    article_gone: "This article was deleted meanwhile.", "이 글은 방금 지워졌습니다.";
    article_edited: "This article was edited meanwhile.", "이 글은 방금 고쳐졌습니다.";
    show: "Show", "보기";

    comments: "Comments", "댓글";
    no_comments: "No comments yet. Say something.", "아직 댓글이 없습니다. 첫 댓글을 남겨 보세요.";
    your_comment: "Your comment", "댓글 쓰기";
    your_reply: "Your reply", "답글 쓰기";
    send_comment: "Comment", "댓글 남기기";
    send_reply: "Reply", "답글 남기기";
    reply: "Reply", "답글";
    reply_to: "Reply to a comment", "답글 쓰기";
    deleted_comment: "This comment was deleted.", "지워진 댓글입니다.";
    more_comments: "More comments", "댓글 더 보기";
    continue_thread: "Continue this thread", "이 대화 이어 보기";
    one_thread: "You are reading one thread.", "한 대화만 보고 있습니다.";
    all_comments: "All comments", "댓글 모두 보기";
    sign_in_to_comment: "Sign in to comment", "로그인하고 댓글 쓰기";
    sign_in_to_write: "Sign in to write", "로그인하고 글쓰기";
    markdown_hint: "Markdown works: **bold**, `code`, > quote, lists and links.",
        "마크다운을 쓸 수 있습니다: **굵게**, `코드`, > 인용, 목록, 링크.";

    write_article: "Write an article", "글쓰기";
    edit_article: "Edit the article", "글 고치기";
    text: "Text", "내용";
    publish: "Publish", "올리기";
    save: "Save", "저장";
    preview: "Preview", "미리 보기";
    preview_empty: "What you write appears here.", "쓰는 대로 여기에 보입니다.";
    draft_restored: "Your unsent draft is back.", "보내지 않은 초안을 되살렸습니다.";
    draft_discard: "Discard it", "초안 버리기";
    changed_meanwhile: "Somebody else changed this article meanwhile. Your text is still here; saving again replaces theirs.",
        "그사이 다른 사람이 이 글을 고쳤습니다. 쓰신 내용은 그대로 있으며, 다시 저장하면 그 내용을 덮어씁니다.";
    see_theirs: "See the present version", "지금 글 보기";
    sent_before: "This form was sent before. Send it again if you mean another one.",
        "이미 보낸 글입니다. 하나 더 올리려면 다시 보내 주세요.";
    session_ended: "Your session has ended. Sign in in another tab, then send again: your text is still here.",
        "로그인이 끝났습니다. 다른 탭에서 로그인한 뒤 다시 보내 주세요. 쓰신 내용은 그대로 있습니다.";
    other_session: "This form was opened in another session. Please send it again.",
        "다른 로그인에서 연 화면입니다. 다시 보내 주세요.";

    delete_article: "Delete the article?", "글을 지울까요?";
    delete_article_text: "The article goes, and with it its comments and likes. This cannot be undone.",
        "글과 함께 댓글, 좋아요도 사라지며 되돌릴 수 없습니다.";
    delete_comment: "Delete the comment?", "댓글을 지울까요?";
    delete_comment_text: "The text goes for good. Replies to it stay.", "내용은 완전히 사라집니다. 달린 답글은 남습니다.";
    reason: "Reason", "이유";
    reason_hint: "Others rely on it: say which rule it breaks.", "어떤 규칙을 어겼는지 적어 주세요.";
    reason_missing: "must be given when you delete what somebody else wrote", "다른 사람의 글을 지울 때는 꼭 적어야 합니다";

    sign_in: "Sign in", "로그인";
    sign_out: "Sign out", "로그아웃";
    sign_up: "Sign up", "회원 가입";
    name: "Name", "이름";
    password: "Password", "비밀번호";
    name_hint: "2 to 32 letters of any script, digits or _", "2~32자의 글자(모든 문자), 숫자, _";
    password_hint: "8 to 128 characters, and none of the common ones", "8~128자, 흔한 비밀번호는 쓸 수 없습니다";
    wrong_password: "Name or password is wrong.", "이름이나 비밀번호가 맞지 않습니다.";
    too_many_guesses: "Too many passwords were tried", "비밀번호를 너무 많이 틀렸습니다";
    too_many_guesses_text: "Somebody has tried too many passwords for this name. On a device where you signed in before you can sign in as always; elsewhere please wait a few minutes and try again.",
        "누군가 이 이름으로 비밀번호를 너무 많이 틀렸습니다. 전에 로그인한 적이 있는 기기에서는 평소처럼 로그인할 수 있습니다. 다른 기기에서는 몇 분 뒤에 다시 시도해 주세요.";
    name_taken: "This name is taken, or looks like one that is. Choose another.", "이미 쓰고 있거나, 쓰고 있는 이름과 똑같아 보이는 이름입니다. 다른 이름을 골라 주세요.";
    no_account: "No account yet?", "아직 회원이 아니신가요?";
    have_account: "Have an account?", "이미 회원이신가요?";
    form_problem: "Please look at this again:", "다시 확인해 주세요:";

    role: "Role", "역할";
    role_member: "Member", "회원";
    role_moderator: "Moderator", "중재자";
    role_admin: "Administrator", "관리자";
    member_since: "Member since", "가입한 때";
    change_role: "Change the role", "역할 바꾸기";
    own_role: "You cannot give up your own role: another administrator has to take it.",
        "자기 역할은 내려놓을 수 없습니다. 다른 관리자가 바꿔야 합니다.";

    articles: "Articles", "글";
    all_articles: "All articles", "글 모두 보기";
    all_their_comments: "All comments", "댓글 모두 보기";
    no_articles_of_theirs: "Nothing written yet.", "아직 쓴 글이 없습니다.";
    no_comments_of_theirs: "No comments yet.", "아직 쓴 댓글이 없습니다.";
    older: "Older", "이전";
    all_boards: "All boards", "모든 게시판";
    an_article: "Article", "글";
    a_comment: "Comment", "댓글";
    change_password: "Change the password", "비밀번호 바꾸기";
    current_password: "Present password", "지금 비밀번호";
    new_password: "New password", "새 비밀번호";
    password_changed: "The password is changed. You are still signed in here, and nowhere else.",
        "비밀번호를 바꿨습니다. 여기서는 로그인이 유지되고, 다른 곳에서는 모두 끝났습니다.";
    sessions: "Where you are signed in", "로그인한 곳";
    sessions_text: "Each sign-in is listed here until it ends. End those you do not know, and change your password.",
        "로그인할 때마다 여기에 하나씩 생깁니다. 모르는 것이 있으면 끝내고 비밀번호를 바꾸세요.";
    this_session: "this one", "지금 이곳";
    unknown_agent: "Unknown program", "알 수 없는 프로그램";
    signed_in_at: "Signed in", "로그인";
    last_seen_at: "Last used", "마지막 사용";
    end_session: "Sign out there", "로그아웃시키기";
    end_other_sessions: "Sign out everywhere else", "다른 곳에서 모두 로그아웃";
    own_password: "Your own password", "내 비밀번호";
    own_password_hint: "Asked for once more, in case somebody else sits at your device.",
        "다른 사람이 이 기기를 쓰고 있을 때를 대비해 한 번 더 묻습니다.";
    own_password_wrong: "This is not your password.", "내 비밀번호가 아닙니다.";
    suspend: "Suspend", "활동 정지";
    suspend_text: "A suspended member reads and does not write. The reason goes into the log of moderation.",
        "정지된 회원은 읽을 수만 있고 쓸 수 없습니다. 이유는 중재 기록에 남습니다.";
    suspend_for: "For how long", "기간";
    day_1: "One day", "하루";
    day_7: "A week", "일주일";
    day_30: "30 days", "30일";
    day_3650: "Ten years", "10년";
    lift_suspension: "Lift a suspension", "정지 풀기";
    suspended_title: "You may read, and not write", "지금은 읽기만 할 수 있습니다";
    suspended_text: "A moderator has suspended you for a while. Ask them if you do not know why.",
        "중재자가 활동을 잠시 정지했습니다. 이유를 모르면 중재자에게 물어보세요.";
    role_refused: "This role cannot be given now: the last administrator stays, and whoever is suspended gets no higher role.",
        "지금은 이 역할을 줄 수 없습니다. 마지막 관리자는 남아야 하고, 정지된 회원은 더 높은 역할을 받을 수 없습니다.";
    done: "Done.", "했습니다.";

    report: "Report", "신고";
    report_article: "Report this article", "이 글 신고하기";
    report_comment: "Report this comment", "이 댓글 신고하기";
    report_text: "Moderators will look at it. The writer does not learn who reported it.",
        "중재자가 살펴봅니다. 누가 신고했는지 글쓴이는 알 수 없습니다.";
    report_hint: "What is wrong with it?", "무엇이 문제인가요?";
    reported: "Thank you. Moderators have it now.", "고맙습니다. 중재자에게 전했습니다.";
    moderation: "Moderation", "중재";
    open_reports: "Open", "처리할 것";
    settled_reports: "Settled", "처리한 것";
    moderation_log: "Log", "기록";
    no_open_reports: "Nothing to settle. Well kept.", "처리할 신고가 없습니다.";
    no_settled_reports: "No report was settled yet.", "처리한 신고가 아직 없습니다.";
    no_acts: "Nothing was done yet.", "아직 기록이 없습니다.";
    reported_by: "reported by", "신고한 사람";
    settle: "Settle", "처리 끝내기";
    note: "Note", "메모";
    note_hint: "What was done about it, for other moderators", "어떻게 처리했는지 (다른 중재자에게)";
    see_it: "See it", "보러 가기";
    act_article_edited: "edited an article", "글을 고침";
    act_article_deleted: "deleted an article", "글을 지움";
    act_comment_deleted: "deleted a comment", "댓글을 지움";
    act_member_suspended: "suspended a member", "회원을 정지함";
    act_suspension_lifted: "lifted a suspension", "정지를 풂";
    act_role_given: "gave a role", "역할을 줌";
    act_moderator_appointed: "made a moderator of a board", "게시판 중재자로 세움";
    act_moderator_dismissed: "dismissed a moderator of a board", "게시판 중재자에서 물림";
    act_report_resolved: "settled a report", "신고를 처리함";

    administration: "Administration", "관리";
    new_board: "New board", "새 게시판";
    create_board: "Create the board", "게시판 만들기";
    slug: "Short name", "짧은 이름";
    slug_hint: "2 to 32 of a-z, 0-9 and -; part of its address", "2~32자의 a-z, 0-9, -; 주소에 쓰입니다";
    slug_taken: "Another board has this short name.", "다른 게시판이 쓰는 짧은 이름입니다.";
    comment_mode: "Comments", "댓글 방식";
    two_levels: "Comments and replies", "댓글과 답글";
    tree: "A tree: replies to replies", "나무: 답글의 답글까지";
    health: "Health", "상태";
    part: "Part", "부분";
    state: "State", "상태";
    works: "works", "정상";
    fails: "fails", "이상";
    detail: "Detail", "내용";
    roles_hint: "A member's role is changed on their page: follow their name from anything they wrote.",
        "회원의 역할은 그 회원의 페이지에서 바꿉니다. 글이나 댓글의 이름을 따라가세요.";

    dead_letters: "Dead letters", "배달 못 한 메시지";
    dead_letters_text: "Messages between the parts that failed by themselves and were given up. Once the cause is mended, send them again: they take the same way as any other, and have their effect once.",
        "부분들 사이의 메시지 가운데 스스로 실패해 포기한 것들입니다. 원인을 고친 뒤 다시 보내면 다른 메시지와 같은 길을 가고, 효과는 한 번만 납니다.";
    no_dead_letters: "No message was given up. There is nothing to do here.", "포기한 메시지가 없습니다. 할 일이 없습니다.";
    letters_away: "The messages cannot be listed now: the part that keeps them does not answer.",
        "지금은 목록을 볼 수 없습니다. 메시지를 보관하는 부분이 답하지 않습니다.";
    message: "Message", "메시지";
    replay: "Send again", "다시 보내기";
    replay_all: "Send all shown again", "보이는 것 모두 다시 보내기";

    set_up: "Set up", "처음 설정";
    set_up_text: "Choose the name and the password of this site's first administrator.",
        "이 사이트 첫 관리자의 이름과 비밀번호를 정하세요.";
    become_admin: "Become administrator", "관리자 되기";
    set_up_done: "This site has its administrator. Sign in and start.", "관리자가 정해졌습니다. 로그인해서 시작하세요.";
    set_up_over: "This site has its administrator. Roles are given by administrators from now on.",
        "이미 관리자가 있습니다. 이제 역할은 관리자가 줍니다.";
    already_set_up: "Already set up", "이미 설정됨";
    no_set_up: "There is no set-up under this address. The right link is printed when the server starts.",
        "이 주소에는 설정 화면이 없습니다. 올바른 링크는 서버가 시작할 때 나옵니다.";

    not_found: "Not found", "찾을 수 없음";
    not_found_text: "There is nothing under this address. It may have been deleted.",
        "이 주소에는 아무것도 없습니다. 지워졌을 수 있습니다.";
    wrong_method: "Not a page", "페이지가 아님";
    wrong_method_text: "This address only takes a form. Go back to the page with the form and send it from there.",
        "이 주소는 양식을 받는 곳입니다. 양식이 있는 화면으로 돌아가 거기서 보내 주세요.";
    forbidden: "Not allowed", "할 수 없음";
    forbidden_text: "You may not do this.", "권한이 없습니다.";
    cross_site_text: "The form did not come from this site. Please open the page here and send it again.",
        "이 사이트에서 보낸 양식이 아닙니다. 여기서 화면을 열어 다시 보내 주세요.";
    not_signed_in: "Please sign in", "로그인해 주세요";
    not_signed_in_text: "This needs a member. Sign in, or sign up in half a minute.",
        "회원만 할 수 있습니다. 로그인하거나 30초면 끝나는 가입을 해 주세요.";
    form_too_old: "Please send it again", "다시 보내 주세요";
    not_understood: "Not understood", "이해하지 못함";
    not_understood_text: "What was sent cannot be read. Please go back and try again.",
        "보낸 내용을 읽을 수 없습니다. 뒤로 가서 다시 시도해 주세요.";
    too_many: "Too often", "너무 잦음";
    too_many_text: "You sent more than fits into this moment. Please go back and try again in a minute.",
        "짧은 시간에 너무 많이 보냈습니다. 잠시 후 다시 시도해 주세요.";
    too_large: "Too large", "너무 큼";
    too_large_text: "The form is larger than anything that fits. Please go back and shorten the text.",
        "보낸 내용이 너무 깁니다. 뒤로 가서 줄여 주세요.";
    unavailable: "One moment", "잠시만요";
    unavailable_text: "The server is busy or a part of it is away. Please try again shortly.",
        "서버가 바쁘거나 일부가 잠시 쉬고 있습니다. 조금 뒤에 다시 시도해 주세요.";
    internal: "Something broke", "문제가 생겼습니다";
    internal_text: "This is our mistake, and it has been noted.", "저희 잘못이며, 기록해 두었습니다.";
    send_failed: "It could not be sent. Your text is still here; please try again.",
        "보내지 못했습니다. 쓰신 내용은 그대로 있으니 다시 보내 주세요.";
}

impl Texts {
    /// The texts in a language.
    pub(crate) fn in_language(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &EN,
            Lang::Ko => &KO,
        }
    }
}

/// How many articles.
pub(crate) fn articles(lang: Lang, count: u64) -> String {
    match (lang, count) {
        (Lang::En, 1) => "1 article".to_owned(),
        (Lang::En, _) => format!("{count} articles"),
        (Lang::Ko, _) => format!("글 {count}개"),
    }
}

/// How many of the dead letters are shown.
pub(crate) fn letters_shown(lang: Lang, shown: usize, count: u64) -> String {
    match lang {
        Lang::En => format!("{shown} of {count}, oldest first"),
        Lang::Ko => format!("{count}개 가운데 {shown}개, 오래된 것부터"),
    }
}

/// How many messages were sent again.
pub(crate) fn replayed(lang: Lang, done: usize, failed: usize) -> String {
    match (lang, failed) {
        (Lang::En, 0) => format!("{done} sent again."),
        (Lang::En, _) => format!("{done} sent again, {failed} not: the log does not take them now."),
        (Lang::Ko, 0) => format!("{done}개를 다시 보냈습니다."),
        (Lang::Ko, _) => format!("{done}개를 다시 보냈고, {failed}개는 지금 보낼 수 없습니다."),
    }
}

/// How deep a reply lies, for those who do not see the indent.
pub(crate) fn level(lang: Lang, depth: u32) -> String {
    match lang {
        Lang::En => format!("Level {depth}:"),
        Lang::Ko => format!("{depth}단계 답글:"),
    }
}

/// The quiet word about new comments; `#` stands for how many, which the script fills in.
pub(crate) fn new_comments(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::En => ["1 new comment", "# new comments"],
        Lang::Ko => ["새 댓글 1개", "새 댓글 #개"],
    }
}

/// Which clock the dates are by.
pub(crate) fn site_time(lang: Lang, zone: &str) -> String {
    match lang {
        Lang::En => format!("Times in {zone}"),
        Lang::Ko => format!("시간대: {zone}"),
    }
}

/// What is wrong with a field. The services speak English; what they say is known word for word.
pub(crate) fn rule(lang: Lang, message: &str) -> String {
    if lang == Lang::En {
        return message.to_owned();
    }
    let number = |before: &str, after: &str| message.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
    match message {
        "is not the present password" => "지금 비밀번호가 아닙니다".to_owned(),
        "must not be blank" => "비워 둘 수 없습니다".to_owned(),
        "must be one line without control characters" => "제어 문자 없이 한 줄이어야 합니다".to_owned(),
        "must not contain the character NUL" => "NUL 문자는 쓸 수 없습니다".to_owned(),
        "is one of the passwords that are tried first" => "누구나 가장 먼저 떠올리는 비밀번호입니다".to_owned(),
        "must be more than a few characters in order or repeated" => {
            "몇 글자를 되풀이하거나 차례로 늘어놓은 비밀번호는 쓸 수 없습니다".to_owned()
        }
        "must be more than your name or the site's" => {
            "이름이나 사이트 이름으로 만든 비밀번호는 쓸 수 없습니다".to_owned()
        }
        "must not contain invisible characters" => "보이지 않는 문자는 쓸 수 없습니다".to_owned(),
        "must not mix scripts, such as Latin and Cyrillic letters" => {
            "라틴 문자와 키릴 문자처럼 서로 다른 문자를 섞어 쓸 수 없습니다".to_owned()
        }
        "must have fewer ligatures" => "합자가 너무 많습니다".to_owned(),
        "is reserved for those who run the site" => "운영진만 쓸 수 있는 이름입니다".to_owned(),
        "may contain only letters, digits and _" => "글자, 숫자, _만 쓸 수 있습니다".to_owned(),
        "there is no such comment on this article" => "이 글에 그런 댓글이 없습니다".to_owned(),
        "on this board a reply cannot be replied to" => "이 게시판에서는 답글에 답글을 달 수 없습니다".to_owned(),
        "there is no room for another reply here" => "여기에는 더 답글을 달 수 없습니다".to_owned(),
        _ => {
            if let Some(most) = number("must have at most ", " characters") {
                format!("{most}자까지 쓸 수 있습니다")
            } else if let Some(range) = number("must have ", " characters") {
                format!("{}자여야 합니다", range.replace(" to ", "~"))
            } else if let Some(levels) = number("replies go down to level ", " on this site") {
                format!("이 사이트에서는 답글이 {levels}단계까지입니다")
            } else if message.starts_with("must be 2 to 32 characters of a-z") {
                "2~32자의 a-z, 0-9, -만 쓸 수 있고 글자나 숫자로 시작해야 합니다".to_owned()
            } else {
                message.to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_in_the_readers_language() {
        assert_eq!(rule(Lang::Ko, "must have at most 100 characters"), "100자까지 쓸 수 있습니다");
        assert_eq!(rule(Lang::Ko, "must have 2 to 32 characters"), "2~32자여야 합니다");
        assert_eq!(rule(Lang::En, "must not be blank"), "must not be blank");
        let draft = madang_article::ArticleDraft { title: String::new(), content: "a\0".into() };
        for error in draft.check().unwrap_err().0 {
            assert_ne!(rule(Lang::Ko, &error.message), error.message, "{error:?} is not translated");
        }
    }
}
