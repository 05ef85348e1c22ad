// How old the page is, whether it is live, and why not.
import { byId } from "./elements.js";
import { age, secondsSince } from "./times.js";

const STALE_S = 5;
const { revision, asOf } = byId("socket")?.dataset ?? {};
// What is shown: the revision, until when it is true (epoch s), whether the reader stopped it, whether the socket is gone.
export const shown = { revision, asOf, isPaused: false, isCut: false };

function standing(isStale) {
	if (shown.isPaused) return "Paused";
	if (shown.isCut) return "Polling";
	return isStale ? "Stale" : "Live";
}

export function tellFreshness() {
	const line = byId("freshness");
	if (!line) return;
	const seconds = secondsSince(shown.asOf * 1e3), isStale = !shown.asOf || seconds > STALE_S;
	const told = seconds < 10 ? `${seconds.toFixed(1)} s ago` : age(seconds);
	line.classList.toggle("old", isStale || shown.isPaused || shown.isCut);
	line.textContent = standing(isStale) + (shown.asOf ? ` · ${told}` : "");
	line.title = `Revision ${(+shown.revision).toLocaleString("fr")}`;
}

export function tellNotices() {
	const notice = byId("notice");
	notice.textContent =
		(shown.isCut ? "This page lost its live connection; refreshing every 4 s. " : "") +
		(shown.isPaused ? "Paused by you." : "");
	notice.hidden = !shown.isCut && !shown.isPaused;
	tellFreshness();
}

if (byId("socket")) setInterval(tellFreshness, 1e3);
