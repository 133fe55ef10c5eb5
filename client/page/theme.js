// Applies the colours that the reader chose before anything is drawn, so that nothing flashes.
try {
  const theme = JSON.parse(localStorage.getItem("parley.theme"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing is kept: as the system says.
}
