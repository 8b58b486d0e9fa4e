//! What is measured: one file a question.

mod against_bare;
mod callers;
mod catch_up;
mod cluster_pages;
mod cluster_rates;
mod collapse;
mod counted;
mod database;
mod deep_pages;
mod folding;
mod get_comments;
mod get_one;
mod get_page;
mod get_zipf;
mod lag_site;
mod log_mix;
mod overload;
mod page_attack;
mod population;
mod post_article;
mod post_comment;
mod post_view;
mod put_like;
mod read_lag;
mod relayed;
mod sign_in_flood;
mod startup;
mod store;
mod zipf;

use std::fmt;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::cli::Options;
use crate::report::Row;
use crate::site::Scratch;

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// One article over HTTP, against bare axum with a body of equal size.
    GetArticle,
    /// A random article of the big board, some far more often than others, against bare axum.
    GetZipf,
    /// The first page of a board, against bare axum with a body of equal size.
    GetBoard,
    /// The first page of an article's comments, against bare axum with a body of equal size.
    GetComments,
    /// The page of a hot article with 30 comments, against bare axum with a body of equal size.
    GetPage,
    /// Writing articles over HTTP, against the same rows written without HTTP.
    PostArticle,
    /// Writing comments on one article over HTTP, against the same rows without HTTP, and one transaction a comment.
    PostComment,
    /// Likes of one hot article over HTTP and at the store, against one transaction a like.
    PutLike,
    /// Views over HTTP, against bare axum and one transaction a view.
    PostView,
    /// How long after a write's answer readers still see the state before it, under 1,000 writes a second.
    ReadLag,
    /// 512 clients who ask for the same cold article at once: loads and waits.
    Collapse,
    /// Entries of the log applied by the hot list and the query model side by side.
    CatchUp,
    /// Page 1, page 100 and the last page, beside plain offset and covering sub-query.
    DeepPages,
    /// Likes and articles at the store on MySQL with a relay at work, folded, against one transaction a call.
    Folding,
    /// Page 100,000 of a board on MySQL, against page 100, with the rows that the server reads.
    ClusterPages,
    /// One process of a cluster (`--cluster`): reads, writes and a mix of both, against bare axum.
    ClusterRates,
    /// How long after a write in one process of a cluster (`--cluster`) another still shows the state before it.
    Staleness,
    /// Three times the rate that the server can do, of reads and writes: good answers, refusals, memory.
    Overload,
    /// Reads beside a thousand wrong passwords a second.
    SignInFlood,
    /// Reads beside somebody who asks for pages that were made to be huge.
    PageAttack,
    /// Start on the big database, and memory before and after load.
    Startup,
}

impl Scenario {
    /// The question it answers.
    pub(crate) fn asks(self) -> &'static str {
        match self {
            Self::GetArticle => "how much of bare axum's rate is left when one article is read?",
            Self::GetZipf => "and when people read all over a big board, some articles far more than others?",
            Self::GetBoard => "how much of bare axum's rate is left when the first page of a board is read?",
            Self::GetComments => "how much of bare axum's rate is left when the first page of comments is read?",
            Self::GetPage => "how much of bare axum's rate is left when the page of a hot article is read?",
            Self::PostArticle => "how much of the store's own rate is left when articles come over HTTP?",
            Self::PostComment => "how much of the store's own rate is left when comments come over HTTP?",
            Self::PutLike => "what is won when likes that come together are counted together?",
            Self::PostView => "what does a view cost, and what would it cost if each were written at once?",
            Self::ReadLag => "how long after the answer to a write does a reader see its effect?",
            Self::Collapse => "do 512 who ask for the same thing at once cost one load?",
            Self::CatchUp => "how fast do the consumers catch up with the log, and is what they made of it exact?",
            Self::DeepPages => "what does the last page cost, compared with page 100?",
            Self::Folding => "what is won on MySQL when calls that come together are one transaction?",
            Self::ClusterPages => "what does a page deep in a board on MySQL cost, compared with page 100?",
            Self::ClusterRates => "how much of bare axum's rate is left on a cluster, everything on this machine?",
            Self::Staleness => "how long after the answer to a write does a reader of another process see its effect?",
            Self::Overload => {
                "what is left of the peak at three times the rate, and how quick is the refusal of the rest?"
            }
            Self::SignInFlood => "do readers notice a thousand wrong passwords a second?",
            Self::PageAttack => "do readers notice somebody who asks for pages that were made to be huge?",
            Self::Startup => "how long until it listens, and how much memory does it hold?",
        }
    }

    /// Whether it needs the servers of a cluster, through a process of the product.
    pub(crate) fn is_for_cluster(self) -> bool {
        matches!(self, Self::ClusterRates | Self::Staleness)
    }

    /// Measures it.
    pub(crate) async fn run(self, options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
        if scratch.is_on_cluster() != self.is_for_cluster() && self != Self::ReadLag {
            bail!("{self} is measured {} a cluster (--cluster)", if self.is_for_cluster() { "on" } else { "without" });
        }
        match self {
            Self::GetArticle => get_one::article(options, scratch).await,
            Self::GetZipf => get_zipf::run(options, scratch).await,
            Self::GetBoard => get_one::board(options, scratch).await,
            Self::GetComments => get_comments::run(options, scratch).await,
            Self::GetPage => get_page::run(options, scratch).await,
            Self::PostArticle => post_article::run(options, scratch).await,
            Self::PostComment => post_comment::run(options, scratch).await,
            Self::PutLike => put_like::run(options, scratch).await,
            Self::PostView => post_view::run(options, scratch).await,
            Self::ReadLag => read_lag::run(options, scratch).await,
            Self::Collapse => collapse::run(options, scratch).await,
            Self::CatchUp => catch_up::run(options, scratch).await,
            Self::DeepPages => deep_pages::run(options, scratch).await,
            Self::Folding => folding::run(options).await,
            Self::ClusterPages => cluster_pages::run(options).await,
            Self::ClusterRates => cluster_rates::run(options, scratch).await,
            Self::Staleness => read_lag::between_processes(options, scratch).await,
            Self::Overload => overload::run(options, scratch).await,
            Self::SignInFlood => sign_in_flood::run(options, scratch).await,
            Self::PageAttack => page_attack::run(options, scratch).await,
            Self::Startup => startup::run(options, scratch).await,
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // None is hidden from the command line, so each has a name there.
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
