const root = document.documentElement;

// Light or dark: what the system says, until the reader says something else.
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

// An anchor in a table, as each reason has, is something to copy a link from, too.
for (const anchor of document.querySelectorAll("td > a[id]:empty")) {
  anchor.href = "#" + anchor.id;
  anchor.className = "anchor";
  anchor.textContent = "#";
  anchor.ariaLabel = "Link to this row";
  anchor.parentElement.append(" ", anchor);
}

for (const block of document.querySelectorAll("article pre")) {
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "Copy";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").innerText);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  block.parentElement.append(copy);
}

const dialog = document.getElementById("search");
const input = dialog.querySelector("input");
const list = dialog.querySelector("ol");
let loading;

// load gives the index, which is beside this file, wherever the site is served from.
function load() {
  loading ??= import(new URL("pagefind/pagefind.js", import.meta.url)).catch(() => {
    list.replaceChildren("Search needs the site to be served by a web server.");
  });
  return loading;
}

function open() {
  dialog.showModal();
  input.select();
  load();
}
document.getElementById("find").addEventListener("click", open);
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (!dialog.open && ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey)))) {
    event.preventDefault();
    open();
  }
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("a")) dialog.close();
});

function link(url, title, excerpt) {
  const item = document.createElement("li");
  const to = document.createElement("a");
  to.href = url;
  to.textContent = title;
  const text = document.createElement("p");
  text.innerHTML = excerpt; // with the words that were found marked; pagefind has escaped the rest
  item.append(to, text);
  return item;
}

// The word that a section was found by, of several the one that counts most.
function best(section) {
  return section.weighted_locations.reduce((a, b) => (b.balanced_score > a.balanced_score ? b : a));
}

// A section of a page, or the row of a table in it that has an anchor and the word that was found, as each reason has.
function place(page, section) {
  const row = page.anchors.findLast((anchor) => anchor.location <= best(section).location);
  if (row?.element !== "a") {
    const title = section.title === page.meta.title ? section.title : `${page.meta.title}: ${section.title}`;
    return link(section.url, title, section.excerpt);
  }
  const name = page.content.split(/\s+/)[row.location].replace(/\W+$/, "");
  return link(`${page.url}#${row.id}`, `${page.meta.title}: ${name}`, section.excerpt);
}

input.addEventListener("input", async () => {
  const words = input.value;
  const index = await load();
  const found = await index?.debouncedSearch(words);
  if (!found) return; // another letter was typed since
  const pages = await Promise.all(found.results.slice(0, 8).map((result) => result.data()));
  if (words !== input.value) return;
  const items = pages.flatMap((page) => {
    const sections = page.sub_results.toSorted((a, b) => best(b).balanced_score - best(a).balanced_score);
    return sections.slice(0, 3).map((section) => place(page, section));
  });
  list.replaceChildren(...(items.length || !words.trim() ? items : [`Nothing has ${words}.`]));
});
