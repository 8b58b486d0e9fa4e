//! Reports and acts as they travel.

use std::borrow::Cow;

use madang_board::{Act, ActId, ActKind, ArticleId, BoardId, MemberId, Report, ReportId, Reported};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::members::MemberBody;
use crate::openapi::{IdText, TimeText};

/// Why something is reported.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewReport {
    /// Why, for the moderators.
    #[schema(
        example = "This is advertising",
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    pub(crate) reason: String,
}

/// What a moderator says about a report.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Settlement {
    /// For whoever reads the report later.
    #[schema(example = "The writer was told", max_length = 500, pattern = r"^[^\u0000]*$")]
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// Whether an article or a comment is reported.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportSubjectKind)]
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
    #[schema(example = "hana")]
    reporter_name: String,
    /// Why, in their words.
    #[schema(example = "This is advertising")]
    reason: String,
    #[schema(value_type = TimeText)]
    reported_at: Timestamp,
    /// Null while it is open.
    #[schema(required = true)]
    resolution: Option<ResolutionBody>,
}

/// How a report was settled.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportResolution)]
pub(crate) struct ResolutionBody {
    #[schema(value_type = IdText)]
    moderator_id: MemberId,
    /// What the moderator says about it; may be empty.
    #[schema(example = "The writer was told")]
    note: String,
    #[schema(value_type = TimeText)]
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
    /// Newest first.
    pub(crate) items: Vec<ReportBody>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    pub(crate) next: Option<ReportId>,
}

/// What a moderator did; later versions may know more kinds.
pub(crate) struct ActKindName;

impl PartialSchema for ActKindName {
    fn schema() -> RefOr<Schema> {
        let kinds = ActKind::ALL.iter().map(|kind| kind.name());
        let text = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(kinds));
        text.description(Some("What a moderator did")).examples([json!(ActKind::ArticleDeleted.name())]).into()
    }
}

impl ToSchema for ActKindName {
    fn name() -> Cow<'static, str> {
        "ModerationActKind".into()
    }
}

/// One act of a moderator.
#[derive(Serialize, ToSchema)]
#[schema(as = ModerationAct)]
pub(crate) struct ActBody {
    #[schema(value_type = IdText)]
    act_id: ActId,
    #[schema(value_type = ActKindName)]
    kind: ActKind,
    #[schema(value_type = IdText)]
    moderator_id: MemberId,
    /// The name they had then.
    #[schema(example = "ara")]
    moderator_name: String,
    /// The article, comment, member or report it was done to.
    #[schema(value_type = IdText)]
    subject_id: String,
    /// The board it concerns; null for an act that concerns none.
    #[schema(value_type = Option<IdText>, required = true)]
    board_id: Option<BoardId>,
    /// What was decided, where the kind leaves it open: the role, or until when.
    #[schema(example = "moderator")]
    detail: String,
    /// Why, in the moderator's words; may be empty.
    #[schema(example = "Advertising")]
    reason: String,
    #[schema(value_type = TimeText)]
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
#[schema(as = ModerationLog)]
pub(crate) struct LogBody {
    /// Newest first.
    pub(crate) items: Vec<ActBody>,
    /// Goes into `before` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    pub(crate) next: Option<ActId>,
}

/// Who moderates a board.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModeratorList {
    /// By the time of their registration.
    pub(super) items: Vec<MemberBody>,
}
