// Times as ages, worded anew every 15 s.
import { select } from "./elements.js";

export const secondsSince = (epochMs) => Math.max(0, Date.now() - epochMs) / 1e3;
const rounded = (seconds) =>
	seconds < 60 ? `${seconds | 0} s` : seconds < 3600 ? `${(seconds / 60) | 0} min` : `${(seconds / 3600) | 0} h`;
export const age = (seconds) => `${rounded(seconds)} ago`;

export function wordTimes() {
	select("time").forEach((time) => {
		const seconds = secondsSince(Date.parse(time.dateTime));
		time.textContent = seconds < 86400 ? age(seconds) : time.dateTime.slice(0, 10);
	});
}

setInterval(wordTimes, 15e3);
