// Draws a block of code: at once as text, and with colours after their code has come. Message contents call it.
import { useEffect, useMemo, useState } from "preact/hooks";

type Colouring = typeof import("../state/coloured-code.ts");

/** Where the build has put it, beside the file that this is a part of. */
declare const COLOURS_MODULE: string;

/** Once it is there. */
let colouring: Colouring | undefined;

interface CodeBlockProps {
  readonly text: string;
  readonly language?: string | undefined;
}

export function CodeBlock({ text, language }: CodeBlockProps) {
  const [, setLoaded] = useState(false);
  const parts = useMemo(
    () => (language === undefined ? undefined : colouring?.colouredParts(text, language)),
    [text, language, colouring],
  );
  const fetchColours = async (): Promise<void> => {
    try {
      colouring = (await import(COLOURS_MODULE)) as Colouring;
      setLoaded(true);
    } catch {
      // Offline, or the server has a newer page by now: the text is there.
    }
  };
  useEffect(() => {
    if (language !== undefined && !colouring) void fetchColours();
  }, [language]);
  return (
    <pre tabIndex={0} data-language={language}>
      <code>
        {parts
          ? parts.map(({ text, role }, at) => (
              <span key={at} class={role && `code-${role}`}>
                {text}
              </span>
            ))
          : text}
      </code>
    </pre>
  );
}
