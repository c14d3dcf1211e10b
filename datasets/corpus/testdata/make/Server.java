// An HTTP server whose heap is small for what it allocates, so that its collector stops
// it now and then: what stays alive grows until it is thrown away, and with it the pauses.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.concurrent.Executors;

public class Server {
  public static void main(String[] args) throws Exception {
    var kept = new ArrayList<Object[]>();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 64);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext("/", exchange -> {
      synchronized (kept) {
        var garbage = new Object[2000];
        for (int i = 0; i < garbage.length; i++) garbage[i] = new int[8];
        kept.add(garbage);
        if (kept.size() > 1300) kept.clear();
      }
      byte[] answer = "kept\n".getBytes();
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
  }
}
