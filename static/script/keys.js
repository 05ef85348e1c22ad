// Single keys, while nothing is typed; none starts an action.
import { byId, select } from "./elements.js";
import { pause, showWaiting } from "./frames.js";
import { copy, open, step } from "./rows.js";
import { secondsSince } from "./times.js";

const CHORD_S = 1.5;
const keysOff = byId("keys-off");
let chordAt = 0;

const keys = {
	"/": () => (byId("search") ?? byId("filter"))?.focus(),
	f: () => byId("filter")?.focus(),
	"?": () => byId("keys").showModal(),
	u: showWaiting,
	p: pause,
	g: () => {
		chordAt = Date.now();
	},
	j: () => step(1),
	k: () => step(-1),
	Enter: () => open(document.activeElement),
	y: () => copy(document.activeElement.querySelector("[data-copy]")),
};

document.addEventListener("keydown", (event) => {
	if (event.key === "Escape" && event.target.matches("input")) event.target.blur();
	if (keysOff.checked || event.ctrlKey || event.altKey || event.metaKey || !event.target.matches("body,main,tr")) return;
	const link = secondsSince(chordAt) < CHORD_S && select("[data-go]").find((entry) => entry.dataset.go === event.key);
	const act = link ? () => link.click() : keys[event.key];
	chordAt = 0;
	if (!act) return;
	event.preventDefault();
	act();
});

byId("help")?.addEventListener("click", keys["?"]);
keysOff.checked = localStorage.keys;
keysOff.onchange = () => {
	localStorage.keys = keysOff.checked ? "off" : "";
};
