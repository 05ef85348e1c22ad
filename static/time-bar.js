// The bar of time: arrow keys step from change to change, dragging chooses a time, Play goes on by itself.
// Links do the same without.
import { byId } from "./script/elements.js";

const PLAY_MS = 1500;
const PLAYING = "playing";
const bar = byId("time-bar");
const line = bar.querySelector("svg");
const shown = byId("time-at");
const play = byId("play");
const button = play.querySelector("button");
let timer = 0;
let dragging = false;

function follow(rel) {
	const link = bar.querySelector(`a[rel="${rel}"]`);
	if (link) location.assign(link.href);
	return Boolean(link);
}

function instant(event) {
	const box = line.getBoundingClientRect();
	const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
	const [from, to] = [Number(line.dataset.from), Number(line.dataset.to)];
	return new Date(Math.min(Date.now(), from + (to - from) * share));
}

function stop() {
	clearTimeout(timer);
	sessionStorage.removeItem(PLAYING);
	button.textContent = "Play";
	button.setAttribute("aria-pressed", "false");
}

function goOn() {
	sessionStorage.setItem(PLAYING, "yes");
	button.textContent = "Stop";
	button.setAttribute("aria-pressed", "true");
	timer = setTimeout(() => follow("next") || stop(), PLAY_MS);
}

document.addEventListener("keydown", (event) => {
	if (byId("keys-off").checked || event.ctrlKey || event.altKey || event.metaKey || !event.target.matches("body,main,tr")) return;
	const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
	if (rel) {
		stop();
		follow(rel);
	}
});

line.addEventListener("pointerdown", (event) => {
	dragging = event.button === 0;
});
line.addEventListener("dragstart", (event) => event.preventDefault());
line.addEventListener("pointermove", (event) => {
	shown.textContent = `${instant(event).toISOString().slice(0, 19).replace("T", " ")} UTC`;
	shown.style.left = `${event.clientX - line.getBoundingClientRect().left}px`;
});
line.addEventListener("pointerleave", () => {
	shown.textContent = "";
});
line.addEventListener("click", (event) => {
	if (!dragging || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	const address = new URL(location.href);
	address.searchParams.set("at", instant(event).toISOString());
	location.assign(address);
});

button.addEventListener("click", () => (sessionStorage.getItem(PLAYING) ? stop() : goOn()));
play.hidden = false;
if (sessionStorage.getItem(PLAYING)) goOn();
