// Copies a text for the reader, and tells which files the reader means to attach. The menu, the composer and the drop zone call it.
import type { Given } from "../state/composing.ts";

/** @returns whether it was copied. Only pages over https may write to the clipboard; everywhere browsers copy what is selected. */
export async function copyText(text: string, beside: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, beside.closest(".parley") ?? document.body);
  }
}

function copySelected(text: string, within: Element): boolean {
  const { activeElement } = within.getRootNode() as Document | ShadowRoot;
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  // Spaces are copied as they are shown.
  Object.assign(field.style, { position: "fixed", top: "0", opacity: "0", whiteSpace: "pre" });
  within.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
  return isCopied;
}

/** What was dropped. */
export function filesOf({ items }: DataTransfer): Required<Given> & { readonly files: readonly File[] } {
  const given = Array.from(items).filter(({ kind }) => kind === "file");
  const isFolder = (item: DataTransferItem): boolean => item.webkitGetAsEntry()?.isDirectory === true;
  const named = (item: DataTransferItem): File[] => [item.getAsFile()].filter((file) => file !== null);
  return {
    files: given.filter((item) => !isFolder(item)).flatMap(named),
    folders: given.filter(isFolder).flatMap((item) => named(item).map(({ name }) => name)),
  };
}

/** What was pasted to be attached. Spreadsheets and word processors add a picture of the text that the reader copied. */
export function pastedFilesOf(data: DataTransfer): Given | undefined {
  const given = filesOf(data);
  const names = [...given.files.map(({ name }) => name), ...given.folders];
  return names.length === 0 || isText(data, new Set(names)) ? undefined : given;
}

function isText(data: DataTransfer, names: ReadonlySet<string>): boolean {
  const text = data.getData("text/plain");
  if (text === "" || isPictureAlone(data.getData("text/html"))) return false;
  // With copied files, file managers give their names or paths.
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return lines.length === 0 || !lines.every((line) => names.has(lastPart(line)));
}

/** As browsers give a picture that was copied from a page. */
function isPictureAlone(html: string): boolean {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  return body.querySelector("img") !== null && body.textContent.trim() === "";
}

/** Of a path, or of an address such as `file:///home/ada/my%20cat.png`. */
function lastPart(path: string): string {
  const name = path.split(/[/\\]/).at(-1)!.trim();
  if (!path.startsWith("file:")) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
