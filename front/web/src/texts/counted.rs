//! What is counted, in words: one and many of it, and sentences around a number.

use crate::preferences::Lang;

/// Something that is counted: one and many of it in each language, with `#` for the number.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    en: [&'static str; 2],
    ko: &'static str,
}

pub(crate) const LIKES: Counted = Counted { en: ["# like", "# likes"], ko: "좋아요 #" };
pub(crate) const COMMENTS: Counted = Counted { en: ["# comment", "# comments"], ko: "댓글 #" };
pub(crate) const VIEWS: Counted = Counted { en: ["# view", "# views"], ko: "조회 #" };
pub(crate) const POINTS: Counted = Counted { en: ["# point", "# points"], ko: "#점" };

impl Counted {
    /// One and many, for a script that follows a count.
    pub(crate) fn in_language(self, lang: Lang) -> [&'static str; 2] {
        match lang {
            Lang::En => self.en,
            Lang::Ko => [self.ko; 2],
        }
    }

    /// So many of it.
    pub(crate) fn say(self, lang: Lang, count: u64) -> String {
        let [one, many] = self.in_language(lang);
        (if count == 1 { one } else { many }).replace('#', &count.to_string())
    }
}

/// How many comments.
pub(crate) fn comments(lang: Lang, count: u64) -> String {
    COMMENTS.say(lang, count)
}

/// The way back for one who is past the last page.
pub(crate) fn last_page(lang: Lang, number: u64) -> String {
    match lang {
        Lang::En => format!("Go to the last page ({number})"),
        Lang::Ko => format!("마지막 페이지({number})로 가기"),
    }
}

/// How long ago, for a week.
pub(crate) fn ago(lang: Lang, seconds: u64) -> Option<String> {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const WEEK: u64 = 7 * DAY;
    Some(match (lang, seconds) {
        (Lang::En, 0..MINUTE) => "just now".to_owned(),
        (Lang::Ko, 0..MINUTE) => "방금".to_owned(),
        (Lang::En, MINUTE..HOUR) => format!("{} min ago", seconds / MINUTE),
        (Lang::Ko, MINUTE..HOUR) => format!("{}분 전", seconds / MINUTE),
        (Lang::En, HOUR..DAY) => format!("{} h ago", seconds / HOUR),
        (Lang::Ko, HOUR..DAY) => format!("{}시간 전", seconds / HOUR),
        (Lang::En, DAY..WEEK) if seconds < 2 * DAY => "yesterday".to_owned(),
        (Lang::Ko, DAY..WEEK) if seconds < 2 * DAY => "어제".to_owned(),
        (Lang::En, DAY..WEEK) => format!("{} days ago", seconds / DAY),
        (Lang::Ko, DAY..WEEK) => format!("{}일 전", seconds / DAY),
        _ => return None,
    })
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
        (Lang::En, _) => {
            format!("{done} sent again, {failed} failed because the event log does not take them right now.")
        }
        (Lang::Ko, 0) => format!("{done}개를 다시 보냈습니다."),
        (Lang::Ko, _) => format!("{done}개를 다시 보냈고, {failed}개는 이벤트 로그가 받지 않아 보내지 못했습니다."),
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
