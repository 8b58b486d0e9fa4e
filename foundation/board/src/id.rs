//! The things that a board has, by their ids.

madang_kernel::ids! {
    /// An act of a moderator, as the log of moderation names it.
    ActId,
    /// An article; carries its board's shard.
    ArticleId,
    /// A board; carries the shard on which its articles live.
    BoardId,
    /// A comment; carries the shard of what belongs to its article.
    CommentId,
    /// A member; all live on shard 0.
    MemberId,
    /// A member's report of an article or a comment.
    ReportId,
    /// One sign-in of a member.
    SessionId,
}
