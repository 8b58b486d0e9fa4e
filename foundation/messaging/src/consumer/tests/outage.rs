//! Ten minutes without a broker, through the loop and with a clock that moves by itself.

use super::*;

/// Longer than the ladder is high.
const OUTAGE: Duration = Duration::from_secs(600);

/// Applies everything, and notes what.
#[derive(Default)]
struct Notes(Mutex<Vec<i64>>);

#[async_trait]
impl Handler for Notes {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.0.lock().unwrap().extend(deliveries.iter().map(|delivery| delivery.message.event_id.raw()));
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = tokio::time::Instant::now() + OUTAGE;
    while !is_so() {
        assert!(tokio::time::Instant::now() < until, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_without_a_broker_count_against_no_message() {
    let (log, handler) = (MemoryLog::default(), Arc::new(Notes::default()));
    let clock = Arc::new(TokioClock(tokio::time::Instant::now()));
    let config = ConsumerConfig::new(GroupId::new("g"), vec!["t".into()]);
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), clock);
    let supervisor = Supervisor::new("test");
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    log.publish(&[message(1, "t")]).await.unwrap();
    eventually("the first is applied", || *handler.0.lock().unwrap() == [1]).await;

    // It goes while there is something to poll, and something whose offset is not stored.
    {
        let mut topics = log.0.lock().unwrap();
        topics.messages.get_mut("t").unwrap().extend((2..=500).map(|number| message(number, "t")));
        topics.is_away = true;
    }
    tokio::time::sleep(OUTAGE).await;
    assert!(log.publish(&[message(9, "t")]).await.is_err(), "it is away");
    log.0.lock().unwrap().is_away = false;

    eventually("everything is applied", || handler.0.lock().unwrap().len() >= 500).await;
    eventually("and stored", || log.0.lock().unwrap().stored.get("t") == Some(&499)).await;
    assert!(supervisor.shutdown(Duration::from_secs(10)).await.aborted.is_empty());
    let mut applied = handler.0.lock().unwrap().clone();
    applied.sort_unstable();
    applied.dedup();
    assert_eq!(applied, (1..=500).collect::<Vec<_>>());
    let topics: Vec<String> = log.0.lock().unwrap().messages.keys().cloned().collect();
    assert_eq!(topics, ["t"], "nothing went to a rung or to the dead letters");
}
