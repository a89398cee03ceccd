// Puts the question box of {{ t('site.name') }} into this page, in a frame of its own.
(() => {
  "use strict";
  const script = document.currentScript;
  if (!script) return;
  const home = new URL(script.src).origin;
  const address = new URL("/widget", home);
  for (const name of ["source", "theme", "question"]) {
    if (script.dataset[name]) address.searchParams.set(name, script.dataset[name]);
  }
  const frame = document.createElement("iframe");
  frame.src = address.href;
  frame.title = script.dataset.title || {{ t('widget.title')|tojson }};
  frame.className = "vouch-widget";
  frame.loading = "lazy";
  frame.referrerPolicy = "no-referrer";
  frame.allow = "clipboard-write";
  frame.setAttribute("sandbox", "allow-scripts allow-forms allow-same-origin allow-popups allow-popups-to-escape-sandbox");
  Object.assign(frame.style, { display: "block", width: "100%", height: "12rem", border: "0", colorScheme: "auto" });
  addEventListener("message", (event) => {
    const height = Number(event.data?.vouchHeight);
    if (event.source !== frame.contentWindow || event.origin !== home || !(height > 0)) return;
    frame.style.height = `${Math.min(Math.ceil(height), 20000)}px`;
  });
  const place = script.dataset.target && document.querySelector(script.dataset.target);
  if (place) place.replaceChildren(frame);
  else script.after(frame);
})();
