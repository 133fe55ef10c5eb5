// Applies the colours that the reader chose before anything is drawn, so that nothing flashes. The bars of the browser follow the page's
// colours, also when the reader chooses others later.
const showBars = () => {
  const { theme } = document.documentElement.dataset;
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
    meta.dataset.system ??= meta.media;
    meta.media = theme === undefined ? meta.dataset.system : meta.dataset.system.includes(theme) ? "all" : "not all";
  }
};
new MutationObserver(showBars).observe(document.documentElement, { attributeFilter: ["data-theme"] });
try {
  const theme = JSON.parse(localStorage.getItem("parley.theme"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing is kept: as the system says.
}
