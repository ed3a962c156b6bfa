// Small comforts on pages that are complete without them: remember the theme, copy, "/" for the search field.
"use strict";

for (const choice of document.querySelectorAll('input[name="theme"]')) {
  choice.addEventListener("change", () => {
    document.cookie = `driftwatch_theme=${choice.value}; path=/; max-age=31536000; samesite=lax`;
  });
}

function dress() {
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) {
    button.hidden = !navigator.clipboard; // only secure contexts have one
  }
}
dress();
document.addEventListener("driftwatch:fresh", dress);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const word = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = word; }, 1500);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit]")) event.target.form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  const field = document.querySelector("#q");
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && field && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
});
