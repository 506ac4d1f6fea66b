// What the pages do beyond plain forms: the next question without a new page, keys, response times,
// answers sent again after a lost connection. Without it everything works, too.
(() => {
  "use strict";
  const main = document.getElementById("main");
  const notice = document.getElementById("notice");
  // When all pictures of the page were there.
  let shown = 0;

  const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

  // A picture that a bad connection has lost is asked for again, for about ten seconds.
  const loaded = async (image) => {
    for (let tries = 0; tries < 5; tries++) {
      try {
        return await image.decode();
      } catch {
        if (image.naturalWidth) return;
        await wait(0.5 * 2 ** tries);
        image.src = image.src;
      }
    }
  };

  const begin = async () => {
    const page = main.firstElementChild;
    const undo = main.querySelector("[data-undo]");
    if (undo) setTimeout(() => undo.classList.add("gone"), Math.max(0, undo.dataset.undo * 1000 - 500));
    const again = main.querySelector("[data-again]");
    if (again) setTimeout(() => { if (again.isConnected) location.replace("/study"); }, again.dataset.again * 1000);
    // No answer counts before the pictures of its question are there and for a moment after that: it is the second
    // click of two.
    await Promise.all([...main.querySelectorAll(".trial img")].map(loaded));
    if (page !== main.firstElementChild) return;
    main.classList.remove("waiting");
    shown = performance.now();
    preload(page);
    await wait(main.dataset.wait);
    if (page === main.firstElementChild) main.classList.add("ready");
  };

  // While people look at a question, pictures of later ones come, one after the other.
  const later = (main.dataset.preload ?? "").split(" ").filter(Boolean);
  const preload = (page) => {
    if (page !== main.firstElementChild || !later.length) return;
    const image = new Image();
    image.fetchPriority = "low";
    image.onload = image.onerror = () => preload(page);
    image.src = `/media/${later.shift()}/picture`;
  };

  const show = (html) => {
    main.innerHTML = html;
    const heading = main.querySelector("h1");
    document.title = heading && !main.querySelector("[data-trial]") ? heading.textContent : document.title;
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
    begin();
  };

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
    if (!main.classList.contains("ready")) return;
    main.classList.remove("ready");
    if (form.elements.ms) form.elements.ms.value = Math.round(performance.now() - shown);
    const data = new URLSearchParams(new FormData(form, event.submitter));
    event.submitter?.closest(".choice")?.classList.add("chosen");
    main.classList.add("waiting");
    show(await send(form, data));
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !/^[0-3]$/.test(event.key)) return;
    if (event.target.matches("input, textarea, select, audio, video")) return;
    const button = main.querySelector(`[data-trial] [name=choice][value="${event.key}"]`);
    if (button) button.form.requestSubmit(button);
  });

  // A page that the back button brings is asked for anew.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  main.classList.add("waiting");
  begin();
})();
