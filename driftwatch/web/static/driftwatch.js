// Small comforts on pages that are complete without them: remember the theme, copy, "/" for the search field.
"use strict";

for (const choice of document.querySelectorAll('input[name="theme"]')) {
  choice.addEventListener("change", () => {
    document.cookie = `driftwatch_theme=${choice.value}; path=/; max-age=31536000; samesite=lax`;
  });
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue; // only secure contexts have one
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const word = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = word; }, 1500);
  });
}

for (const list of document.querySelectorAll("select[data-submit]")) {
  list.addEventListener("change", () => list.form.requestSubmit());
}

document.addEventListener("keydown", (event) => {
  const field = document.querySelector("#q");
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && field && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
});
