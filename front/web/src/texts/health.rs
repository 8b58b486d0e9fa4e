//! The words of the page on which administrators see how the process fares.

use crate::preferences::Lang;

/// What the page says.
pub(crate) struct HealthTexts {
    pub(crate) last_day: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) parts: &'static str,
    pub(crate) requests: &'static str,
    pub(crate) latency: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) lag: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) disk: &'static str,
    /// With `#` for the number.
    pub(crate) a_second: &'static str,
    pub(crate) in_five_minutes: &'static str,
    pub(crate) median: &'static str,
    pub(crate) slowest: &'static str,
    pub(crate) latest: &'static str,
    pub(crate) highest: &'static str,
    pub(crate) lowest: &'static str,
    pub(crate) of_the_day: &'static str,
    pub(crate) shed: &'static str,
    pub(crate) a_day_ago: &'static str,
    pub(crate) now: &'static str,
    pub(crate) none_yet: &'static str,
}

static EN: HealthTexts = HealthTexts {
    last_day: "The last 24 hours",
    lead: "How this process has fared, in steps of five minutes, since it started. The figures are kept in its memory and begin \
           anew with every start; its /metrics has them all, for a Prometheus that keeps them.",
    parts: "Parts",
    requests: "Requests",
    latency: "Latency",
    errors: "Errors",
    lag: "Lag",
    memory: "Memory",
    disk: "Free disk space",
    a_second: "# a second",
    in_five_minutes: "# in five minutes",
    median: "median",
    slowest: "99th percentile",
    latest: "now",
    highest: "highest",
    lowest: "lowest",
    of_the_day: "# answers with 5xx in 24 hours",
    shed: "# of them refused under overload",
    a_day_ago: "24 hours ago",
    now: "now",
    none_yet: "No figures yet. The first ones are here a minute after the start.",
};

static KO: HealthTexts = HealthTexts {
    last_day: "최근 24시간",
    lead: "이 프로세스가 시작한 뒤의 상태를 5분 단위로 보여 줍니다. 수치는 메모리에만 있어 다시 시작하면 처음부터 쌓입니다. \
           오래 보관하려면 Prometheus로 /metrics를 수집하세요.",
    parts: "구성 요소",
    requests: "요청",
    latency: "응답 시간",
    errors: "오류",
    lag: "처리 지연",
    memory: "메모리",
    disk: "디스크 여유 공간",
    a_second: "초당 #",
    in_five_minutes: "5분 동안 #건",
    median: "중앙값",
    slowest: "99번째 백분위수",
    latest: "현재",
    highest: "최고",
    lowest: "최저",
    of_the_day: "24시간 동안 5xx 응답 #건",
    shed: "그중 과부하로 거절 #건",
    a_day_ago: "24시간 전",
    now: "지금",
    none_yet: "아직 수치가 없습니다. 시작하고 1분이 지나면 보입니다.",
};

impl HealthTexts {
    /// In a language.
    pub(crate) fn in_language(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &EN,
            Lang::Ko => &KO,
        }
    }
}
