// What the pages do beyond plain forms: the next question without a new page, keys, response times,
// answers sent again after a lost connection. Without it everything works, too.
(() => {
  "use strict";
  const main = document.getElementById("main");
  const notice = document.getElementById("notice");
  let shown = performance.now();
  let busy = false;
  let ready = true;

  // Time runs from when pictures are there.
  const begin = () => {
    shown = performance.now();
    const pictures = [...main.querySelectorAll("img")].filter((image) => !image.complete);
    ready = pictures.length === 0;
    Promise.allSettled(pictures.map((image) => image.decode())).then(() => {
      if (!ready) shown = performance.now();
      ready = true;
    });
    const undo = main.querySelector("[data-undo]");
    if (undo) setTimeout(() => { undo.hidden = true; }, Math.max(0, undo.dataset.undo * 1000 - 500));
    const again = main.querySelector("[data-again]");
    if (again) setTimeout(() => { if (again.isConnected) location.replace("/study"); }, again.dataset.again * 1000);
  };

  const show = (html) => {
    main.innerHTML = html;
    const heading = main.querySelector("h1");
    document.title = heading && !main.querySelector("[data-trial]") ? heading.textContent : document.title;
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
    begin();
  };

  const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

  // The server keeps an answer once, however often it comes.
  const send = async (form, data) => {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await fetch(form.action, {
          method: "POST",
          headers: { "X-Live": "1" },
          body: data,
          redirect: "error",
          signal: AbortSignal.timeout(20000),
        });
        if (answer.status !== 502 && answer.status !== 504) {
          notice.hidden = true;
          return await answer.text();
        }
      } catch { /* No connection. */ }
      if (tries) {
        notice.textContent = notice.dataset.lost;
        notice.hidden = false;
      }
      await wait(Math.min(0.5 * 2 ** tries, 8));
    }
  };

  addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-live]")) return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    if (form.elements.ms) form.elements.ms.value = ready ? Math.round(performance.now() - shown) : "";
    const data = new URLSearchParams(new FormData(form, event.submitter));
    event.submitter?.closest(".choice")?.classList.add("chosen");
    main.classList.add("waiting");
    const html = await send(form, data);
    main.classList.remove("waiting");
    busy = false;
    show(html);
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !/^[0-3]$/.test(event.key)) return;
    if (event.target.matches("input, textarea, select, audio, video")) return;
    const button = main.querySelector(`[data-trial] [name=choice][value="${event.key}"]`);
    if (button) button.form.requestSubmit(button);
  });

  // A page that the back button brings is asked for anew.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  begin();
})();
