//! What commands do, written once: run by the server for a command beside it, or by the command itself.

use super::backup::hold::Holds;
use super::control::{ControlRequest, Ending};
use super::output::Output;
use super::{check, dlq, groups, member, rebuild, seed};
use crate::composition::site::Site;

/// Carries requests out on an open site.
#[derive(Clone)]
pub(crate) struct Operations {
    site: Site,
    in_background: bool,
    holds: Holds,
}

impl Operations {
    /// For a server, whose requests come first.
    pub(crate) fn in_background(site: Site) -> Self {
        Self { site, in_background: true, holds: Holds::default() }
    }

    /// For a command that has the site to itself.
    pub(crate) fn alone(site: Site) -> Self {
        Self { site, in_background: false, holds: Holds::default() }
    }

    /// Carries out one request.
    pub(crate) async fn run(&self, request: ControlRequest, output: Output) -> Ending {
        let outcome = match request {
            ControlRequest::MemberCreate { name, password, role } => {
                member::create(&self.site, &name, &password, role, &output).await
            }
            ControlRequest::MemberReset { name } => member::reset(&self.site, &name, &output).await,
            ControlRequest::Seed { boards, articles, members, board } => {
                let amounts = seed::Amounts { boards, articles, members, board };
                seed::seed(&self.site, self.in_background, amounts, &output).await
            }
            ControlRequest::Check { full } => check::check(&self.site, full, &output).await,
            ControlRequest::BackupHold => self.holds.hold(&self.site, &output).await,
            ControlRequest::BackupRelease { hold } => self.holds.release(hold),
            ControlRequest::DlqList { limit } => dlq::list(&self.site, limit, &output).await,
            ControlRequest::DlqShow { id } => dlq::show(&self.site, &id, &output).await,
            ControlRequest::GroupsList => groups::list(&self.site, &output).await,
            ControlRequest::GroupsPause { group, paused } => {
                groups::set_paused(&self.site, &group, paused, &output).await
            }
            ControlRequest::GroupsSkip { group, record } => groups::skip(&self.site, &group, &record, &output).await,
            ControlRequest::RebuildReadModel => rebuild::read_model(&self.site, &output).await,
            ControlRequest::RebuildParts => rebuild::parts(&self.site, &output).await,
            ControlRequest::RebuildHot => rebuild::hot(&self.site, &output).await,
            ControlRequest::RebuildSearch => rebuild::search(&self.site, &output).await,
            ControlRequest::DlqReplay { id, dry_run } => dlq::replay(&self.site, id, dry_run, &output).await,
        };
        match outcome {
            Ok(code) => Ending::Exit(code),
            Err(error) => Ending::Failed(format!("{error:#}")),
        }
    }
}
