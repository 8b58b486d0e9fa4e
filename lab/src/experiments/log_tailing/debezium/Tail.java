import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Debezium's engine as a reader of the outbox: publishes each inserted row to Kafka, as the readers of the Lab do. */
public class Tail {
    public static void main(String[] arguments) throws Exception {
        String port = arguments[0], user = arguments[1], password = arguments[2], database = arguments[3], folder = arguments[4];
        String brokers = arguments[5], topic = arguments[6];
        Properties sending = new Properties();
        sending.setProperty("bootstrap.servers", brokers);
        sending.setProperty("acks", "all");
        sending.setProperty("linger.ms", "0");
        KafkaProducer<String, String> producer = new KafkaProducer<>(sending, new StringSerializer(), new StringSerializer());
        Properties settings = new Properties();
        settings.setProperty("name", "lab");
        settings.setProperty("connector.class", "io.debezium.connector.mariadb.MariaDbConnector");
        settings.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        settings.setProperty("offset.storage.file.filename", folder + "/offsets");
        settings.setProperty("offset.flush.interval.ms", "0");
        settings.setProperty("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
        settings.setProperty("schema.history.internal.file.filename", folder + "/history");
        settings.setProperty("database.hostname", "127.0.0.1");
        settings.setProperty("database.port", port);
        settings.setProperty("database.user", user);
        settings.setProperty("database.password", password);
        settings.setProperty("database.server.id", "900001");
        settings.setProperty("database.ssl.mode", "disabled");
        settings.setProperty("database.include.list", database);
        settings.setProperty("table.include.list", database + ".outbox");
        settings.setProperty("topic.prefix", "lab");
        settings.setProperty("snapshot.mode", "no_data");
        settings.setProperty("include.schema.changes", "false");
        settings.setProperty("tombstones.on.delete", "false");
        // Its default of half a second is for throughput; the Lab asks for latency.
        settings.setProperty("poll.interval.ms", "1");
        settings.setProperty("converter.schemas.enable", "false");
        ObjectMapper json = new ObjectMapper();
        DebeziumEngine.create(Json.class).using(settings)
            .using((succeeded, message, error) -> System.err.println("Debezium ended: " + message))
            .notifying((events, committer) -> publish(json, producer, topic, events, committer))
            .build()
            .run();
    }

    /** Sends a batch, waits until the broker has it, and then says how far it is. */
    private static void publish(ObjectMapper json, KafkaProducer<String, String> producer, String topic,
            List<ChangeEvent<String, String>> events, DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer)
            throws InterruptedException {
        try {
            for (ChangeEvent<String, String> event : events) {
                JsonNode change = json.readTree(event.value());
                if ("c".equals(change.path("op").asText())) {
                    JsonNode row = change.get("after");
                    String line = row.get("id").asLong() + " " + row.get("account").asLong() + " " + row.get("version").asLong();
                    producer.send(new ProducerRecord<>(topic, row.get("account").asText(), line));
                }
            }
            producer.flush();
            for (ChangeEvent<String, String> event : events) {
                committer.markProcessed(event);
            }
            committer.markBatchFinished();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
