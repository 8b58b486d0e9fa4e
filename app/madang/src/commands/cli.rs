//! The command line: what can be asked, and help that teaches.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::backup::{BackupArgs, RestoreArgs};
use super::control::ControlRequest;
use super::doctor::DoctorArgs;
use super::shards::ShardsCommand;
use super::upgrade::UpgradeArgs;

/// Longest password read from standard input; the rules of members are stricter.
pub(crate) const PASSWORD_MAX_BYTES: u64 = 4_096;

/// A discussion board in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "madang",
    version,
    about = "A discussion board in one binary",
    long_about = "A discussion board in one binary, with nothing else to install.\n\n\
        Without a command, madang serves the board on http://127.0.0.1:8080 and keeps its data in ./madang-data. \
        The other commands work on the same data directory: while a server is running they ask it to do the work, \
        through a socket in that directory; otherwise they open the directory themselves.",
    after_long_help = "Examples:\n  \
        madang                                     serve with the default settings\n  \
        madang serve --listen 0.0.0.0:80 --data /var/lib/madang\n  \
        echo 'a long secret' | madang member create --role admin --name ann --password-stdin\n  \
        madang check                               compare every counter with the rows it counts\n\n\
        A setting is read from its default, the file given by --config, the environment (MADANG_LISTEN) and the \
        flags; the last of these wins.\n\
        `madang config` prints the settings in force and where each one comes from."
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
    /// TOML file to read settings from
    #[arg(long, value_name = "FILE", global = true, env = "MADANG_CONFIG")]
    pub config: Option<PathBuf>,
    /// Directory that holds the data of the site [default: ./madang-data]
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<String>,
    /// How much to log: off, error, warn, info, debug or trace; single modules as in info,madang_sqlite=debug
    #[arg(long, value_name = "LEVEL", global = true)]
    pub log_level: Option<String>,
    /// How log lines look: human or json
    #[arg(long, value_name = "FORMAT", global = true)]
    pub log_format: Option<String>,
    /// Change any setting; can be given more than once
    #[arg(long, value_name = "KEY=VALUE", global = true, value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

/// What serving takes.
#[derive(Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:8080]; port 0 picks a free port
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Roles of this process: all, or a comma-separated list of member, article, comment, like, view, hot-article,
    /// article-read, search and web
    #[arg(long, value_name = "LIST")]
    pub roles: Option<String>,
}

/// What can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the board over HTTP until SIGTERM or SIGINT
    #[command(long_about = "Serves the board over HTTP until it receives SIGTERM or SIGINT. It then accepts no new \
        connections, answers the requests it has begun, and exits with 0. A second signal ends it at once.\n\n\
        To create the first administrator, run `madang member create --role admin`, or start with MADANG_ADMIN_NAME \
        and MADANG_ADMIN_PASSWORD in the environment, or enter the token that is printed at the start on the page \
        /setup.")]
    Serve(ServeArgs),
    /// Create members
    #[command(subcommand)]
    Member(MemberCommand),
    /// Fill a site with boards, members and articles for load tests
    #[command(
        long_about = "Fills a site with boards seed-1 to seed-N, members seed_1 to seed_N and articles spread evenly \
        over both, and writes a bearer token for each new member to a file, one line of `member_id token` each. It \
        can run beside a server. Running it again adds more.",
        after_long_help = "Examples:\n  \
        madang seed --boards 4 --articles 10000 --members 100 --tokens tokens.txt\n  \
        madang seed --board general --articles 1000000 --members 10 --tokens tokens.txt"
    )]
    Seed(SeedArgs),
    /// Move a site from its data directory to a cluster
    #[command(
        long_about = "Copies a site from its data directory (--data) to the cluster that a configuration file \
        describes (--to): members with their passwords and roles, boards, articles, comments, likes, views and hot \
        lists, with the same ids and counters. Stop every server of both first. If the copy is interrupted, run the \
        command again: it continues where it stopped. At the end the rows on both sides are counted and compared; \
        the exit code is 1 if they differ.\n\n\
        The event log is not copied. Neither are the keys: a cluster derives its own from its secret, so everybody \
        has to sign in again.",
        after_long_help = "Example:\n  madang copy --from embedded --data madang-data --to cluster.toml"
    )]
    Copy(CopyArgs),
    /// Compare every counter with the rows it counts
    #[command(
        long_about = "Compares every counter with the rows it counts, and hot scores, the query model and the search \
        index with what they are derived from, and prints how large the tables that grow are. Changes nothing.\n\n\
        The exit code is 0 if everything agrees, 1 if something differs (one line for each difference), and 2 if \
        nothing differs but not everything could be compared."
    )]
    Check {
        /// Also read every page of the database file and check that it is intact
        #[arg(long)]
        full: bool,
    },
    /// Copy the site into one file, while it is served
    #[command(
        long_about = "Copies the site into one compressed file, while a server runs on it or without one. Everything \
        that was acknowledged before the backup began is in it, and so is what was written until the copy was made. \
        The copy is made by this process, which reads at most --rate megabytes a second and gives way to everybody \
        else; the server only keeps its write-ahead log meanwhile, which grows by what is written to it.\n\n\
        The file gets its name when it is whole: what an interrupted backup leaves is hidden, and removed by the next \
        one. It is readable by its owner alone.\n\n\
        The keys (keys/token.key, which signs sessions, and keys/guest.key) are NOT in it unless --with-keys is given. \
        Without them everybody has to sign in again after a restore; with them, whoever can read the backup can sign \
        in as anybody. Names, texts and hashes of passwords are in it either way.\n\n\
        The data of a cluster is on its servers: docs/backup.md has the commands.",
        after_long_help = "Examples:\n  \
        madang backup --to /backup/                         one file, named by its time\n  \
        madang backup --to site.tar.gz --with-keys --verify\n  \
        madang backup --to /backup/ --every 1h --keep 24    until it is stopped"
    )]
    Backup(BackupArgs),
    /// Make a data directory from a backup
    #[command(
        long_about = "Makes a data directory from a backup. The directory (--data) must be new or empty. A backup that \
        is not whole, or not as it was written, is refused, and nothing is left of it; so is one of a newer version.",
        after_long_help = "Example:\n  madang restore --from /backup/madang-1f2e3d4c-20261118T010203Z.tar.gz --data \
        /var/lib/madang"
    )]
    Restore(RestoreArgs),
    /// List messages that could not be processed, and send them again
    #[command(subcommand)]
    Dlq(DlqCommand),
    /// Show how far each consumer group is behind, pause or resume one, skip a record
    #[command(subcommand)]
    Groups(GroupsCommand),
    /// Rebuild derived data from its source
    #[command(subcommand)]
    Rebuild(RebuildCommand),
    /// Show which relational server of a cluster holds which shards, and add servers
    #[command(subcommand)]
    Shards(ShardsCommand),
    /// Manage the keys in the data directory
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Look at everything the site needs, and say what to do about what is wrong
    #[command(
        long_about = "Looks at the configuration, permissions, disk, clock, limits of the system and schema of the site, \
        and on a cluster at the settings of every server: durability, isolation, collation, memory, copies of events. \
        Changes nothing, and works beside a server and without one.\n\n\
        The exit code is 0 if all is well, 1 if something does not work or acknowledged data can be lost, and 2 if there \
        are only warnings."
    )]
    Doctor(DoctorArgs),
    /// Say which migrations the next start would run, and about how long they take
    #[command(
        long_about = "Says which migrations the next start of this version would run, on which tables, and about how \
        long they take. Nothing is changed: migrations run at the start of a server. The exit code is 0 if there are none, \
        2 if there are some, and 1 if the data was written by a newer version, which this one refuses to open."
    )]
    Upgrade(UpgradeArgs),
    /// Print the settings in force and where each one comes from, with secrets hidden
    Config,
    /// Write man pages and completions of shells into a directory, for packages
    #[command(hide = true)]
    Manual {
        /// Where to; made if it is not there
        directory: PathBuf,
    },
}

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a new key, which signs tokens from the next start; tokens signed with the last three keys stay valid
    Rotate,
}

/// What can be done with members.
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Create a member with a role
    #[command(after_long_help = "Example:\n  \
        echo 'a long secret' | madang member create --role admin --name ann --password-stdin")]
    Create {
        /// What the new member may do
        #[arg(long, value_enum, default_value_t = RoleArg::Member)]
        role: RoleArg,
        /// 2 to 32 letters, digits or _
        #[arg(long)]
        name: String,
        /// Read the password (8 to 128 characters) from standard input; on the command line others could see it
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Print a link by which a member who forgot their password chooses a new one
    #[command(
        long_about = "Prints a link by which a member chooses a new password. It works once, within an hour, and \
        takes the place of a link that was printed before. Choosing a password by it ends every session of the member. \
        Give it to nobody else: whoever has it takes over the account."
    )]
    Reset {
        /// Whose password
        name: String,
    },
}

/// A role on the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Writes articles and comments, and likes
    Member,
    /// Also edits and deletes what others wrote, and suspends members
    Moderator,
    /// Also creates boards and changes roles
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
    /// Number of boards, named seed-1 to seed-N
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number(0..=10_000))]
    pub boards: u64,
    /// Number of new articles
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number(0..=1_000_000_000))]
    pub articles: u64,
    /// Number of new members, who write the articles
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number(1..=1_000_000))]
    pub members: u64,
    /// File to write their bearer tokens to, one line of `member_id token` each
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Put all articles on this board, which is created if it does not exist
    #[arg(long, value_name = "SLUG", conflicts_with = "boards")]
    pub board: Option<String>,
}

/// From where and to where a site moves.
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// What to copy from: embedded, a site in a data directory
    #[arg(long, value_enum)]
    pub from: CopyFrom,
    /// Configuration file of the cluster to copy to
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Rows to copy in one step
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = number(1..=100_000))]
    pub slice: u64,
}

/// What can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CopyFrom {
    /// A site in a data directory
    Embedded,
}

/// What can be done with dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List dead letters, oldest first
    List {
        /// How many to list at most
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = number(1..=100_000))]
        limit: u64,
    },
    /// Show one dead letter with its headers and payload
    Show {
        /// Its id, from `madang dlq list`
        id: String,
    },
    /// Send dead letters again, to the consumer group that gave them up
    #[command(after_long_help = "Examples:\n  madang dlq replay 17 --dry-run\n  madang dlq replay --all")]
    Replay {
        /// The id, from `madang dlq list`
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Send every dead letter again
        #[arg(long, conflicts_with = "id")]
        all: bool,
        /// Only print what would be sent
        #[arg(long)]
        dry_run: bool,
    },
}

/// What can be done with consumer groups.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupsCommand {
    /// List the groups and how far each is behind the event log
    List,
    /// Pause a group; the event log keeps what it has not read
    Pause {
        /// The group, from `madang groups list`
        group: String,
    },
    /// Resume a paused group where it stopped
    Resume {
        /// The group, from `madang groups list`
        group: String,
    },
    /// Skip a record that a group is stuck at; the record is not applied and not kept as a dead letter
    Skip {
        /// The group, from `madang groups list`
        group: String,
        /// The record as topic/partition/offset, as /readyz and the log print it
        record: String,
    },
}

/// What can be made anew.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum RebuildCommand {
    /// Empty the query model; articles are loaded again from their source when somebody reads them
    ReadModel,
    /// Compute the ranking of hot articles again from likes, comments and views
    Hot,
    /// Remove comments, likes and views that were left behind by articles that no longer exist
    Parts,
    /// Make the search index again from articles and comments, while it is searched and the site is written to
    Search,
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
            Self::Serve(_)
            | Self::Config
            | Self::Manual { .. }
            | Self::Keys(_)
            | Self::Copy(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Doctor(_)
            | Self::Shards(_)
            | Self::Upgrade(_) => return None,
            Self::Member(MemberCommand::Create { role, name, .. }) => {
                ControlRequest::MemberCreate { name: name.clone(), password, role: (*role).into() }
            }
            Self::Member(MemberCommand::Reset { name }) => ControlRequest::MemberReset { name: name.clone() },
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
            Self::Rebuild(RebuildCommand::Search) => ControlRequest::RebuildSearch,
            Self::Dlq(DlqCommand::Show { id }) => ControlRequest::DlqShow { id: id.clone() },
            Self::Dlq(DlqCommand::Replay { id, dry_run, .. }) => {
                ControlRequest::DlqReplay { id: id.clone(), dry_run: *dry_run }
            }
        })
    }
}

/// A whole number within a range, which a wrong one is told.
fn number(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("write a whole number from {} to {}", range.start(), range.end()))
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, as in --set log_level=debug")?;
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
    fn a_number_out_of_range_is_told_the_range() {
        for wrong in ["0", "100001", "-1", "many"] {
            let argument = format!("--limit={wrong}");
            let error = Cli::try_parse_from(["madang", "dlq", "list", &argument]).unwrap_err().to_string();
            assert!(error.contains("write a whole number from 1 to 100000"), "{error}");
        }
    }

    #[test]
    fn a_password_never_stands_on_the_command_line() {
        assert!(Cli::try_parse_from(["madang", "member", "create", "--name", "ann"]).is_err());
    }
}
