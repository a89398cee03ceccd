// Inside the frame: tells the page around it how high it is, and opens links outside of it.
"use strict";

const tellHeight = () => parent.postMessage({ vouchHeight: document.body.scrollHeight }, "*");
new ResizeObserver(tellHeight).observe(document.body);
tellHeight();

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!link || link.getAttribute("href").startsWith("#")) return;
  link.target = "_blank";
  link.relList.add("noopener");
}, true);
