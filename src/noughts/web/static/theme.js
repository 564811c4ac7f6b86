// Runs before the first paint, so that a dark page never flashes white.
{
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const [base] = new URL(src).pathname.split("/static/");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const applyTheme = () => {
    let theme = null;
    try {
      theme = JSON.parse(localStorage.getItem(`noughts${base}.theme`) ?? "null");
    } catch {
      // no stored choice: use the system's
    }
    const isChosen = theme === "light" || theme === "dark";
    document.documentElement.dataset.theme = isChosen ? theme : system.matches ? "dark" : "light";
  };
  applyTheme();
  system.addEventListener("change", applyTheme);
  addEventListener("theme", applyTheme); // from the settings
}
