//! What goes over the control socket, one JSON object a line.

use madang_board::Role;
use serde::{Deserialize, Serialize};

use crate::commands::output::OutputLine;

/// Longest request that the server reads.
pub(super) const REQUEST_MAX_BYTES: u64 = 64 * 1_024;
/// Longest line that a command reads; a dead letter with its payload, escaped twice, fits.
pub(super) const REPLY_MAX_BYTES: u64 = 16 * 1_024 * 1_024;

/// What a command asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub(crate) enum ControlRequest {
    /// Registers a member.
    MemberCreate {
        /// Their name.
        name: String,
        /// Their password.
        password: String,
        /// What they may do.
        role: Role,
    },
    /// Makes a link by which a member chooses a new password.
    MemberReset {
        /// Their name.
        name: String,
    },
    /// Fills the site.
    Seed {
        /// Boards `seed-1` to `seed-N`.
        boards: u64,
        /// Articles over all of them.
        articles: u64,
        /// Members who write them.
        members: u64,
        /// Put all articles on this board instead.
        board: Option<String>,
    },
    /// Compares every counter with what it counts.
    Check {
        /// Also reads every page of the database file.
        full: bool,
    },
    /// Keeps the files of the site fit for copying while the connection is open.
    BackupHold,
    /// Ends that, if they were so all the time.
    BackupRelease {
        /// The number that was told.
        hold: u64,
    },
    /// Lists dead letters.
    DlqList {
        /// At most so many.
        limit: usize,
    },
    /// Shows one dead letter.
    DlqShow {
        /// Its id.
        id: String,
    },
    /// Publishes dead letters again.
    DlqReplay {
        /// This one; all when absent.
        id: Option<String>,
        /// Only says what would be done.
        dry_run: bool,
    },
    /// Lists consumer groups.
    GroupsList,
    /// Pauses or resumes a consumer group.
    GroupsPause {
        /// The group.
        group: String,
        /// Whether it is to be paused.
        paused: bool,
    },
    /// Has a consumer group pass over a record.
    GroupsSkip {
        /// The group.
        group: String,
        /// Where the record lies.
        record: String,
    },
    /// Drops the query model.
    RebuildReadModel,
    /// Computes the ranking of hot articles anew.
    RebuildHot,
    /// Removes what is left of articles whose deletion was missed.
    RebuildParts,
    /// Makes the search index anew.
    RebuildSearch,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// The command's exit code.
    Exit(u8),
    /// It could not be done; says why.
    Failed(String),
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplyLine {
    /// Something on the way.
    Line(OutputLine),
    /// The last line.
    End(Ending),
}

impl ControlRequest {
    /// The command as the lock file and the log name it; never with a password.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::MemberCreate { .. } => "member create",
            Self::MemberReset { .. } => "member reset",
            Self::Seed { .. } => "seed",
            Self::Check { .. } => "check",
            Self::BackupHold | Self::BackupRelease { .. } => "backup",
            Self::DlqList { .. } => "dlq list",
            Self::DlqShow { .. } => "dlq show",
            Self::DlqReplay { .. } => "dlq replay",
            Self::GroupsList => "groups list",
            Self::GroupsPause { paused: true, .. } => "groups pause",
            Self::GroupsPause { paused: false, .. } => "groups resume",
            Self::GroupsSkip { .. } => "groups skip",
            Self::RebuildReadModel => "rebuild read-model",
            Self::RebuildParts => "rebuild parts",
            Self::RebuildHot => "rebuild hot",
            Self::RebuildSearch => "rebuild search",
        }
    }

    /// Whether the command may make a data directory that is not there.
    pub(crate) fn makes_data(&self) -> bool {
        matches!(self, Self::MemberCreate { .. } | Self::Seed { .. })
    }
}
