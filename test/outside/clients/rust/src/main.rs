//! rust_socketio as a member of a room: parley-client URL ROOM TOKEN default|polling|websocket STAY_MS
//! Prints one line of JSON per step; see ../../README.md. language-clients.test.ts runs it.

use std::error::Error;
use std::sync::mpsc::{channel, Receiver};
use std::thread::sleep;
use std::time::Duration;

use rust_socketio::client::Client;
use rust_socketio::{ClientBuilder, Payload, TransportType};
use serde_json::{json, Value};

const CONTENTS: [&str; 2] = ["plain", "Grüße 👋🏽, 日本語,   \"quoted\" \\ \u{2028} \u{1e}"];
const CONTENT_AFTERWARDS: &str = "still here ⏳";
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, room, token, transport, stay_ms] = arguments.as_slice() else {
        return Err("usage: URL ROOM TOKEN default|polling|websocket STAY_MS".into());
    };
    let transport = match transport.as_str() {
        "polling" => TransportType::Polling,
        "websocket" => TransportType::Websocket,
        // The library's default: polls first, and upgrades.
        _ => TransportType::Any,
    };
    let builder = ClientBuilder::new(format!("{url}/rooms/{room}/socket.io/"))
        .auth(json!({ "token": token }))
        .reconnect(false)
        .transport_type(transport)
        .on("error", |error, _| eprintln!("error: {error:?}"));
    let (builder, connects) = arguments_of(builder, "open");
    let (builder, welcomes) = arguments_of(builder, "welcome");
    let (builder, messages) = arguments_of(builder, "chat-message");
    let (builder, goodbyes) = arguments_of(builder, "close");

    let client = builder.connect()?;
    connects.recv_timeout(ANSWER_TIMEOUT)?;
    say(json!({ "step": "connected" }));
    let welcome = welcomes.recv_timeout(ANSWER_TIMEOUT)?;
    say(json!({ "step": "welcome", "arguments": welcome.len(), "welcome": welcome[0] }));
    for content in CONTENTS {
        post(&client, &messages, content)?;
    }
    sleep(Duration::from_millis(stay_ms.parse()?));
    say(json!({ "step": "stayed" }));
    post(&client, &messages, CONTENT_AFTERWARDS)?;
    client.disconnect()?;
    goodbyes.recv_timeout(ANSWER_TIMEOUT)?;
    say(json!({ "step": "disconnected" }));
    Ok(())
}

fn post(
    client: &Client,
    messages: &Receiver<Vec<Value>>,
    content: &str,
) -> Result<(), Box<dyn Error>> {
    let (answered, answers) = channel();
    client.emit_with_ack(
        "chat-message",
        json!({ "content": content }),
        ANSWER_TIMEOUT,
        move |answer, _| {
            answered.send(values_of(answer)).ok();
        },
    )?;
    // An ack's arguments come as one array.
    let answer = answers.recv_timeout(ANSWER_TIMEOUT)?;
    say(json!({ "step": "ack", "answer": answer[0][0] }));
    let message = messages.recv_timeout(ANSWER_TIMEOUT)?;
    say(json!({ "step": "message", "arguments": message.len(), "message": message[0] }));
    Ok(())
}

fn arguments_of(builder: ClientBuilder, event: &str) -> (ClientBuilder, Receiver<Vec<Value>>) {
    let (received, arguments) = channel();
    let builder = builder.on(event, move |payload, _| {
        received.send(values_of(payload)).ok();
    });
    (builder, arguments)
}

fn values_of(payload: Payload) -> Vec<Value> {
    match payload {
        Payload::Text(values) => values,
        _ => vec![],
    }
}

fn say(line: Value) {
    println!("{line}");
}
