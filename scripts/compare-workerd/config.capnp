# One workerd with one Durable Object class and nothing else: what we time is the runtime, not a proxy in front of it.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "room", worker = .room)],
  # Port 0: the runtime picks a free one and tells us through --control-fd.
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "room")]
);

const room :Workerd.Worker = (
  modules = [(name = "room.js", esModule = embed "room.js")],
  compatibilityDate = "2026-08-01",
  compatibilityFlags = ["no_web_socket_compression"],
  durableObjectNamespaces = [(className = "Room", uniqueKey = "compare-workerd")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "ROOM", durableObjectNamespace = "Room")]
);
