// The dialogs of the page, which it loads when one of them is opened: besides those that an embed has, too, the way to rooms and people, and those
// about names: of a new room, of a room with its topic, and of the reader; and the language.
import { useState } from "preact/hooks";

import { LANGUAGES, chooseLanguage, language, t } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { ROOM_NAME_RULE, roomNameOf } from "../state/room-items.ts";
import type { ChatProps } from "./chat-props.ts";
import { Field, VERBATIM } from "./controls.tsx";
import { Dialogs } from "./dialogs.tsx";
import { Choice, FormDialog, InfoDialog } from "./modal.tsx";
import { Switcher } from "./switcher.tsx";

/** What is typed there; the server takes no more characters. */
const NAME = { dir: "auto", maxLength: 64 } as const;
const TOPIC = { dir: "auto", maxLength: 250, rows: 3 } as const;

export function PageDialogs({ store, view }: ChatProps) {
  const close = (): void => store.set({ dialog: undefined });
  switch (store.ui.dialog?.kind) {
    case "switcher":
      return <Switcher store={store} view={view} />;
    case "new-room":
      return <NewRoom store={store} onClose={close} />;
    case "about-room":
      return <AboutRoom store={store} view={view} onClose={close} />;
    case "rename":
      return <Rename store={store} onClose={close} />;
    case "language":
      return <LanguageChoice store={store} view={view} onClose={close} />;
    default:
      return <Dialogs store={store} view={view} />;
  }
}

interface DialogProps extends Pick<ChatProps, "store"> {
  readonly onClose: () => void;
}

function NewRoom({ store, onClose }: DialogProps) {
  const [room, setRoom] = useState("");
  const [isWrong, setWrong] = useState(false);
  const id = roomNameOf(room);
  const create = (): void => {
    if (!store.enterNamed(room)) return setWrong(true);
    onClose();
  };
  return (
    <FormDialog title={t("New room")} submit={t("Create")} onSubmit={create} onClose={onClose}>
      <Field
        id="new-room-name"
        {...NAME}
        label={t("Name")}
        value={room}
        onText={(text) => {
          setRoom(text);
          setWrong(false);
        }}
        problem={isWrong ? t(ROOM_NAME_RULE) : ""}
        hint={
          id === undefined
            ? t("Enters it, if it is there already.")
            : t("Enters #{room}, if it is there already.", { room: id })
        }
        {...VERBATIM}
      />
    </FormDialog>
  );
}

function AboutRoom({ store, view, onClose }: DialogProps & ChatProps) {
  const { room, actions, state } = view;
  const [nameNow, topicNow] = [state.modes.name, state.modes.topic].map((text = "") => bare(text)) as [string, string];
  // What others change meanwhile stays, unless the reader changes it, too.
  const [before] = useState({ name: nameNow, topic: topicNow });
  const [name, setName] = useState(nameNow);
  const [topic, setTopic] = useState(topicNow);
  const [mayName, mayTopic] = [view.mayDescribe("name"), view.mayDescribe("topic")];
  const title = t("About {name}", { name: store.title });
  const save = async (): Promise<void> => {
    const texts = { ...(name !== before.name && { name }), ...(topic !== before.topic && { topic }) };
    if (await actions.moderate("describe", texts)) onClose();
  };
  const facts = (
    <dl class="details">
      {!mayTopic && topicNow !== "" && (
        <div>
          <dt>{t("Topic")}</dt>
          <dd dir="auto">{topicNow}</dd>
        </div>
      )}
      <div>
        <dt>{t("Address")}</dt>
        <dd>#{room}</dd>
      </div>
    </dl>
  );
  if (!mayName && !mayTopic)
    return (
      <InfoDialog title={title} onClose={onClose}>
        {facts}
      </InfoDialog>
    );
  return (
    <FormDialog title={title} submit={t("Save")} onSubmit={() => void save()} onClose={onClose}>
      {mayName && (
        <Field id="room-name" {...NAME} label={t("Name")} value={name} onText={setName} hint="" placeholder={room} />
      )}
      {mayTopic && (
        <Field
          id="room-topic"
          {...TOPIC}
          label={t("Topic")}
          value={topic}
          onText={setTopic}
          hint=""
          placeholder={t("What is it about?")}
        />
      )}
      {facts}
    </FormDialog>
  );
}

function Rename({ store, onClose }: DialogProps) {
  const [name, setName] = useState(store.name);
  const [problem, setProblem] = useState("");
  const rename = async (): Promise<void> => {
    const refusal = name.trim() === "" ? t("Enter a name.") : await store.rename(name.trim());
    if (refusal === "") onClose();
    else setProblem(refusal);
  };
  return (
    <FormDialog title={t("Change your name")} submit={t("Save")} onSubmit={() => void rename()} onClose={onClose}>
      <Field
        id="own-name"
        {...NAME}
        label={t("Your name")}
        value={name}
        onText={setName}
        problem={problem}
        hint={t("What you have written keeps the name that you had.")}
        autocomplete="nickname"
      />
    </FormDialog>
  );
}

function LanguageChoice({ store, view, onClose }: ChatProps & DialogProps) {
  const choose = async (at: number): Promise<void> => {
    onClose();
    try {
      await chooseLanguage(LANGUAGES[at]!.tag);
      store.changed();
    } catch {
      view.show(t("The language could not be loaded. Try again with a connection."));
    }
  };
  return (
    <InfoDialog title={t("Language")} onClose={onClose}>
      <Choice
        id="language"
        label={t("Language of this page")}
        options={LANGUAGES.map(({ name }, at) => [at, name])}
        value={LANGUAGES.findIndex(({ tag }) => tag === language())}
        onChoose={(at) => void choose(at)}
      />
    </InfoDialog>
  );
}
