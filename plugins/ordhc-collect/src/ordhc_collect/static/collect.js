// The script of the participants' pages. It shows the next question without loading a new page, handles keys,
// measures response times, loads media, enlarges pictures, and sends answers again after a lost connection.
// Without the script, only `must_play`, `max_seconds` and enlarging do not work.
(() => {
  "use strict";
  const main = document.getElementById("main");
  const notice = document.getElementById("notice");
  const large = document.getElementById("large");
  document.documentElement.classList.add("live");
  // The start of the response time, and the other measurements of the current question.
  let shown = 0, hidden = 0, hiddenSince = 0, enlarged = 0, plays = [];

  const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
  const at = (form, name, value) => { if (form.elements[name]) form.elements[name].value = value; };

  // Load a picture. If loading fails, try again for about ten seconds.
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

  // After the consent, load all media, four at a time. The first question waits for them.
  const media = { all: 0, done: 0, over: false };
  const load = async ([first, address]) => {
    if (address === undefined) {
      await (await fetch(first, { signal: AbortSignal.timeout(120000) })).blob();
      return;
    }
    const image = new Image();
    image.sizes = main.dataset.preload;
    image.srcset = first;
    image.src = address;
    await loaded(image);
  };
  const preload = async () => {
    const list = await (await fetch("preload.json")).json();
    media.all = list.length;
    const work = async () => {
      while (list.length) {
        try { await load(list.shift()); } catch { /* The question loads it again. */ }
        media.done++;
      }
    };
    await Promise.all([work(), work(), work(), work()]);
  };
  const preloading = main.dataset.preload ? preload().catch(() => {}).then(() => { media.over = true; }) : null;

  const waitForMedia = async (page) => {
    if (!preloading || media.over || !main.querySelector("[data-trial]")) return;
    page.hidden = true;
    const loading = document.getElementById("loading").content.cloneNode(true).firstElementChild;
    main.append(loading);
    const bar = loading.querySelector("progress"), skip = loading.querySelector("button");
    const timer = setInterval(() => { bar.max = media.all || 1; bar.value = media.done; }, 100);
    setTimeout(() => { skip.hidden = false; }, 20000);
    await Promise.race([preloading, new Promise((done) => skip.addEventListener("click", done))]);
    clearInterval(timer);
    media.over = true;
    loading.remove();
    page.hidden = false;
  };

  // Resolve when all sounds and clips were played to their ends. Only one plays at a time.
  const heard = (players) => new Promise((done) => {
    plays = players.map(() => 0);
    if (!players.length) done();
    players.forEach((player, place) => {
      let latest = 0, total = 0;
      player.addEventListener("play", () => {
        for (const other of players) if (other !== player) other.pause();
        if (player.currentTime < 0.1) total = 0;
        latest = player.currentTime;
      });
      // A jump to the end does not count.
      player.addEventListener("timeupdate", () => {
        const step = player.currentTime - latest;
        if (step > 0 && step < 1.5) total += step;
        latest = player.currentTime;
      });
      player.addEventListener("ended", () => {
        if (total < 0.8 * player.duration - 0.3) return;
        total = 0;
        plays[place]++;
        if (plays.every(Boolean)) done();
      });
    });
  });

  const begin = async () => {
    const page = main.firstElementChild;
    const undo = main.querySelector("[data-undo]");
    if (undo) setTimeout(() => undo.classList.add("gone"), Math.max(0, undo.dataset.undo * 1000 - 500));
    const again = main.querySelector("[data-again]");
    if (again) setTimeout(() => { if (again.isConnected) location.replace("study"); }, again.dataset.again * 1000);
    const keys = document.getElementById("keys");
    if (keys) keys.checked = !sessionStorage.getItem("ordhc-no-keys");
    const viewport = main.querySelector("[name=viewport]");
    if (viewport) viewport.value = `${innerWidth}x${innerHeight} @${Math.round(devicePixelRatio * 100) / 100}`;
    await waitForMedia(page);
    // Ignore answers until the pictures of the question are loaded, and for a moment afterwards: such an answer is
    // the second click of a double click on the previous question.
    await Promise.all([...main.querySelectorAll(".trial img")].map(loaded));
    if (page !== main.firstElementChild) return;
    main.classList.remove("waiting");
    const form = main.querySelector("[data-trial]");
    shown = performance.now();
    hidden = enlarged = 0;
    hiddenSince = document.hidden ? shown : 0;
    const played = heard([...main.querySelectorAll(".trial :is(audio, video)")]);
    if ("play" in main.dataset && form) {
      const choices = form.querySelectorAll("[name=choice]");
      main.classList.add("unheard");
      for (const choice of choices) choice.setAttribute("aria-disabled", "true");
      await played;
      if (page !== main.firstElementChild) return;
      main.classList.remove("unheard");
      for (const choice of choices) choice.removeAttribute("aria-disabled");
      shown = performance.now();
    }
    if (main.dataset.most && form?.elements.late) setTimeout(() => {
      if (page !== main.firstElementChild || !main.classList.contains("ready")) return;
      form.elements.late.value = "1";
      answer(form);
    }, main.dataset.most * 1000);
    await wait(main.dataset.wait);
    if (page === main.firstElementChild) main.classList.add("ready");
  };

  const show = (html) => {
    if (large?.open) large.close();
    main.classList.remove("unheard");
    main.innerHTML = html;
    const heading = main.querySelector("h1");
    document.title = heading && !main.querySelector("[data-trial]") ? heading.textContent : document.title;
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
    begin();
  };

  // Send until the server answers. The server stores an answer only once, even if it arrives several times.
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

  const answer = async (form, button) => {
    main.classList.remove("ready");
    const now = performance.now();
    at(form, "ms", Math.round(now - shown));
    at(form, "away", Math.round(hidden + (hiddenSince ? now - hiddenSince : 0)));
    at(form, "enlarged", enlarged);
    at(form, "plays", plays.join(" "));
    const data = new URLSearchParams(new FormData(form, button));
    if (form.elements.late?.value) data.set("choice", "0");
    button?.closest(".choice")?.classList.add("chosen");
    main.classList.add("waiting");
    show(await send(form, data));
  };

  addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-live]")) return;
    event.preventDefault();
    if (main.classList.contains("ready")) answer(form, event.submitter);
  });

  addEventListener("visibilitychange", () => {
    const now = performance.now();
    if (document.hidden) hiddenSince = now;
    else if (hiddenSince) { hidden += now - hiddenSince; hiddenSince = 0; }
  });

  // Show the pictures of a choice, or all pictures of the question, as large as the window.
  const enlarge = (pictures) => {
    if (!large || large.open || !pictures.length) return;
    enlarged++;
    large.querySelector("div").replaceChildren(...pictures.map((picture) => {
      const copy = picture.cloneNode();
      copy.sizes = `${Math.round(100 / (innerWidth > 640 ? pictures.length : 1))}vw`;
      return copy;
    }));
    large.showModal();
  };
  addEventListener("click", (event) => {
    const button = event.target.closest?.(".enlarge");
    if (button) enlarge([...button.closest(".slot").querySelectorAll(".picture")]);
    else if (large?.open && event.target.closest("dialog")) large.close();
  });

  addEventListener("change", (event) => {
    if (event.target.id !== "keys") return;
    if (event.target.checked) sessionStorage.removeItem("ordhc-no-keys");
    else sessionStorage.setItem("ordhc-no-keys", "1");
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !main.dataset.keys || large?.open) return;
    if (sessionStorage.getItem("ordhc-no-keys") || event.target.matches("input, textarea, select, audio, video")) return;
    const place = [...main.dataset.keys].indexOf(event.key.toLowerCase());
    if (event.key === "+" && place < 0) enlarge([...main.querySelectorAll(".trial .picture")]);
    if (event.key !== "0" && place < 0) return;
    const button = main.querySelector(`[data-trial] [name=choice][value="${place + 1}"]`);
    if (button) button.form.requestSubmit(button);
  });

  // Reload a page that the browser restores after the back button, because it may be outdated.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  main.classList.add("waiting");
  begin();
})();
