// Keeps the chat page above the keyboard of a phone. Chromium makes the page smaller by itself (`interactive-widget` in index.html);
// Safari lays the keyboard over the page, and moves the page up. The entry of the chat page calls it.

export function stayAboveKeyboard(): void {
  const { visualViewport: seen } = window;
  const { style } = document.documentElement;
  const fit = (): void => {
    // A reader who has zoomed in sees a part of the page.
    if (!seen || seen.scale > 1.01) return void style.removeProperty("--seen");
    style.setProperty("--seen", `${seen.height}px`);
    scrollTo(0, 0);
  };
  seen?.addEventListener("resize", fit);
}
