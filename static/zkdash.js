// Takes frames, holds them for readers, marks changes.
const doc = document, body = doc.body, root = doc.documentElement;
const $ = (id) => doc.getElementById(id);
const all = (css, root = doc) => [...root.querySelectorAll(css)];
const on = (el, name, act) => el.addEventListener(name, act);
const say = (it) => ($("status").textContent = it);
const stops = "a,button,input,summary,label";
const held = new Map(); // what waits, by id
const marks = new Map(); // id -> [when, what cells said]
let revision = body.dataset.revision, asOf = body.dataset.asOf, hovered, paused, down, poll, chord = 0;
htmx.config.wsReconnectDelay = (n) => Math.random() * Math.min(8e3, 1e3 * 2 ** n);

// Its words; no times, no marks.
const text = (el) => {
	const copy = el.cloneNode(true);
	all("time", copy).forEach((t) => (t.textContent = t.dateTime));
	return copy.textContent.replace(/\s+/g, " ").trim();
};
// Changed rows: [row, old row, what changed cells said].
const diff = (el) => (el.cells ? [el] : [...(el.rows ?? [])]).map((row) => {
	const old = $(row.id);
	return [row, old, [...row.cells].map((cell, i) => {
		const was = old ? text(old.cells[i] ?? old) : "";
		return was === text(cell) ? null : was;
	})];
}).filter(([row, , was]) => row.dataset.tone && was.some((w) => w !== null));

const parse = (html) => Object.assign(doc.createElement("template"), { innerHTML: html }).content;
function take(frame) {
	const head = JSON.parse(frame.split("\n")[0]);
	if (head.from !== null && head.from != revision) return refetch();
	[revision, asOf] = [head.to, head.as_of];
	receive([...parse(frame.slice(frame.indexOf("\n"))).children].map((el) => el.content?.firstElementChild ?? el));
}
async function refetch() {
	const answer = await fetch(location), parts = all("[data-live]", parse(await answer.text()));
	[revision, asOf] = ["Revision", "As-Of"].map((it) => answer.headers.get("Zkdash-" + it));
	parts.forEach((el) => el.setAttribute("hx-swap-oob", "true"));
	receive(parts);
}
const count = (n, of) => `${n} ${of}${n > 1 ? "s" : ""}`;
const reading = () => paused || !getSelection().isCollapsed;
function receive(parts) {
	apply(parts.filter((el) => {
		const old = $(el.id), wait = old && (reading() || hovered?.contains(old));
		if (wait) hold(el, old);
		else held.delete(el.id);
		return old && !wait;
	}));
}
function hold(el, old) {
	for (const [id, other] of held) {
		const inside = other.querySelector("#" + el.id);
		if (inside) return inside.replaceWith(el);
		if (old.contains($(id))) held.delete(id);
	}
	if (text(el) !== text(old)) held.set(el.id, el);
}
function tell() {
	const button = $("waiting"), n = [...held.values()].flatMap(diff).length || held.size;
	button.hidden = !n;
	button.textContent = count(n, "change") + " · show (u)";
}
function show() {
	const parts = [...held.values()];
	held.clear();
	apply(parts);
}
const flush = () => reading() || hovered || show();

function apply(parts) {
	tell();
	if (!parts[0]) return;
	mark(parts);
	const active = doc.activeElement, home = active.closest("[id]") ?? body;
	const at = all(stops, home).indexOf(active);
	// What a reader opened or ticked stays.
	parts.forEach((el) => all("details,input", el).forEach((d) => {
		const old = $(d.id) ?? d;
		d.open = old.open;
		d.defaultChecked = old.checked;
	}));
	htmx.swap(body, parts.map((el) => (el.cells || el.rows ? `<template>${el.outerHTML}</template>` : el.outerHTML)).join(""), { swapStyle: "none" });
	const now = !active.isConnected && $(home.id);
	if (now) (all(stops, now)[at] ?? now).focus({ preventScroll: true });
	paint();
	ages();
	const { worst } = $("banner").dataset;
	doc.title = (worst && worst + " · ") + doc.title.replace(/^[✕▲] \d+ · /, "");
}
function mark(parts) {
	const said = [], critical = [], found = [];
	for (const el of parts) {
		let n = 0, warnings = 0;
		for (const [row, old, was] of diff(el)) {
			const { tone } = row.dataset;
			found.push([row.id, [Date.now(), was]]);
			n++;
			warnings += tone === "warning";
			if (tone === "critical" && old?.dataset.tone !== tone) critical.push(text(row.querySelector("th")));
		}
		if (n) said.push(`${$(el.id).closest("table").ariaLabel}: ${count(n, "row")} changed` + (warnings ? `, ${warnings} warning` : ""));
	}
	if (!said[0]) return;
	say(said.join("; "));
	if (critical[0]) $("alert").textContent = "Critical: " + critical.join(", ");
	marks.forEach(([at], id) => {
		if (since(at) < 2) return;
		marks.delete(id);
		$(id)?.classList.remove("changed");
		all(`#${id} b`).forEach((b) => { b.parentNode.title = ""; b.replaceWith(...b.childNodes); });
	});
	found.forEach(([id, value]) => marks.set(id, value));
}
function paint() {
	marks.forEach(([, was], id) => {
		const [row] = all(`#${id}:not(.changed)`);
		if (!row) return;
		row.classList.add("changed");
		[...row.cells].forEach((cell, i) => {
			if (was[i] === null) return;
			const b = doc.createElement("b");
			b.append(...cell.childNodes);
			cell.append(b);
			cell.title = was[i] ? "was " + was[i] : "new";
		});
	});
}

const since = (ms) => Math.max(0, Date.now() - ms) / 1e3;
const age = (s) => (s < 60 ? `${s | 0} s` : s < 3600 ? `${(s / 60) | 0} min` : `${(s / 3600) | 0} h`) + " ago";
function ages() {
	all("time").forEach((t) => {
		const s = since(Date.parse(t.dateTime));
		t.textContent = s < 86400 ? age(s) : t.dateTime.slice(0, 10);
	});
}
// Told every 2 s.
function fresh() {
	const el = $("freshness"), s = since(asOf * 1e3), old = !asOf || s > 5;
	if (!el) return;
	el.classList.toggle("old", !!(old || paused || down));
	el.textContent = `${paused ? "Paused" : down ? "Polling" : old ? "Stale" : "Live"} · revision ${(+revision).toLocaleString("fr")}` +
		(asOf ? " · " + (s < 10 ? s.toFixed(1) + " s ago" : age(s)) : "");
}
function notices() {
	$("notice").textContent = (down ? "This page lost its live connection; refreshing every 4 s. " : "") + (paused ? "Paused by you." : "");
	$("notice").hidden = !down && !paused;
	fresh();
}

on(body, "htmx:wsBeforeMessage", (e) => { e.preventDefault(); take(e.detail.message); });
on(body, "htmx:wsClose", () => {
	poll ||= setInterval(() => refetch().catch(fresh), 4e3);
	setTimeout(() => { down = poll; notices(); }, 1500);
});
on(body, "htmx:wsOpen", () => {
	clearInterval(poll);
	poll = down = 0;
	notices();
});
on(doc, "pointerover", (e) => { hovered = e.pointerType === "touch" ? null : e.target.closest("table"); flush(); });
on(root, "pointerleave", () => { hovered = null; flush(); });
on(doc, "selectionchange", flush);

function pause() {
	paused = !paused;
	$("pause").ariaPressed = paused;
	flush();
	notices();
}
const open = (row) => row?.querySelector("th a")?.click();
const copy = (el) => el && navigator.clipboard.writeText(el.dataset.copy).then(() => say("Copied"), () => say("Not copied"));
const step = (by) => {
	const rows = all("main tr[tabindex]");
	rows[Math.max(0, rows.indexOf(doc.activeElement) + by)]?.focus();
};
const keys = {
	"/": () => ($("filter") ?? $("search")).focus(), "?": () => $("keys").showModal(), u: show, p: pause, g: () => (chord = Date.now()),
	j: () => step(1), k: () => step(-1), Enter: () => open(doc.activeElement), y: () => copy(doc.activeElement.querySelector(".copy")),
};
on(doc, "keydown", (e) => {
	if (e.key === "Escape" && e.target.matches("input")) e.target.blur();
	if (off.checked || e.ctrlKey || e.altKey || e.metaKey || !e.target.matches("body,main,tr")) return;
	const link = since(chord) < 1.5 && all("[data-go]").find((a) => a.dataset.go === e.key);
	const act = link ? () => link.click() : keys[e.key];
	chord = 0;
	if (act) { e.preventDefault(); act(); }
});
on(doc, "click", ({ target }) => {
	copy(target.closest(".copy"));
	if (getSelection().isCollapsed && !target.closest(stops)) open(target.closest("main tr"));
});
$("waiting").onclick = show;
$("pause").onclick = pause;
$("help").onclick = keys["?"];
setInterval(fresh, 1e3);
setInterval(ages, 15e3);
fresh();
ages();

const off = $("keys-off"), theme = $("theme");
off.checked = localStorage.keys;
theme.value = root.dataset.theme = localStorage.theme ?? "";
off.onchange = () => (localStorage.keys = off.checked ? "off" : "");
theme.onchange = () => (localStorage.theme = root.dataset.theme = theme.value);
