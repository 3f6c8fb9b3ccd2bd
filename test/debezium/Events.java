import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.FileInputStream;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Prints what Debezium makes of the changes of some tables, an event a line, until table "done"
 * has one.  Usage: Events PROPERTIES, a file with the properties of the connector.
 */
public class Events {
    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.load(new FileInputStream(arguments[0]));
        CountDownLatch done = new CountDownLatch(1);
        DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class)
            .using(properties)
            .using((success, message, error) -> {
                if (!success)
                    System.err.println(message + ": " + error);
                done.countDown();
            })
            .notifying(event -> {
                if (event.destination().endsWith(".done"))
                    done.countDown();
                else if (event.value() != null)
                    System.out.println(event.value());
            })
            .build();
        ExecutorService executor = Executors.newSingleThreadExecutor();

        executor.execute(engine);
        boolean inTime = done.await(300, TimeUnit.SECONDS);
        engine.close();
        executor.shutdown();
        executor.awaitTermination(20, TimeUnit.SECONDS);
        System.exit(inTime ? 0 : 1);
    }
}
