// A part of the page whose code the browser loads when it is drawn for the first time. The app and the composer draw such parts.
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

import { t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";

export function onDemand<Props extends ChatProps = ChatProps>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return (props) => {
    const [, setLoaded] = useState(false);
    const fetchPart = async (): Promise<void> => {
      try {
        loaded = await load();
        setLoaded(true);
      } catch {
        // Offline, or the server has a newer page by now.
        props.store.closeTo(0);
        props.view.show(t("This part of the page could not be loaded. Try again, or reload the page."));
      }
    };
    useEffect(() => {
      if (!loaded) void fetchPart();
    }, []);
    const Part = loaded;
    return Part ? <Part {...props} /> : null;
  };
}
