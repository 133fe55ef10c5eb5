// Lets browsers translate the page. They put `<font>` elements in the place of text nodes, which Preact would go on changing, out of the
// document. So each text has an element of its own here, which a new text replaces: no text changes in place. The entries of all pages
// call this before they draw.
import { options, type VNode } from "preact";

type Text = string | number | bigint;

/** As Preact makes it: without a type for a text, which stands in place of its properties. */
type AnyNode = Omit<VNode, "type" | "props"> & {
  type: VNode["type"] | null;
  props: Text | (Record<string, unknown> & { children?: unknown });
};

/** The browser shows the texts of these without the elements in them. */
const PLAIN: ReadonlySet<unknown> = new Set(["option", "title"]);

export function giveTextsElements(): void {
  options.vnode = (made) => {
    const node = made as unknown as AnyNode;
    const { type, props } = node;
    if (typeof props !== "object") {
      const text = String(props);
      if (text === "") return;
      // A space is no item in a row of items.
      node.type = text.trim() === "" ? "page-space" : "page-text";
      node.key = text;
      node.props = { textContent: text };
    } else if (PLAIN.has(type)) {
      node.props = { ...props, children: undefined, textContent: [props.children].flat(Infinity).join("") };
    } else if (Array.isArray(props.children)) node.props = { ...props, children: joined(props.children) };
  };
}

/** One text in place of neighbours, which are one in the eyes of a translator. Whatever follows keeps its place. */
function joined(children: readonly unknown[]): unknown[] {
  const parts = [...children];
  for (let at = parts.length - 1; at > 0; at--) {
    if (!isText(parts[at]) || !isText(parts[at - 1])) continue;
    parts[at - 1] = `${parts[at - 1] as Text}${parts[at] as Text}`;
    parts[at] = null;
  }
  return parts;
}

const isText = (part: unknown): part is Text => ["string", "number", "bigint"].includes(typeof part);
