//! What commands do, written once: run by the server for a command beside it, or by the command itself.

use anyhow::Context as _;

use super::control::{ControlRequest, Ending};
use super::report::Report;
use super::{check, dlq, groups, member, rebuild, seed};
use crate::composition::site::Site;

/// Carries requests out on an open site.
#[derive(Clone)]
pub(crate) struct Operations {
    site: Site,
    beside_people: bool,
}

impl Operations {
    /// For a server, where people come first.
    pub(crate) fn beside_people(site: Site) -> Self {
        Self { site, beside_people: true }
    }

    /// For a command that has the site to itself.
    pub(crate) fn alone(site: Site) -> Self {
        Self { site, beside_people: false }
    }

    /// Carries out one request.
    pub(crate) async fn run(&self, request: ControlRequest, report: Report) -> Ending {
        let name = request.name();
        let outcome = match request {
            ControlRequest::MemberCreate { name, password, role } => {
                member::create(&self.site, &name, &password, role, &report).await
            }
            ControlRequest::Seed { boards, articles, members, board } => {
                let amounts = seed::Amounts { boards, articles, members, board };
                seed::seed(&self.site, self.beside_people, amounts, &report).await
            }
            ControlRequest::Check { full } => check::check(&self.site, full, &report).await,
            ControlRequest::DlqList { limit } => dlq::list(&self.site, limit, &report).await,
            ControlRequest::DlqShow { id } => dlq::show(&self.site, &id, &report).await,
            ControlRequest::GroupsList => groups::list(&self.site, &report).await,
            ControlRequest::GroupsPause { group, paused } => {
                groups::set_paused(&self.site, &group, paused, &report).await
            }
            ControlRequest::RebuildReadModel => rebuild::read_model(&self.site, &report).await,
            ControlRequest::RebuildHot => rebuild::hot(&self.site, &report).await,
            ControlRequest::DlqReplay { id, dry_run } => dlq::replay(&self.site, id, dry_run, &report).await,
        };
        match outcome.with_context(|| format!("madang {name}")) {
            Ok(code) => Ending::Exit(code),
            Err(error) => Ending::Failed(format!("{error:#}")),
        }
    }
}
