// Applies a chosen theme before the page is drawn; without a choice the system's is used.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* storage is off: the system's theme it is */ }
