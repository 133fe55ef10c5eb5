// socket.io-client-java as members of rooms: Client.java (URL ROOM TOKEN default|polling|websocket)... STAY_MS post|listen|bundle
// Prints one line of JSON per step; see ../README.md. language-clients.test.ts runs it.

import io.socket.client.Ack;
import io.socket.client.IO;
import io.socket.client.Manager;
import io.socket.client.Socket;
import io.socket.emitter.Emitter;
import io.socket.engineio.client.Transport;
import io.socket.engineio.parser.Packet;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import org.json.JSONArray;
import org.json.JSONObject;

public final class Client {
  // Escaped, because the compiler reads this file in the encoding that the machine prefers.
  private static final String[] CONTENTS = {
    "plain",
    "Gr\u00fc\u00dfe \ud83d\udc4b\ud83c\udffd, \u65e5\u672c\u8a9e,   \"quoted\" \\ \u2028 " + (char) 0x1e,
  };
  private static final String CONTENT_AFTERWARDS = "still here \u23f3";
  /** As test/host/patience.ts. */
  private static final long ANSWER_TIMEOUT_SECONDS = 120;
  private static final String LAST_WORD = "enough";
  private static final long TALK_MS_MAX = 120_000;
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private final int member;
  private final Socket socket;
  private final BlockingQueue<Object[]> messages;
  private final AtomicInteger pings = new AtomicInteger();
  /** Where the last ping came from. */
  private volatile String transport = "none yet";

  private Client(int member, Socket socket) {
    this.member = member;
    this.socket = socket;
    this.messages = argumentsOf("chat-message");
    socket.io().on(Manager.EVENT_TRANSPORT, arguments -> watch((Transport) arguments[0]));
  }

  public static void main(String[] arguments) throws Exception {
    int count = arguments.length / 4;
    long stayMs = Long.parseLong(arguments[4 * count]);
    String kind = arguments[4 * count + 1];
    List<Callable<Void>> members = new ArrayList<>();
    for (int member = 0; member < count; member++) {
      Client client = new Client(member, socket(Arrays.copyOfRange(arguments, 4 * member, 4 * member + 4), kind));
      members.add(() -> {
        if (kind.equals("post")) client.run(stayMs);
        else client.listen(stayMs, kind.equals("bundle"));
        return null;
      });
    }
    ExecutorService threads = Executors.newFixedThreadPool(count);
    List<Future<Void>> ends = threads.invokeAll(members);
    threads.shutdown();
    for (Future<Void> end : ends) end.get();
  }

  private static Socket socket(String[] place, String kind) {
    IO.Options options = new IO.Options();
    options.path = "/rooms/" + place[1] + "/socket.io";
    // The library takes texts alone for `auth`.
    options.auth = Map.of("token", place[2]);
    if (kind.equals("bundle")) options.query = "bundle=1";
    options.reconnection = false;
    // By default the library polls first and upgrades.
    if (!place[3].equals("default")) options.transports = new String[] {place[3]};
    OkHttpClient http = httpClient();
    options.callFactory = http;
    options.webSocketFactory = http;
    return IO.socket(URI.create(place[0]), options);
  }

  /** The library's own, but for threads that end soon: the process ends with them, after the last request. */
  private static OkHttpClient httpClient() {
    ThreadPoolExecutor threads = new ThreadPoolExecutor(0, 64, 500, TimeUnit.MILLISECONDS, new SynchronousQueue<>());
    return new OkHttpClient.Builder().dispatcher(new Dispatcher(threads)).readTimeout(1, TimeUnit.MINUTES).build();
  }

  /** These lines are those of docs/events.md. */
  private static void unpack(Socket socket) {
    socket.on("bundle", bundle -> {
      JSONArray events = (JSONArray) bundle[0];
      IntStream.range(0, events.length()).mapToObj(events::optJSONArray).forEach(event -> {
        Object[] args = IntStream.range(1, event.length()).mapToObj(at -> event.isNull(at) ? null : event.opt(at)).toArray();
        for (Emitter.Listener listener : socket.listeners(event.optString(0))) listener.call(args);
      });
    });
  }

  private void listen(long stayMs, boolean bundles) throws Exception {
    if (bundles) unpack(socket);
    BlockingQueue<Object[]> connects = argumentsOf(Socket.EVENT_CONNECT);
    BlockingQueue<Object[]> goodbyes = argumentsOf(Socket.EVENT_DISCONNECT);
    socket.connect();
    next(connects);
    say("connected", Map.of());
    List<String> heard = new ArrayList<>();
    for (Object[] arguments; (arguments = hear(heard.contains(LAST_WORD) ? stayMs : TALK_MS_MAX)) != null;)
      heard.add(((JSONObject) arguments[0]).getString("content"));
    say("heard", Map.of("contents", new JSONArray(heard), "goodbyes", new JSONArray(goodbyes)));
    if (bundles) take(new JSONArray("[[\"x\",null,1,[null]]]"));
    socket.disconnect();
  }

  /** Takes a bundle that no server sent, and tells which arguments of its event `x` are null. */
  private void take(JSONArray events) throws Exception {
    BlockingQueue<Object[]> heard = argumentsOf("x");
    for (Emitter.Listener listener : socket.listeners("bundle")) listener.call(events);
    JSONArray nulls = new JSONArray();
    for (Object argument : next(heard)) nulls.put(argument == null);
    say("unpacked", Map.of("nulls", nulls));
  }

  private Object[] hear(long timeoutMs) throws Exception {
    return messages.poll(timeoutMs, TimeUnit.MILLISECONDS);
  }

  private void run(long stayMs) throws Exception {
    BlockingQueue<Object[]> connects = argumentsOf(Socket.EVENT_CONNECT);
    BlockingQueue<Object[]> welcomes = argumentsOf("welcome");
    BlockingQueue<Object[]> goodbyes = argumentsOf(Socket.EVENT_DISCONNECT);
    socket.on(Socket.EVENT_CONNECT_ERROR, reasons -> System.err.println("connect_error: " + reasons[0]));
    socket.connect();
    next(connects);
    say("connected", Map.of());
    Object[] welcome = next(welcomes);
    say("welcome", Map.of("arguments", welcome.length, "welcome", welcome[0]));
    for (String content : CONTENTS) post(content);
    Thread.sleep(stayMs);
    say("stayed", Map.of("pings", pings.get(), "transport", transport));
    post(CONTENT_AFTERWARDS);
    socket.disconnect();
    say("disconnected", Map.of("reason", next(goodbyes)[0]));
  }

  private void post(String content) throws Exception {
    BlockingQueue<Object[]> answers = new LinkedBlockingQueue<>();
    JSONObject payload = new JSONObject(Map.of("content", content));
    socket.emit("chat-message", new Object[] {payload}, (Ack) answers::add);
    say("ack", Map.of("answer", next(answers)[0]));
    Object[] message = next(messages);
    say("message", Map.of("arguments", message.length, "message", message[0]));
  }

  private void watch(Transport transport) {
    transport.on(Transport.EVENT_PACKET, arguments -> {
      if (!Packet.PING.equals(((Packet<?>) arguments[0]).type)) return;
      pings.incrementAndGet();
      this.transport = transport.name;
    });
  }

  private BlockingQueue<Object[]> argumentsOf(String event) {
    BlockingQueue<Object[]> received = new LinkedBlockingQueue<>();
    socket.on(event, (Emitter.Listener) received::add);
    return received;
  }

  private static Object[] next(BlockingQueue<Object[]> received) throws Exception {
    Object[] arguments = received.poll(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    if (arguments == null) throw new Exception("nothing came in " + ANSWER_TIMEOUT_SECONDS + " s");
    return arguments;
  }

  private void say(String step, Map<String, Object> facts) throws Exception {
    JSONObject line = new JSONObject().put("member", member).put("step", step);
    for (Map.Entry<String, Object> fact : facts.entrySet()) line.put(fact.getKey(), fact.getValue());
    OUT.println(line);
  }
}
