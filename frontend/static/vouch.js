// Comforts on top of pages that work without any script: theme, copying, keys, focus, address.
"use strict";

const result = () => document.getElementById("result");
const askForm = () => document.getElementById("ask");
let path = location.pathname + location.search;

function say(text) {
  const status = document.getElementById("status");
  if (status && text && status.textContent !== text) status.textContent = text;
}

function unhide(root) {
  root.querySelectorAll("[data-copy][hidden], [data-copy-url][hidden], [data-theme-switch][hidden]").forEach((element) => {
    element.hidden = false;
  });
}

function switchTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* it lasts as long as the page */ }
}

async function textOf(button) {
  if (button.dataset.copy) return document.getElementById(button.dataset.copy).textContent;
  const response = await fetch(button.dataset.copyUrl, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(response.statusText);
  return JSON.stringify(await response.json(), null, 2);
}

async function copy(button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(await textOf(button));
    button.textContent = button.dataset.copied;
  } catch {
    button.textContent = button.dataset.failed;
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = label; }, 2000);
}

// The words that carry the sentence of this very marker; of a link in the list, the first ones.
function markOf(link, passage) {
  const place = [...document.querySelectorAll("#answer a.cite")].indexOf(link);
  const marks = [...passage.querySelectorAll("mark")];
  const own = marks.filter((mark) => (mark.dataset.markers ?? "").split(" ").includes(String(place)));
  marks.forEach((mark) => mark.classList.toggle("on", own.includes(mark)));
  return own[0] ?? marks[0];
}

// Brings a cited passage into view beside the answer, without moving the answer away.
function openPassage(link) {
  const passage = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!passage) return false;
  document.querySelectorAll(".passage.current").forEach((other) => other.classList.remove("current"));
  passage.classList.add("current");
  if (passage.tagName === "DETAILS") passage.open = true;
  const mark = markOf(link, passage);
  passage.focus({ preventScroll: true });
  passage.scrollIntoView({ block: "nearest" });
  if (mark) mark.scrollIntoView({ block: "nearest" });
  return true;
}

function setBusy(busy) {
  const form = askForm();
  if (!form) return;
  form.classList.toggle("busy", busy);
  form.querySelector("[data-stop]").hidden = !busy;
  result().setAttribute("aria-busy", String(busy));
}

function showOffline() {
  const template = document.getElementById("offline");
  if (template) result().replaceChildren(template.content.cloneNode(true));
  settle();
}

// After each piece of the page has arrived: say where things stand; at the end, go to the answer.
function settle() {
  const region = result();
  if (!region) return;
  unhide(region);
  say(region.querySelector("[data-status]")?.dataset.status);
  const end = region.querySelector("[data-focus]");
  if (end) end.focus({ preventScroll: false });
  const permalink = region.querySelector("[data-permalink]")?.dataset.permalink;
  if (permalink && permalink !== path) {
    history.pushState(null, "", permalink);
    path = permalink;
  }
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target : null;
  const button = element?.closest("[data-copy], [data-copy-url], [data-theme-switch], [data-stop]");
  if (button?.dataset.copy || button?.dataset.copyUrl) copy(button);
  else if (button && "themeSwitch" in button.dataset) switchTheme();
  else if (button) {
    window.htmx?.trigger(askForm(), "htmx:abort");
    const note = Object.assign(document.createElement("p"), { className: "note", textContent: button.dataset.stopped });
    result().replaceChildren(note);
    say(button.dataset.stopped);
    setBusy(false);
  }
  const link = element?.closest("a.cite, a.source");
  if (link && openPassage(link)) event.preventDefault();
});

// Through the steps of a record, one at a time; Escape shows all of them again.
function followStep(key) {
  const links = [...document.querySelectorAll("[data-step]")];
  if (!links.length) return false;
  const here = links.findIndex((link) => link.hash === location.hash);
  if (key === "Escape") {
    if (here < 0) return false;
    location.hash = "content";
    return true;
  }
  const next = links[key === "ArrowRight" ? here + 1 : Math.max(here - 1, 0)];
  if (next) location.hash = next.hash;
  return true;
}

function showStep() {
  document.querySelectorAll("[data-step]").forEach((link) => {
    if (link.hash === location.hash) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
  const step = location.hash && document.querySelector(`.step${location.hash}`);
  if (!step) return;
  step.tabIndex = -1;
  step.focus({ preventScroll: true });
  document.querySelector(".follow")?.scrollIntoView({ block: "start" });
  say(step.querySelector("h2")?.textContent);
}

document.addEventListener("keydown", (event) => {
  const box = event.target;
  const isTyping = /INPUT|TEXTAREA|SELECT/.test(box.tagName) || box.isContentEditable;
  if (!isTyping && !event.altKey && !event.ctrlKey && !event.metaKey &&
      ["ArrowLeft", "ArrowRight", "Escape"].includes(event.key) && followStep(event.key)) {
    event.preventDefault();
  }
  if (box.id === "question" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    askForm().requestSubmit();
  }
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(box.tagName)) {
    event.preventDefault();
    document.getElementById("question")?.focus();
  }
});

// A form inside the answer goes through the box above, which stays while the answer is replaced.
function askAgain(form, submitter) {
  const sent = new FormData(form, submitter);
  const fields = askForm().elements;
  for (const name of ["question", "conversation_id", "search_question"]) fields[name].value = sent.get(name) ?? "";
  askForm().requestSubmit();
}

// What is typed into the box above begins a conversation of its own.
document.addEventListener("input", (event) => {
  if (event.target.id !== "question") return;
  const fields = askForm().elements;
  fields.conversation_id.value = fields.search_question.value = "";
});

document.addEventListener("submit", (event) => {
  if (window.htmx && event.target.matches("#result form.again")) {
    event.preventDefault();
    askAgain(event.target, event.submitter);
  }
  const value = event.submitter?.value;
  if (event.target.matches(".examples") && value) document.getElementById("question").value = value;
});

document.addEventListener("htmx:before:request", () => setBusy(true));
document.addEventListener("htmx:finally:request", () => setBusy(false));
document.addEventListener("htmx:after:swap", settle);
document.addEventListener("htmx:error", showOffline);
document.addEventListener("htmx:sse:error", showOffline);
addEventListener("popstate", () => {
  if (location.pathname + location.search !== path) location.reload();
});
addEventListener("hashchange", showStep);
if (location.hash.length > 1 && document.querySelector(".follow")) showStep();

unhide(document);
