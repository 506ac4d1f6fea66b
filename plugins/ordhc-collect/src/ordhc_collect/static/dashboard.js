// Update the parts of the dashboard that change while people answer.
(() => {
  "use strict";
  const source = new EventSource("dashboard/events");
  source.addEventListener("message", (event) => {
    for (const [name, html] of Object.entries(JSON.parse(event.data))) {
      const part = document.getElementById(name);
      if (!part || part.dataset.html === html) continue;
      const { scrollTop, scrollLeft } = part;
      part.innerHTML = html;
      part.dataset.html = html;
      part.scrollTop = scrollTop;
      part.scrollLeft = scrollLeft;
    }
    document.body.dataset.updated = Date.now();
  });
})();
