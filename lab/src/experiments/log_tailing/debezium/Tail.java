import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.util.Properties;

/** Debezium's engine as a reader of the outbox: prints a line for each inserted row, as the readers of the Lab do. */
public class Tail {
    public static void main(String[] arguments) throws Exception {
        String port = arguments[0], user = arguments[1], password = arguments[2], database = arguments[3], folder = arguments[4];
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
            .notifying(event -> print(json, event))
            .build()
            .run();
    }

    private static void print(ObjectMapper json, ChangeEvent<String, String> event) {
        try {
            JsonNode change = json.readTree(event.value());
            if ("c".equals(change.path("op").asText())) {
                JsonNode row = change.get("after");
                System.out.println(row.get("id").asLong() + " " + row.get("account").asLong() + " " + row.get("version").asLong());
                System.out.flush();
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
