//! A day ends while writers are cut off from the broker: its list waits for the likes that they acknowledged on it.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::broker::Broker;
use crate::cluster::Cluster;
use crate::link::Link;
use crate::quiet::{configure, quiet_zone, until_midnight};
use crate::servers::Servers;
use crate::shifted_clock::ShiftedClock;
use crate::turns::{alone, is_long};
use crate::waiting::{eventually, within};
use madang_test_servers::Relational;

/// Likes that are acknowledged while nobody can be told of them.
const UNSENT_LIKES: u64 = 15;
/// A list becomes final an hour into the next day; a minute later there is no excuse.
const FINAL_AFTER: Duration = Duration::from_secs(3_660);
/// Days are looked at every five seconds: long enough for several looks.
const WAIT: Duration = Duration::from_secs(25);
/// How long what waited may take to arrive and to be listed, on a busy machine.
const CATCH_UP: Duration = Duration::from_secs(120);

/// The list of a day before today.
fn list(cluster: &Cluster, days_ago: usize) -> Value {
    cluster.get("/api/v1/hot-articles").json(200)["days"][days_ago].clone()
}

/// Article and likes of each place.
fn places(list: &Value) -> Vec<(String, u64)> {
    let place = |item: &Value| (item["article_id"].as_str().unwrap().to_owned(), item["like_count"].as_u64().unwrap());
    list["items"].as_array().unwrap().iter().map(place).collect()
}

/// Writers reach the broker by a link of their own, and all of it lives by one clock.
fn site(clock: &ShiftedClock, link: &Link) -> (Broker, Relational, Cluster) {
    let broker = Broker::start_with_another_way_in(link.port());
    link.lead_to(broker.another_port());
    let relational = Relational::start_with(&clock.variables());
    let servers = Servers { mysql: vec![relational.url()], kafka: broker.address(), ..Servers::of_environment() };
    let mut cluster =
        Cluster::prepared(&servers, &["member,article,comment,like,view,article-read,web", "hot-article"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    let of_writers = cluster.directory().join("writers.toml");
    let text = std::fs::read_to_string(cluster.config()).unwrap();
    let by_link = text.replace(&broker.address(), &format!("127.0.0.1:{}", link.port()));
    assert_ne!(by_link, text);
    std::fs::write(&of_writers, by_link).unwrap();
    cluster.processes[0].use_config(&of_writers);
    for process in &mut cluster.processes {
        clock.variables().iter().for_each(|(name, value)| process.set_variable(name, value));
    }
    cluster.start();
    (broker, relational, cluster)
}

#[test]
fn a_day_becomes_final_with_the_likes_that_waited_for_a_broker_when_it_ended() {
    let _turn = alone();
    let (clock, link) = (ShiftedClock::new(), Link::new());
    let (_broker, _relational, mut cluster) = site(&clock, &link);
    let members: Vec<String> = (0..UNSENT_LIKES).map(|number| cluster.member(&format!("member_{number}"))).collect();
    let board = cluster.board("talk", "two_level");
    let told = cluster.article(&board, &members[0], "told in time");
    let best = cluster.article(&board, &members[0], "liked by everybody");
    for member in &members[..3] {
        cluster.like(&told, member);
    }
    eventually("the first likes are scored", || (places(&list(&cluster, 0)) == [(told.clone(), 3)]).then_some(()));

    link.cut();
    for (number, member) in (1..).zip(&members) {
        assert_eq!(cluster.like(&best, member)["like_count"], number, "acknowledged");
    }
    let jump = until_midnight() + FINAL_AFTER;
    clock.set(jump.as_secs().cast_signed());
    eventually("it is the next day", || places(&list(&cluster, 0)).is_empty().then_some(()));
    let begun = Instant::now();
    while begun.elapsed() < if is_long() { 3 * WAIT } else { WAIT } {
        let day = list(&cluster, 1);
        assert_eq!(day["final"], false, "{} s after the day was due: {:?}", begun.elapsed().as_secs(), places(&day));
        std::thread::park_timeout(Duration::from_millis(250));
    }
    println!(
        "{UNSENT_LIKES} likes acknowledged and unsent, {:?} after the day was due: not final, {:?}",
        begun.elapsed(),
        places(&list(&cluster, 1))
    );

    link.mend();
    let begun = Instant::now();
    let day = within(CATCH_UP, "the day is final once they have arrived", || {
        let day = list(&cluster, 1);
        (day["final"] == true).then_some(day)
    });
    println!("final {:?} after writers reached the broker: {:?}", begun.elapsed(), places(&day));
    assert_eq!(places(&day), [(best, UNSENT_LIKES), (told, 3)]);
    cluster.stop();
}
