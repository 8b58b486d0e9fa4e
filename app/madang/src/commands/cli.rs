//! The command line: what can be asked, and help that teaches.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::control::ControlRequest;

/// Longest password read from standard input; the rules of members are stricter.
pub(crate) const PASSWORD_MAX_BYTES: u64 = 4_096;

/// A discussion board in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "madang",
    version,
    about = "A discussion board in one binary",
    long_about = "A discussion board in one binary, with nothing to install.\n\n\
        Without a command it serves: HTTP on 127.0.0.1:8080, everything it keeps in ./madang-data. \
        The other commands work on the same data directory. While a server runs they ask it through the socket in \
        that directory; otherwise they open the directory themselves.",
    after_long_help = "Examples:\n  \
        madang                                     serve with the defaults\n  \
        madang serve --listen 0.0.0.0:80 --data /var/lib/madang\n  \
        echo 'a long secret' | madang member create --role admin --name ann --password-stdin\n  \
        madang check                               compare every counter with what it counts\n\n\
        Settings come from defaults, then the file of --config, then MADANG_... in the environment, then flags.\n\
        `madang config` prints the ones in force, and where each comes from."
)]
pub(crate) struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub common: CommonArgs,
    /// `madang --listen ...` without a command serves too.
    #[command(flatten)]
    pub serve: ServeArgs,
    /// The command; `serve` when absent.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// TOML file with settings
    #[arg(long, value_name = "FILE", global = true, env = "MADANG_CONFIG")]
    pub config: Option<PathBuf>,
    /// Data directory [default: ./madang-data]
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<String>,
    /// error, warn, info, debug, trace, or directives such as info,madang_sqlite=debug
    #[arg(long, value_name = "LEVEL", global = true)]
    pub log_level: Option<String>,
    /// human or json
    #[arg(long, value_name = "FORMAT", global = true)]
    pub log_format: Option<String>,
    /// Any setting; may be given several times
    #[arg(long, value_name = "KEY=VALUE", global = true, value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

/// What serving takes.
#[derive(Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// Where HTTP listens [default: 127.0.0.1:8080]; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Which roles this process has: all, or a list of member, article, comment, like, view, hot-article,
    /// article-read, web
    #[arg(long, value_name = "LIST")]
    pub roles: Option<String>,
}

/// What can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the board over HTTP until SIGTERM or SIGINT
    #[command(
        long_about = "Serves the board over HTTP. SIGTERM and SIGINT drain: no new connections, requests under way \
        are answered, everything committed is on disk, exit code 0. A second signal ends at once.\n\n\
        The first administrator: run `madang member create`, or set MADANG_ADMIN_NAME and MADANG_ADMIN_PASSWORD at \
        start, or open the one-time link that is printed while there is none."
    )]
    Serve(ServeArgs),
    /// Register members
    #[command(subcommand)]
    Member(MemberCommand),
    /// Fill a site with boards, members and articles for load tests
    #[command(
        long_about = "Fills a site with boards seed-1 to seed-N, members seed_1 to seed_N and articles spread over \
        them, and writes a bearer token for each new member, one `member_id token` a line. Works beside a running \
        server. Run again, it adds.",
        after_long_help = "Examples:\n  \
        madang seed --boards 4 --articles 10000 --members 100 --tokens tokens.txt\n  \
        madang seed --board general --articles 1000000 --members 10 --tokens tokens.txt"
    )]
    Seed(SeedArgs),
    /// Move a site from its data directory to a cluster
    #[command(
        long_about = "Moves a site from its data directory (--data) to the cluster of a configuration file (--to): \
        members with their passwords and roles, boards, articles, comments, likes, views and hot lists, with their ids \
        and counters. No server may run on either. Interrupted, it goes on when it is run again. In the end the rows of \
        both are counted and compared; 1 when they differ.\n\n\
        The event log stays behind. So do the keys: a cluster derives its own from its secret, and everybody signs in \
        again.",
        after_long_help = "Example:\n  madang copy --from embedded --data madang-data --to cluster.toml"
    )]
    Copy(CopyArgs),
    /// Compare every counter with the rows it counts
    #[command(
        long_about = "Compares every counter with the rows it counts and prints the sizes of what grows. Exits with \
        1 on any difference, each on a line of its own. Changes nothing."
    )]
    Check {
        /// Also read every page of the database file
        #[arg(long)]
        full: bool,
    },
    /// Look at messages that could not be applied, and publish them again
    #[command(subcommand)]
    Dlq(DlqCommand),
    /// Show the lag of each consumer group, pause one for a while, pass over a record
    #[command(subcommand)]
    Groups(GroupsCommand),
    /// Make derived data anew from what it is derived from
    #[command(subcommand)]
    Rebuild(RebuildCommand),
    /// Look after the keys in the data directory
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Print the settings in force and where each comes from; secrets hidden
    Config,
}

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Sign tokens with a new key from the next start on; those that were signed before stay good
    Rotate,
}

/// What can be done with members.
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Register a member with a role
    #[command(after_long_help = "Example:\n  \
        echo 'a long secret' | madang member create --role admin --name ann --password-stdin")]
    Create {
        /// member, moderator or admin
        #[arg(long, value_enum, default_value_t = RoleArg::Member)]
        role: RoleArg,
        /// 2 to 32 letters, digits and _
        #[arg(long)]
        name: String,
        /// Read the password, 8 to 128 characters, from standard input: on the command line others could see it
        #[arg(long, required = true)]
        password_stdin: bool,
    },
}

/// A role on the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Writes, comments, likes.
    Member,
    /// Also edits and deletes what others wrote.
    Moderator,
    /// Also creates boards and gives roles.
    Admin,
}

impl From<RoleArg> for madang_board::Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Member => Self::Member,
            RoleArg::Moderator => Self::Moderator,
            RoleArg::Admin => Self::Admin,
        }
    }
}

/// How much to fill in.
#[derive(Debug, Args)]
pub(crate) struct SeedArgs {
    /// Boards seed-1 to seed-N
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub boards: u64,
    /// Articles
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub articles: u64,
    /// New members, who write them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub members: u64,
    /// Where their bearer tokens go, one `member_id token` a line
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Put all articles on this board, made if it is not there
    #[arg(long, value_name = "SLUG", conflicts_with = "boards")]
    pub board: Option<String>,
}

/// From where and to where a site moves.
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// What the site is now
    #[arg(long, value_enum)]
    pub from: CopyFrom,
    /// Configuration file of the cluster
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Rows in one step
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub slice: u32,
}

/// What can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CopyFrom {
    /// A data directory
    Embedded,
}

/// What can be done with dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List dead letters, oldest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        limit: u64,
    },
    /// Show one dead letter with its headers and payload
    Show {
        /// Its id, as listed
        id: String,
    },
    /// Publish dead letters again, for the group that gave them up
    #[command(after_long_help = "Examples:\n  madang dlq replay 17 --dry-run\n  madang dlq replay --all")]
    Replay {
        /// The id, as listed
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Every dead letter
        #[arg(long, conflicts_with = "id")]
        all: bool,
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
}

/// What can be done with consumer groups.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupsCommand {
    /// List the groups and how far each is behind the event log
    List,
    /// Have a group rest; the log keeps what it has not read
    Pause {
        /// The group, as listed
        group: String,
    },
    /// Have a group go on where it stopped
    Resume {
        /// The group, as listed
        group: String,
    },
    /// Have a group pass over a record that it is stuck at: it is neither applied nor kept
    Skip {
        /// The group, as listed
        group: String,
        /// The record as topic/partition/offset, as /readyz and the log name it
        record: String,
    },
}

/// What can be made anew.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum RebuildCommand {
    /// Drop the query model; every article comes back from its owners when it is read
    ReadModel,
    /// Compute the ranking of hot articles anew from the counts it is made of
    Hot,
    /// Remove comments, likes and views of articles whose deletion was missed, as the owner of articles says
    Parts,
}

impl Cli {
    /// Flags that are settings, as (setting, value, the flag as it is spelled).
    pub(crate) fn setting_flags(&self) -> Vec<(String, String, String)> {
        let under = match &self.command {
            Some(Command::Serve(args)) => Some(args),
            _ => None,
        };
        let named = [
            ("listen", under.and_then(|args| args.listen.as_ref()).or(self.serve.listen.as_ref()), "--listen"),
            ("roles", under.and_then(|args| args.roles.as_ref()).or(self.serve.roles.as_ref()), "--roles"),
            ("data", self.common.data.as_ref(), "--data"),
            ("log_level", self.common.log_level.as_ref(), "--log-level"),
            ("log_format", self.common.log_format.as_ref(), "--log-format"),
        ];
        let named =
            named.into_iter().filter_map(|(key, value, flag)| Some((key.to_owned(), value?.clone(), flag.to_owned())));
        let set = self.common.set.iter().map(|(key, value)| (key.clone(), value.clone(), format!("--set {key}")));
        set.chain(named).collect()
    }
}

impl Command {
    /// What to ask for, unless the command is one that needs no site; `password` is what came from standard input.
    pub(crate) fn request(&self, password: String) -> Option<ControlRequest> {
        Some(match self {
            Self::Serve(_) | Self::Config | Self::Keys(_) | Self::Copy(_) => return None,
            Self::Member(MemberCommand::Create { role, name, .. }) => {
                ControlRequest::MemberCreate { name: name.clone(), password, role: (*role).into() }
            }
            Self::Seed(args) => ControlRequest::Seed {
                boards: args.boards,
                articles: args.articles,
                members: args.members,
                board: args.board.clone(),
            },
            Self::Check { full } => ControlRequest::Check { full: *full },
            Self::Dlq(DlqCommand::List { limit }) => {
                ControlRequest::DlqList { limit: usize::try_from(*limit).unwrap_or(usize::MAX) }
            }
            Self::Groups(GroupsCommand::List) => ControlRequest::GroupsList,
            Self::Groups(GroupsCommand::Pause { group }) => {
                ControlRequest::GroupsPause { group: group.clone(), paused: true }
            }
            Self::Groups(GroupsCommand::Resume { group }) => {
                ControlRequest::GroupsPause { group: group.clone(), paused: false }
            }
            Self::Groups(GroupsCommand::Skip { group, record }) => {
                ControlRequest::GroupsSkip { group: group.clone(), record: record.clone() }
            }
            Self::Rebuild(RebuildCommand::ReadModel) => ControlRequest::RebuildReadModel,
            Self::Rebuild(RebuildCommand::Parts) => ControlRequest::RebuildParts,
            Self::Rebuild(RebuildCommand::Hot) => ControlRequest::RebuildHot,
            Self::Dlq(DlqCommand::Show { id }) => ControlRequest::DlqShow { id: id.clone() },
            Self::Dlq(DlqCommand::Replay { id, dry_run, .. }) => {
                ControlRequest::DlqReplay { id: id.clone(), dry_run: *dry_run }
            }
        })
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_with_flags_is_a_way_to_serve() {
        let cli = Cli::try_parse_from(["madang", "--listen", "127.0.0.1:0", "--data", "d"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.setting_flags().len(), 2);
    }

    #[test]
    fn flags_stand_before_or_after_the_command() {
        for line in [["madang", "--data", "d", "check"], ["madang", "check", "--data", "d"]] {
            assert_eq!(Cli::try_parse_from(line).unwrap().setting_flags()[0].1, "d");
        }
    }

    #[test]
    fn a_replay_names_one_letter_or_all() {
        assert!(Cli::try_parse_from(["madang", "dlq", "replay"]).is_err());
        assert!(Cli::try_parse_from(["madang", "dlq", "replay", "1", "--all"]).is_err());
        let cli = Cli::try_parse_from(["madang", "dlq", "replay", "--all", "--dry-run"]).unwrap();
        let request = cli.command.unwrap().request(String::new()).unwrap();
        assert_eq!(request, ControlRequest::DlqReplay { id: None, dry_run: true });
    }

    #[test]
    fn a_password_never_stands_on_the_command_line() {
        assert!(Cli::try_parse_from(["madang", "member", "create", "--name", "ann"]).is_err());
    }
}
