// Takes frames, and keeps them back while a reader reads.
import { offerColumns } from "./columns.js";
import { byId, parse, plural, select, wordsOf } from "./elements.js";
import { shown, tellFreshness, tellNotices } from "./freshness.js";
import { changedRows, markChanges, paintMarks } from "./marks.js";
import { wordTimes } from "./times.js";

export const FOCUSABLE = "a,button,input,summary,label";
const POLL_MS = 4e3;
const { body } = document;
const waiting = new Map(); // parts that are kept back, by id
let hoveredTable, poll;
htmx.config.wsReconnectDelay = (tries) => Math.random() * Math.min(8e3, 1e3 * 2 ** tries);

function take(frame) {
	const head = JSON.parse(frame.split("\n")[0]);
	if (head.from !== null && head.from != shown.revision) return refetch();
	[shown.revision, shown.asOf] = [head.to, head.as_of];
	const elements = [...parse(frame.slice(frame.indexOf("\n"))).children];
	receive(elements.map((element) => element.content?.firstElementChild ?? element));
}
async function refetch() {
	const answer = await fetch(location);
	const parts = select("[data-live]", parse(await answer.text()));
	[shown.revision, shown.asOf] = ["Revision", "As-Of"].map((name) => answer.headers.get(`Zkdash-${name}`));
	parts.forEach((part) => part.setAttribute("hx-swap-oob", "true"));
	receive(parts);
}

const isReading = () => shown.isPaused || !getSelection().isCollapsed;
function receive(parts) {
	apply(parts.filter((part) => {
		const old = byId(part.id), mustWait = old && (isReading() || hoveredTable?.contains(old));
		if (mustWait) keepBack(part, old);
		else waiting.delete(part.id);
		return old && !mustWait;
	}));
}
function keepBack(part, old) {
	for (const [id, other] of waiting) {
		const inside = other.querySelector(`#${part.id}`);
		if (inside) return inside.replaceWith(part);
		if (old.contains(byId(id))) waiting.delete(id);
	}
	if (wordsOf(part) !== wordsOf(old)) waiting.set(part.id, part);
}
function tellWaiting() {
	const button = byId("waiting"), count = [...waiting.values()].flatMap(changedRows).length || waiting.size;
	button.hidden = !count;
	button.textContent = `${plural(count, "change")} · show (u)`;
}
export function showWaiting() {
	const parts = [...waiting.values()];
	waiting.clear();
	apply(parts);
}
const showUnlessReading = () => isReading() || hoveredTable || showWaiting();

function apply(parts) {
	tellWaiting();
	if (!parts[0]) return;
	markChanges(parts);
	const active = document.activeElement, home = active.closest("[id]") ?? body;
	const place = select(FOCUSABLE, home).indexOf(active);
	// What a reader opened or ticked stays.
	parts.forEach((part) => select("details,input", part).forEach((element) => {
		const old = byId(element.id) ?? element;
		element.open = old.open;
		element.defaultChecked = old.checked;
	}));
	const html = parts.map((part) => (part.cells || part.rows ? `<template>${part.outerHTML}</template>` : part.outerHTML));
	htmx.swap(body, html.join(""), { swapStyle: "none" });
	const successor = !active.isConnected && byId(home.id);
	if (successor) (select(FOCUSABLE, successor)[place] ?? successor).focus({ preventScroll: true });
	paintMarks();
	wordTimes();
	const { worst } = byId("banner").dataset;
	document.title = (worst && `${worst} · `) + document.title.replace(/^[✕▲] \d+ · /, "");
}

// Shows another query of the same page: its main part, and from its socket on.
export function adopt(page) {
	waiting.clear();
	tellWaiting();
	byId("main").replaceChildren(...page.getElementById("main").childNodes);
	document.title = page.title;
	const socket = page.getElementById("socket");
	if (byId("socket")) htmx.swap(byId("socket"), "", { swapStyle: "delete" });
	if (socket) {
		[shown.revision, shown.asOf] = [socket.dataset.revision, socket.dataset.asOf];
		body.prepend(socket);
	}
	htmx.process(body);
	offerColumns();
	paintMarks();
	wordTimes();
	tellFreshness();
}

export function pause() {
	shown.isPaused = !shown.isPaused;
	byId("pause").ariaPressed = shown.isPaused;
	showUnlessReading();
	tellNotices();
}

body.addEventListener("htmx:wsBeforeMessage", (event) => {
	event.preventDefault();
	take(event.detail.message);
});
body.addEventListener("htmx:wsClose", () => {
	poll ||= setInterval(() => refetch().catch(tellFreshness), POLL_MS);
	setTimeout(() => {
		shown.isCut = !!poll;
		tellNotices();
	}, 1500);
});
body.addEventListener("htmx:wsOpen", () => {
	clearInterval(poll);
	poll = 0;
	shown.isCut = false;
	tellNotices();
});
document.addEventListener("pointerover", (event) => {
	hoveredTable = event.pointerType === "touch" ? null : event.target.closest("table");
	showUnlessReading();
});
document.documentElement.addEventListener("pointerleave", () => {
	hoveredTable = null;
	showUnlessReading();
});
document.addEventListener("selectionchange", showUnlessReading);
byId("waiting").onclick = showWaiting;
byId("pause").onclick = pause;
