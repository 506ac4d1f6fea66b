// The export as svg, the buttons, and the code that runs when the page opens.
function svgText() {
  const row = Math.max(view.slot, 14);
  const frame = { zoomY: view.zoomY, panX: view.panX, panY: view.panY, zoomX: view.zoomX };
  const escape = (text) =>
    text
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
  const lines = [];
  const leads = [];
  const fills = [];
  const texts = [];
  // The export shows all rows that are not collapsed, in a size that can be read.
  view.zoomY *= row / view.slot;
  view.panX = view.panY = 0;
  view.zoomX = 1;
  const tall = Math.ceil(tree.width * row + 44);
  const number = (value) => String(Math.round(100 * value) / 100);
  view.paint(
    {
      branch: (x, y, below, end, colour, weak) =>
        lines.push(`<path d="M${number(x)} ${number(y)}V${number(below)}H${number(end)}" stroke="${colour}"${weak ? ' stroke-dasharray="3 3"' : ""}/>`),
      leader: (x, end, y) => leads.push(`<path d="M${number(x)} ${number(y)}H${number(end)}"/>`),
      triangle: (x, y, far, near, upper, lower, colour) =>
        fills.push(
          `<path d="M${number(x)} ${number(y)}L${number(far)} ${number(upper + 1)}L${number(near)} ${number(lower - 1)}Z" fill="${colour}"/>`,
        ),
      tip: (i, x, y, colour) =>
        texts.push(`<text x="${number(x + 6)}" y="${number(y + 4)}" fill="${tree.opened ? colour : "#1f2428"}">${escape(tree.title(i))}</text>`),
      node: (i, x, y) => {
        const support = tree.support ? tree.support[i] : null;
        if (support !== null && i && 100 * support >= view.threshold)
          texts.push(`<text x="${number(x - 2)}" y="${number(y - 2)}" font-size="8" text-anchor="end" fill="#5f6a72">${Math.round(100 * support)}</text>`);
      },
    },
    -1,
    tall + 1,
    0,
  );
  const ticks = view.ticks(6);
  for (const tick of ticks) texts.push(`<text x="${number(view.x(tick))}" y="${tall - 12}" font-size="10" text-anchor="middle" fill="#5f6a72">${tick}</text>`);
  if (view.label !== null) {
    const [from, to] = [view.rootEnd, view.leafEnd].map((end) => view.x(end));
    const style = `y="${tall - 1}" font-size="10" text-anchor="middle" fill="#5f6a72"`;
    texts.push(`<text x="${number((from + to) / 2)}" ${style}>${escape(view.label)}</text>`);
  }
  Object.assign(view, frame);
  const wide = Math.ceil(view.w + 200);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" font-family="sans-serif" font-size="12">`,
    `<title>${escape(document.title)}</title>`,
    `<g fill-opacity="0.55">${fills.join("")}</g>`,
    `<g fill="none" stroke="#5f6a72" stroke-width="0.6" stroke-dasharray="1 3">${leads.join("")}</g>`,
    `<g fill="none" stroke-width="1.2">${lines.join("")}</g>`,
    `<g>${texts.join("")}</g>`,
    "</svg>\n",
  ].join("\n");
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgText()], { type: "image/svg+xml" }));
  link.download = "tree.svg";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say("Exported");
}

$("controls").addEventListener("submit", (event) => event.preventDefault());
$("search").addEventListener("input", search);
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") next();
});
$("next").addEventListener("click", next);
$("cut").max = isLong ? NOTCHES : tree.opening.length;
$("clusters").max = tree.leaves;
$("cut").addEventListener("input", () => cut(openedAt(Number($("cut").value)), true));
$("clusters").addEventListener("change", () => cut(tree.openedFor(Number($("clusters").value) || 1), true));
$("copy").addEventListener("click", () => clip(table(), $("copy")));
$("in").addEventListener("click", () => view.zoom(1.6, view.w / 2, view.h / 2, false));
$("out").addEventListener("click", () => view.zoom(1 / 1.6, view.w / 2, view.h / 2, false));
$("fit").addEventListener("click", () => view.fit());
$("fold").addEventListener("click", () => fold(true));
$("unfold").addEventListener("click", () => fold(false));
$("export").addEventListener("click", save);
function threshold() {
  view.threshold = Number($("threshold").value);
  $("percent").textContent = `${view.threshold}%`;
  view.ask();
}
$("sure").hidden = tree.support === null;
$("threshold").value = data.threshold;
$("threshold").addEventListener("input", threshold);
threshold();
new ResizeObserver(() => view.resize()).observe($("stage"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  view.restyle();
  view.ask();
});
cut(tree.openedFor(data.clusters), false);
focus(0);
// The functions that tests of the page use.
window.ordhc = { tree, view, cut, fold, go, table, svgText };
