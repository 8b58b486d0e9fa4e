//! What happens to a package on a machine: installed, used, configured, upgraded, installed again, removed, purged.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::container::Container;
use crate::interrupt::Interrupt;

/// Where the settings file has the site at first, and where the administrator puts it.
const AT_FIRST: &str = "127.0.0.1:8080";
const CONFIGURED: &str = "127.0.0.1:8888";
/// How long the site may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);
const SETTINGS: &str = "/etc/madang/madang.toml";
const PASSWORD: &str = "only for this package";

/// Runs it all, and says what it saw.
pub(super) fn run(root: &Path, package: &Path, higher: &Path, interrupt: &Interrupt) -> Result<()> {
    for (from, to) in [(package, "first.deb"), (higher, "next.deb")] {
        std::fs::copy(from, root.join("root").join(to))?;
    }
    let mut machine = Machine { container: Container::boot(root, interrupt)?, interrupt };
    say(&format!("booted {}", machine.container.must("systemctl --version | head -n 1")?));
    machine.install()?;
    let article = machine.used()?;
    machine.configured(&article)?;
    machine.upgraded(&article)?;
    machine.installed_again(&article)?;
    machine.disabled_stays_disabled()?;
    machine.removed_and_back(&article)?;
    machine.purged()
}

fn say(what: &str) {
    eprintln!("  {what}");
}

struct Machine<'a> {
    container: Container,
    interrupt: &'a Interrupt,
}

impl Machine<'_> {
    fn install(&mut self) -> Result<()> {
        self.container.must("dpkg --install /root/first.deb")?;
        self.answers(AT_FIRST)?;
        let user = self.container.must(&format!("stat --format=%U /proc/{}", self.process()?))?;
        ensure!(user == "madang", "the server runs as {user}");
        let expected = [
            ("/var/lib/madang", "madang:madang 700"),
            (SETTINGS, "root:madang 640"),
            ("/usr/bin/madang", "root:root 755"),
        ];
        for (path, owner) in expected {
            let is = self.container.must(&format!("stat --format='%U:%G %a' {path}"))?;
            ensure!(is == owner, "{path} is of {is}, not {owner}");
        }
        for file in [
            "/usr/share/man/man1/madang-backup.1.gz",
            "/usr/share/bash-completion/completions/madang",
            "/usr/share/doc/madang/libraries.txt.gz",
        ] {
            self.container.must(&format!("test -s {file}"))?;
        }
        self.container.must("dpkg --verify madang")?;
        ensure!(self.container.must("systemctl is-enabled madang")? == "enabled");
        let security =
            self.container.must("systemd-analyze security --no-pager --threshold=20 madang.service | tail -n 1")?;
        say(&format!("installed; the site answers as user madang; {}", security.trim_start_matches(['→', ' ', '\n'])));
        Ok(())
    }

    /// An administrator by the command line, an article through the API.
    fn used(&self) -> Result<String> {
        let create = format!("madang --config {SETTINGS} member create --role admin --name ann --password-stdin");
        let said = self.container.run_with(&create, PASSWORD)?;
        ensure!(said.ok, "{}", said.text);
        let boards = self.container.network().send(AT_FIRST, "GET", "/api/v1/boards", None, None)?.json()?;
        let board = boards["items"][0]["board_id"].as_str().context("a board")?.to_owned();
        let token = self.sign_in(AT_FIRST)?;
        let body = json!({"title": "Kept", "content": "through every upgrade"});
        let path = format!("/api/v1/boards/{board}/articles");
        let article = self.container.network().send(AT_FIRST, "POST", &path, Some(&token), Some(&body))?.json()?;
        let id = article["article_id"].as_str().context("an article")?.to_owned();
        let check = self.container.must(&format!("madang --config {SETTINGS} check"))?;
        say(&format!(
            "used: an article is written, and `madang check` says: {}",
            check.lines().last().unwrap_or_default()
        ));
        Ok(id)
    }

    fn configured(&mut self, article: &str) -> Result<()> {
        self.container.must(&format!("sed -i 's/{AT_FIRST}/{CONFIGURED}/' {SETTINGS} && systemctl restart madang"))?;
        self.answers(CONFIGURED)?;
        self.has(article)?;
        say("configured: the site is where the changed settings file puts it");
        Ok(())
    }

    /// To a higher version whose settings file is another one.
    fn upgraded(&mut self, article: &str) -> Result<()> {
        let before = self.process()?;
        let version = self.container.must("dpkg-query --showformat='${Version}' --show madang")?;
        self.container.must("dpkg --force-confdef --force-confold --install /root/next.deb")?;
        self.answers(CONFIGURED)?;
        let now = self.container.must("dpkg-query --showformat='${Version}' --show madang")?;
        ensure!(
            self.container.run(&format!("dpkg --compare-versions {now} gt {version}"))?.ok,
            "{now} after {version}"
        );
        ensure!(self.process()? != before, "the old process still runs");
        self.has(article)?;
        self.container.must(&format!("grep -q {CONFIGURED} {SETTINGS}")).context("the settings were replaced")?;
        self.container.must(&format!("grep -q 'next version' {SETTINGS}.dpkg-dist"))?;
        self.container.must(&format!("madang --config {SETTINGS} check"))?;
        say(&format!(
            "upgraded from {version} to {now}: data and settings are as they were, the new settings file beside"
        ));
        Ok(())
    }

    /// The scripts once more, as after an interrupted installation.
    fn installed_again(&mut self, article: &str) -> Result<()> {
        self.container.must("dpkg --force-confold --install /root/next.deb && dpkg-reconfigure madang")?;
        self.container.must("/var/lib/dpkg/info/madang.postinst configure 0.0.1")?;
        self.answers(CONFIGURED)?;
        self.has(article)?;
        say("installed again, twice: nothing changed");
        Ok(())
    }

    fn disabled_stays_disabled(&mut self) -> Result<()> {
        self.container.must("systemctl disable --now madang && dpkg --force-confold --install /root/next.deb")?;
        let state = self.container.run("systemctl is-enabled madang")?.text;
        ensure!(state == "disabled", "the administrator disabled it, and an upgrade made it {state}");
        self.container.must("systemctl enable --now madang")?;
        self.answers(CONFIGURED)?;
        say("disabled by its administrator, it stays so through an upgrade");
        Ok(())
    }

    fn removed_and_back(&mut self, article: &str) -> Result<()> {
        self.container.must("dpkg --remove madang")?;
        ensure!(!self.container.run("test -e /usr/bin/madang || grep -lx madang /proc/[0-9]*/comm")?.ok, "still there");
        self.container.must(&format!("test -s {SETTINGS} && test -s /var/lib/madang/madang.db"))?;
        self.container.must("dpkg --force-confold --install /root/next.deb")?;
        self.answers(CONFIGURED)?;
        self.has(article)?;
        say("removed: settings and data stay, and a new installation has them again");
        Ok(())
    }

    fn purged(&self) -> Result<()> {
        let said = self.container.must("dpkg --purge madang")?;
        ensure!(said.contains("rm -r /var/lib/madang"), "whoever purges is not told of the data: {said}");
        ensure!(!self.container.run("ls -d /etc/madang /usr/share/doc/madang /usr/bin/madang")?.ok, "files are left");
        self.container.must("test -s /var/lib/madang/madang.db").context("the site was deleted")?;
        let units =
            self.container.run("find /etc/systemd /var/lib/systemd/deb-systemd-helper-* -name '*madang*'")?.text;
        ensure!(units.is_empty(), "systemd still knows of it: {units}");
        self.container.must(
            "dpkg --install /root/first.deb && dpkg --remove madang && rm -r /var/lib/madang && dpkg --purge madang",
        )?;
        ensure!(!self.container.run("dpkg --status madang")?.ok, "dpkg still knows of it");
        say("purged: settings are gone, the data is left for a person to delete, and dpkg knows it no more");
        Ok(())
    }

    fn process(&self) -> Result<String> {
        self.container.must("systemctl show --property=MainPID --value madang")
    }

    fn sign_in(&self, address: &str) -> Result<String> {
        let who = json!({"name": "ann", "password": PASSWORD});
        let session = self.container.network().send(address, "POST", "/api/v1/sessions", None, Some(&who))?.json()?;
        Ok(session["token"].as_str().context("a token")?.to_owned())
    }

    /// The article is there, and its writer can sign in.
    fn has(&self, article: &str) -> Result<()> {
        let path = format!("/api/v1/articles/{article}");
        let found: Value = self.container.network().send(CONFIGURED, "GET", &path, None, None)?.json()?;
        ensure!(found["title"] == "Kept", "{found}");
        self.sign_in(CONFIGURED).map(drop)
    }

    fn answers(&mut self, address: &str) -> Result<()> {
        let interrupt = self.interrupt;
        let waited = self.container.wait(ANSWER_MAX, "the site to answer", interrupt, |container| {
            let answer = container.network().send(address, "GET", "/healthz", None, None);
            Ok(answer.is_ok_and(|answer| answer.status == 200))
        });
        waited.with_context(|| {
            let log = self.container.run("systemctl status madang; journalctl --no-pager --unit madang | tail -n 30");
            log.map(|said| said.text).unwrap_or_default()
        })
    }
}
