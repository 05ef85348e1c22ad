// Live behaviour of every page: takes the frames of the socket, holds them while somebody reads, marks what changed.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const body = document.body;
  const store = (key, value) => { try { return value === undefined ? localStorage[key] : (localStorage[key] = value); } catch { return ""; } };
  const held = new Map(); // element id -> newest element, not shown yet
  const marks = new Map(); // row id -> {at, was: column -> old text}
  let [revision, asOf] = [body.dataset.revision, Number(body.dataset.asOf) || null];
  let hovered, paused = false, down = false, mute = false, goes = 0, poll, chord = 0;
  htmx.config.wsReconnectDelay = (n) => Math.random() * Math.min(8000, 1000 * 2 ** n);

  // What an element says, whatever the script has made of its times and marks.
  const text = (el) => {
    const copy = el.cloneNode(true);
    all("time", copy).forEach((t) => { t.textContent = t.dateTime; });
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const rows = (el) => (el.matches("tr") ? [el] : el.matches("tbody") ? [...el.rows] : []);

  // --- Frames
  function take(message) {
    const end = message.indexOf("\n");
    const head = JSON.parse(message.slice(0, end));
    if (head.from !== null && String(head.from) !== revision.split(".")[1]) return refetch();
    revision = revision.split(".")[0] + "." + head.to;
    asOf = head.as_of;
    const box = document.createElement("template");
    box.innerHTML = message.slice(end + 1);
    receive([...box.content.children].map((el) => (el.matches("template") ? el.content.firstElementChild : el)));
  }
  async function refetch() {
    try {
      const answer = await fetch(location.href, { cache: "no-cache", headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.body.dataset.revision) throw 0;
      revision = page.body.dataset.revision;
      asOf = Number(answer.headers.get("Zkdash-As-Of")) || null;
      goes = 0;
      receive(all("[data-live]", page).map((el) => { el.setAttribute("hx-swap-oob", "true"); return document.adoptNode(el); }));
    } catch { goes++; }
    notices();
  }
  const reading = () => paused || !getSelection().isCollapsed;
  function receive(elements) {
    const now = [];
    for (const el of elements) {
      const old = $(el.id);
      if (old && (reading() || (hovered && hovered.contains(old)))) hold(el, old);
      else if (old) now.push(el);
    }
    apply(now);
    tell();
  }
  function hold(el, old) {
    for (const [id, other] of held) {
      const inside = all("#" + el.id, other)[0];
      if (inside) return inside.replaceWith(el);
      if (old.contains($(id))) held.delete(id);
    }
    if (text(el) !== text(old)) held.set(el.id, el);
  }
  function show() {
    const waiting = [...held.values()];
    held.clear();
    apply(waiting);
    tell();
  }
  const flush = () => { if (!reading() && held.size && !hovered) show(); };
  // How many rows (or blocks) would look different.
  function changes(el) {
    const old = $(el.id);
    const mine = rows(el);
    if (!mine.length || !old) return 1;
    const kept = new Set(mine.map((row) => row.id));
    return mine.filter((row) => !$(row.id) || text($(row.id)) !== text(row)).length + rows(old).filter((row) => !kept.has(row.id)).length || 1;
  }
  function tell() {
    const n = [...held.values()].reduce((sum, el) => sum + changes(el), 0);
    $("waiting").hidden = !n;
    $("waiting").textContent = `${n} change${n === 1 ? "" : "s"} · show (u)`;
  }

  // --- Swap, with focus, open details and marks kept
  function apply(elements) {
    if (!elements.length) return;
    const spoken = mark(elements);
    const active = document.activeElement;
    const home = active.closest("[id]");
    const at = home ? all("a,button,summary,input", home).indexOf(active) : -1;
    for (const el of elements) {
      all("details[id]", el).forEach((d) => { d.open = $(d.id)?.open ?? d.open; });
    }
    const html = elements.map((el) => (rows(el).length || el.matches("tbody") ? `<template>${el.outerHTML}</template>` : el.outerHTML));
    htmx.swap(body, html.join(""), { swapStyle: "none" });
    if (!active.isConnected && home && $(home.id)) {
      (at < 0 ? $(home.id) : all("a,button,summary,input", $(home.id))[at] ?? $(home.id)).focus({ preventScroll: true });
    }
    paint();
    ages();
    title();
    announce(spoken);
  }
  function mark(elements) {
    const found = new Map();
    const spoken = { tables: new Map(), critical: [] };
    for (const el of elements) {
      const table = $(el.id)?.closest("table");
      for (const row of rows(el)) {
        const old = $(row.id);
        const was = new Map();
        [...row.cells].forEach((cell, i) => { if (!old || text(old.cells[i] ?? old) !== text(cell)) was.set(i, old ? text(old.cells[i] ?? old) : ""); });
        if (!was.size || row.matches(".empty")) continue;
        found.set(row.id, { at: Date.now(), was });
        const tone = row.dataset.tone;
        const counts = spoken.tables.get(table) ?? { n: 0, warning: 0, critical: 0 };
        counts.n++;
        if (tone in counts) counts[tone]++;
        spoken.tables.set(table, counts);
        if (tone === "critical" && old?.dataset.tone !== tone) spoken.critical.push(text(row.querySelector("th") ?? row));
      }
      all("dd", el).forEach((dd, i) => { dd.classList.toggle("pulse", text(dd) !== text(all("dd", $(el.id))[i] ?? dd)); });
    }
    if (found.size) {
      for (const [id, { at }] of marks) {
        if (Date.now() - at < 2000) continue;
        marks.delete(id);
        const row = $(id);
        row?.classList.remove("changed");
        all("b[data-was]", row ?? body.cloneNode()).forEach((b) => { b.parentNode.removeAttribute("title"); b.replaceWith(...b.childNodes); });
      }
    }
    found.forEach((value, id) => marks.set(id, value));
    return spoken;
  }
  function paint() {
    for (const [id, { at, was }] of marks) {
      const row = $(id);
      if (!row) marks.delete(id);
      if (!row || row.matches(".changed")) continue;
      row.classList.add("changed");
      was.forEach((old, i) => {
        const cell = row.cells[i];
        if (!cell) return;
        cell.style.animationDelay = `${at - Date.now()}ms`;
        const b = document.createElement("b");
        b.dataset.was = "";
        b.append(...cell.childNodes);
        cell.append(b);
        cell.title = old ? `was ${old}` : "new";
      });
    }
  }
  function announce({ tables, critical }) {
    const said = [...tables].map(([table, { n, warning, critical: bad }]) =>
      `${table?.getAttribute("aria-label") ?? "Page"}: ${n} row${n === 1 ? "" : "s"} changed` + (warning ? `, ${warning} warning` : "") + (bad ? `, ${bad} critical` : ""));
    if (said.length) $("status").textContent = said.join(". ");
    if (critical.length) $("alert").textContent = `Critical: ${critical.slice(0, 5).join(", ")}` + (critical.length > 5 ? ` and ${critical.length - 5} more` : "");
  }

  // --- Words that follow the clock
  function age(ms) {
    const s = Math.max(0, Date.now() - ms) / 1000;
    return s < 60 ? `${Math.floor(s)} s ago` : s < 3600 ? `${Math.floor(s / 60)} min ago` : `${Math.floor(s / 3600)} h ago`;
  }
  function ages() {
    all("time").forEach((t) => {
      const ms = Date.parse(t.dateTime);
      t.textContent = Date.now() - ms < 864e5 ? age(ms) : t.dateTime.slice(0, 10);
    });
  }
  function fresh() {
    const el = $("freshness");
    if (!el || !revision) return;
    const s = asOf === null ? null : Math.max(0, Date.now() / 1000 - asOf);
    const old = s === null || s > 3;
    el.classList.toggle("old", old || paused || down);
    el.textContent = `${paused ? "Paused" : down ? "Polling" : old ? "Stale" : "Live"} · revision ${Number(revision.split(".")[1]).toLocaleString("en").replace(/,/g, "\u202f")}` +
      (s === null ? "" : ` · ${s < 10 ? s.toFixed(1) + " s ago" : age(asOf * 1000)}`);
  }
  function title() {
    const worst = $("banner")?.dataset.worst;
    document.title = (worst ? worst + " · " : "") + document.title.replace(/^[✕▲] \d+ · /, "");
  }
  function notices() {
    const lost = goes > 1 ? "zkdash does not answer; showing the last known state." : "This page lost its live connection; refreshing every 4 s.";
    const said = [down && lost, paused && "Paused by you."].filter(Boolean).join(" ");
    if ($("notice").textContent !== said) $("notice").textContent = said;
    $("notice").hidden = !said;
  }

  // --- The socket
  body.addEventListener("htmx:wsBeforeMessage", (e) => { e.preventDefault(); take(e.detail.message); });
  body.addEventListener("htmx:wsClose", () => {
    poll ??= setInterval(refetch, 4000);
    setTimeout(() => { if (poll) { down = true; notices(); } }, 1500);
  });
  body.addEventListener("htmx:wsOpen", () => {
    clearInterval(poll);
    poll = undefined;
    down = false;
    goes = 0;
    notices();
  });
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });

  // --- Reading
  document.addEventListener("pointerover", (e) => { hovered = e.pointerType === "touch" ? null : e.target.closest("table"); flush(); });
  document.documentElement.addEventListener("pointerleave", () => { hovered = null; flush(); });
  document.addEventListener("selectionchange", flush);
  function pause() {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", paused);
    $("pause").textContent = paused ? "Resume" : "Pause";
    flush();
    notices();
    fresh();
  }

  // --- Keys, copying, display
  async function copy(button) {
    if (!button) return;
    try { await navigator.clipboard.writeText(button.dataset.copy); $("status").textContent = "Copied"; button.textContent = "Copied"; } catch { $("status").textContent = "Not copied: the browser refused"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }
  function step(by) {
    const list = all("main tbody tr[tabindex]");
    const at = list.indexOf(document.activeElement.closest("tr"));
    list[Math.max(0, Math.min(list.length - 1, at + by))]?.focus();
  }
  const keys = {
    "/": () => $("filter")?.focus(), "?": () => $("keys").showModal(), j: () => step(1), k: () => step(-1), u: show, p: pause,
    Enter: () => document.activeElement.querySelector("a")?.click(), y: () => copy(document.activeElement.querySelector("[data-copy]")),
    g: () => { chord = Date.now(); },
  };
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && e.target.matches("input")) e.target.blur();
    if (mute || e.ctrlKey || e.altKey || e.metaKey || !e.target.matches("body,main,tr")) return;
    const link = Date.now() - chord < 1500 && document.querySelector(`[data-go="${CSS.escape(e.key)}"]`);
    chord = 0;
    const act = link ? () => link.click() : Object.hasOwn(keys, e.key) && keys[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  document.addEventListener("click", (e) => {
    const button = e.target.closest("[data-copy]");
    if (button) return copy(button);
    if (getSelection().isCollapsed && !e.target.closest("a,button,input,summary")) e.target.closest("main tr")?.querySelector("th a")?.click();
  });
  mute = $("keys-off").checked = store("zkdash-keys") === "off";
  $("keys-off").onchange = (e) => { mute = e.target.checked; store("zkdash-keys", mute ? "off" : "on"); };
  const theme = (value) => { document.documentElement.dataset.theme = value; $("theme").value = value; };
  theme(store("zkdash-theme") || "");
  $("theme").onchange = (e) => { store("zkdash-theme", e.target.value); theme(e.target.value); };
  all("select[data-submit]").forEach((s) => { s.onchange = () => s.form.requestSubmit(); });
  $("waiting").onclick = show;
  $("pause").onclick = pause;
  $("help").onclick = keys["?"];
  $("help").hidden = false;
  $("pause").hidden = !revision;
  setInterval(fresh, 1000);
  setInterval(ages, 15000);
  fresh();
  ages();
})();
