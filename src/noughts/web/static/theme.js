// Runs before anything is drawn, so that a page in the dark never flashes white.
try {
  const theme = localStorage.getItem("noughts.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // nothing was kept: the system decides
}
