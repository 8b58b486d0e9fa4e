//! Reports and acts as they travel.

use madang_board::{Act, ActId, ActKind, ArticleId, BoardId, MemberId, Report, ReportId, Reported};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::openapi::IdText;

/// Why something is reported.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewReport {
    #[schema(
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    pub(crate) reason: String,
}

/// What a moderator says about a report.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Settlement {
    #[schema(max_length = 500, pattern = r"^[^\u0000]*$")]
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// What is reported.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportedKind {
    Article,
    Comment,
}

/// A member's report.
#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub(crate) struct ReportBody {
    #[schema(value_type = IdText)]
    pub(crate) report_id: ReportId,
    kind: ReportedKind,
    /// The article or the comment that is reported.
    #[schema(value_type = IdText)]
    subject_id: String,
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    #[schema(value_type = IdText)]
    reporter_id: MemberId,
    /// The name they had then.
    reporter_name: String,
    reason: String,
    #[schema(value_type = String, format = DateTime)]
    reported_at: Timestamp,
    /// Null while it is open.
    #[schema(required = true)]
    resolution: Option<ResolutionBody>,
}

/// How a report was settled.
#[derive(Serialize, ToSchema)]
#[schema(as = Resolution)]
pub(crate) struct ResolutionBody {
    #[schema(value_type = IdText)]
    moderator_id: MemberId,
    note: String,
    #[schema(value_type = String, format = DateTime)]
    resolved_at: Timestamp,
}

impl From<Report> for ReportBody {
    fn from(report: Report) -> Self {
        let (kind, subject_id) = match report.reported {
            Reported::Article(article) => (ReportedKind::Article, article.to_string()),
            Reported::Comment(comment) => (ReportedKind::Comment, comment.to_string()),
        };
        let resolution = report.resolution.map(|resolution| ResolutionBody {
            moderator_id: resolution.moderator_id,
            note: resolution.note,
            resolved_at: resolution.resolved_at,
        });
        Self {
            report_id: report.report_id,
            kind,
            subject_id,
            article_id: report.article_id,
            board_id: report.board_id,
            reporter_id: report.reporter_id,
            reporter_name: report.reporter_name,
            reason: report.reason,
            reported_at: report.reported_at,
            resolution,
        }
    }
}

/// One step of the reports.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReportList {
    pub(crate) items: Vec<ReportBody>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    pub(crate) next: Option<ReportId>,
}

/// One act of a moderator.
#[derive(Serialize, ToSchema)]
#[schema(as = ModerationAct)]
pub(crate) struct ActBody {
    #[schema(value_type = IdText)]
    act_id: ActId,
    /// What was done.
    #[schema(value_type = String, example = "article_deleted")]
    kind: ActKind,
    #[schema(value_type = IdText)]
    moderator_id: MemberId,
    /// The name they had then.
    moderator_name: String,
    /// The article, comment, member or report it was done to.
    #[schema(value_type = IdText)]
    subject_id: String,
    #[schema(value_type = Option<IdText>, required = true)]
    board_id: Option<BoardId>,
    /// What was decided, where the kind leaves it open: the role, or until when.
    detail: String,
    reason: String,
    #[schema(value_type = String, format = DateTime)]
    acted_at: Timestamp,
}

impl From<Act> for ActBody {
    fn from(act: Act) -> Self {
        let Act { act_id, kind, moderator_id, moderator_name, subject, board_id, detail, reason, acted_at } = act;
        let subject_id = subject.to_string();
        Self { act_id, kind, moderator_id, moderator_name, subject_id, board_id, detail, reason, acted_at }
    }
}

/// One step of the log.
#[derive(Serialize, ToSchema)]
pub(crate) struct Log {
    pub(crate) items: Vec<ActBody>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    pub(crate) next: Option<ActId>,
}
