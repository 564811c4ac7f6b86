// Runs before the first paint, so that a dark page never flashes white.
try {
  const theme = localStorage.getItem("noughts.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // no stored choice: use the system's
}
