// Keeps an open page true: when something happens to what it shows, <main> is loaded again. Nothing depends on this.
"use strict";

const main = document.querySelector("main[data-live]");
const sign = document.querySelector("#live");
let due = 0;
let busy = false;

// Where the page names no choice, a browser takes the first: that is no person's doing.
function chosen(select) {
  const options = [...select.options];
  if (!options.some((one) => one.defaultSelected)) return select.selectedIndex > 0;
  return options.some((one) => one.selected !== one.defaultSelected);
}

// What a person has begun to type, open or choose is theirs: the page waits until they are done.
function inUse() {
  const here = document.activeElement;
  if (here && main.contains(here) && here.matches("input, textarea, select")) return true;
  const fields = main.querySelectorAll("input:not([type=hidden], [type=datetime-local]), textarea");
  return [...main.querySelectorAll("select")].some(chosen) || [...fields].some((f) => f.value !== f.defaultValue || f.checked !== f.defaultChecked);
}

async function reload() {
  if (busy || document.hidden || inUse()) { due = due || 1; return; }
  busy = true;
  due = 0;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main[data-live]");
    if (!fresh) return;
    const places = (root) => [...root.querySelectorAll("details")];
    const open = places(main).map((one) => one.open);
    if (places(fresh).length === open.length) places(fresh).forEach((one, i) => { one.open = open[i]; });
    const focus = document.activeElement && main.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    main.replaceChildren(...fresh.childNodes);
    if (focus) main.querySelector(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    document.dispatchEvent(new Event("driftwatch:fresh"));
  } catch { /* the server is away: what stands here stays, and the sign says so */ } finally { busy = false; }
}

function say(word) { if (sign) sign.textContent = word; }

if (main && window.EventSource) {
  const source = new EventSource("/live");
  const about = main.dataset.live;
  let lost = false;
  source.addEventListener("open", () => { say("live"); if (lost) reload(); lost = false; });
  source.addEventListener("error", () => {
    if (!lost) say(`not live since ${new Date().toISOString().slice(11, 16)} UTC`);
    lost = true;
  });
  source.addEventListener("changed", (event) => {
    const { servers } = JSON.parse(event.data);
    if (about !== "all" && !servers.includes(Number(about))) return;
    clearTimeout(due);
    due = setTimeout(reload, 400);
  });
  document.addEventListener("visibilitychange", () => { if (due && !document.hidden) reload(); });
  main.addEventListener("focusout", () => { if (due) setTimeout(reload, 200); });
  addEventListener("pagehide", () => source.close());
}
