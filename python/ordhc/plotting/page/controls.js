// The controls of the page: search, cut, collapse, copy and export, by mouse, touch, keyboard and screen reader.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const tree = new Tree(data);
const view = new View($("canvas"), tree, data);
const MOST_LISTED = 300;

function say(text) {
  $("said").textContent = text;
}

// --- Clusters ------------------------------------------------------------------------------
// The slider is logarithmic if there are more than NOTCHES clusters to choose from.
const NOTCHES = 400;
const isLong = tree.opening.length > NOTCHES;

function notch(opened) {
  return isLong ? Math.round((NOTCHES * Math.log1p(opened)) / Math.log1p(tree.opening.length)) : opened;
}

function openedAt(value) {
  return isLong ? Math.round(Math.expm1((value * Math.log1p(tree.opening.length)) / NOTCHES)) : value;
}

function cut(opened, told) {
  tree.cut(Math.min(Math.max(opened, 0), tree.opening.length));
  $("cut").value = notch(tree.opened);
  $("cut").setAttribute("aria-valuetext", `${tree.roots.length} clusters`);
  $("clusters").value = tree.roots.length;
  list();
  view.ask();
  if (told) say(`${tree.roots.length} clusters`);
}

function list() {
  const roots = tree.roots;
  $("count").textContent = `${roots.length.toLocaleString("en")} cluster${roots.length === 1 ? "" : "s"}`;
  const rows = roots.slice(0, MOST_LISTED).map((root, at) => {
    const row = document.createElement("li");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = view.colour(root);
    const name = document.createElement("button");
    name.type = "button";
    name.className = "name";
    name.textContent = `${at + 1}. ${tree.title(root)}`;
    name.title = tree.leavesOf(root).slice(0, 30).map((leaf) => tree.name[leaf]).join(", ");
    name.addEventListener("click", () => go(root));
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy";
    copy.setAttribute("aria-label", `Copy the ${tree.size[root]} names of cluster ${at + 1}`);
    copy.addEventListener("click", () => clip(tree.leavesOf(root).map((leaf) => tree.name[leaf]).join("\n"), copy));
    row.append(swatch, name, copy);
    return row;
  });
  if (roots.length > MOST_LISTED) {
    const more = document.createElement("li");
    more.textContent = `and ${(roots.length - MOST_LISTED).toLocaleString("en")} more`;
    rows.push(more);
  }
  $("list").replaceChildren(...rows);
}

function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Return the clusters as CSV, in the format of `ordhc cluster --labels`. The order of the leaves differs.
function table() {
  const rows = ["leaf,name,cluster"];
  tree.roots.forEach((root, at) => {
    for (const leaf of tree.leavesOf(root)) rows.push(`${tree.number[leaf]},${quoted(tree.name[leaf])},${at}`);
  });
  return `${rows.join("\n")}\n`;
}

async function clip(text, button) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    // Browsers forbid the clipboard API in some frames, so fall back to the older command.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = done ? "Copied" : "Not copied";
  say(button.textContent);
  setTimeout(() => (button.textContent = before === "Copied" ? "Copy" : before), 1200);
}

// --- Search --------------------------------------------------------------------------------
let found = [];
let current = -1;

function search() {
  const wanted = $("search").value.trim().toLocaleLowerCase();
  found = [];
  if (wanted) for (let i = 0; i < tree.count; i++) if (tree.name[i] && tree.name[i].toLocaleLowerCase().includes(wanted)) found.push(i);
  current = -1;
  view.matches = new Set(found);
  $("found").textContent = wanted ? `${found.length.toLocaleString("en")} found` : "";
  $("next").disabled = !found.length;
  view.ask();
}

function next() {
  if (!found.length) return;
  current = (current + 1) % found.length;
  $("found").textContent = `${current + 1} of ${found.length.toLocaleString("en")}`;
  go(found[current]);
}

// --- Nodes ---------------------------------------------------------------------------------
let item = 0;

// Move the focus to a node, and scroll the node into view.
function go(i) {
  tree.reveal(i);
  view.show(i);
  focus(i);
}

function focus(i) {
  view.focus = i;
  item = 1 - item;
  const [now, before] = [$(`item-${item}`), $(`item-${1 - item}`)];
  const above = tree.parent[i];
  const beside = above < 0 ? [i] : tree.children(above);
  now.textContent = tree.words(i);
  now.setAttribute("aria-level", tree.depth[i] + 1);
  now.setAttribute("aria-setsize", beside.length);
  now.setAttribute("aria-posinset", beside.indexOf(i) + 1);
  if (tree.isLeaf(i)) now.removeAttribute("aria-expanded");
  else now.setAttribute("aria-expanded", String(!tree.collapsed[i]));
  now.setAttribute("aria-selected", "true");
  before.setAttribute("aria-selected", "false");
  $("tree").setAttribute("aria-activedescendant", now.id);
  view.ask();
}

function toggle(i) {
  tree.toggle(i);
  view.bound();
  focus(i);
  say(tree.words(i));
}

function fold(isFolded) {
  tree.collapsed.fill(0);
  if (isFolded) for (const root of tree.roots) if (!tree.isLeaf(root) && root) tree.collapsed[root] = 1;
  tree.layout();
  let seen = view.focus;
  for (let i = seen; i >= 0; i = tree.parent[i]) if (tree.collapsed[i]) seen = i;
  view.focus = seen;
  view.fit();
}

function step(by) {
  const shown = tree.shown;
  let from = 0;
  let to = shown.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (shown[middle] < view.focus) from = middle + 1;
    else to = middle;
  }
  const at = Math.min(Math.max(from + by, 0), shown.length - 1);
  view.show(shown[at]);
  focus(shown[at]);
}

const KEYS = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  PageDown: () => step(20),
  PageUp: () => step(-20),
  Home: () => go(0),
  End: () => step(tree.shown.length),
  ArrowRight: () => {
    if (tree.isLeaf(view.focus)) return;
    if (tree.collapsed[view.focus]) toggle(view.focus);
    else go(view.focus + 1);
  },
  ArrowLeft: () => {
    if (!tree.isTip(view.focus) && view.focus) toggle(view.focus);
    else if (tree.parent[view.focus] >= 0) go(tree.parent[view.focus]);
  },
  Enter: () => toggle(view.focus),
  " ": () => toggle(view.focus),
  "+": () => view.zoom(1.4, view.w / 2, view.h / 2, false),
  "=": () => view.zoom(1.4, view.w / 2, view.h / 2, false),
  "-": () => view.zoom(1 / 1.4, view.w / 2, view.h / 2, false),
  0: () => view.fit(),
};

// --- Pointer -------------------------------------------------------------------------------
function hover(event) {
  const box = $("canvas").getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const i = view.at(x, y);
  $("canvas").classList.toggle("over", i >= 0 && !tree.isLeaf(i));
  const tip = $("tip");
  tip.hidden = i < 0;
  if (i < 0) return;
  const words = document.createElement("p");
  words.textContent = tree.words(i);
  const parts = [words];
  if (data.text[i] !== undefined) {
    const text = document.createElement("p");
    text.textContent = data.text[i];
    parts.push(text);
  }
  if (data.picture[i] !== undefined) {
    const picture = document.createElement("img");
    picture.src = data.picture[i];
    picture.alt = tree.name[i];
    parts.push(picture);
  }
  tip.replaceChildren(...parts);
  tip.style.left = `${Math.max(4, Math.min(x + 14, view.w - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, view.h - tip.offsetHeight - 4))}px`;
}

const pointers = new Map();
let moved = 0;

function grip() {
  const [a, b] = [...pointers.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
}

$("canvas").addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  $("canvas").setPointerCapture(event.pointerId);
  moved = 0;
});
$("canvas").addEventListener("pointermove", (event) => {
  const held = pointers.get(event.pointerId);
  if (!held) return hover(event);
  const before = pointers.size === 2 ? grip() : null;
  const [x, y] = [event.clientX - held.x, event.clientY - held.y];
  moved += Math.abs(x) + Math.abs(y);
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (before) {
    const after = grip();
    const box = $("canvas").getBoundingClientRect();
    view.zoom(after.apart / before.apart, after.x - box.left, after.y - box.top, false);
  } else if (moved > 3) {
    $("tip").hidden = true;
    view.pan(x, y);
  }
});
const release = (event) => pointers.delete(event.pointerId);
$("canvas").addEventListener("pointerup", (event) => {
  release(event);
  if (moved > 3) return;
  const box = $("canvas").getBoundingClientRect();
  const i = view.at(event.clientX - box.left, event.clientY - box.top);
  $("tree").focus({ preventScroll: true });
  if (i < 0) return;
  if (tree.isLeaf(i)) focus(i);
  else toggle(i);
});
$("canvas").addEventListener("pointercancel", release);
$("canvas").addEventListener("pointerleave", () => ($("tip").hidden = true));
$("canvas").addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    const box = $("canvas").getBoundingClientRect();
    const turned = event.deltaY || event.deltaX;
    const lines = event.deltaMode === 1 ? 16 : 1;
    view.zoom(Math.exp(-turned * lines * 0.0016), event.clientX - box.left, event.clientY - box.top, event.shiftKey);
  },
  { passive: false },
);
$("tree").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
$("tree").addEventListener("focus", () => {
  view.isFocused = true;
  view.ask();
});
$("tree").addEventListener("blur", () => {
  view.isFocused = false;
  view.ask();
});
