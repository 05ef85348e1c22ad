// Times as ages, worded anew every 15 s; on a page of the past, how long before its moment.
import { select } from "./elements.js";

export const secondsSince = (epochMs) => Math.max(0, Date.now() - epochMs) / 1e3;
const rounded = (seconds) =>
	seconds < 60 ? `${seconds | 0} s` : seconds < 3600 ? `${(seconds / 60) | 0} min` : `${(seconds / 3600) | 0} h`;
export const age = (seconds) => `${rounded(seconds)} ago`;

const moment = () => Date.parse(document.body.dataset.at);
const before = (seconds) => `${rounded(seconds)} before`;

export function wordTimes() {
	const at = moment();
	select("time").forEach((time) => {
		const epochMs = Date.parse(time.dateTime);
		const seconds = at ? Math.max(0, at - epochMs) / 1e3 : secondsSince(epochMs);
		const worded = at ? before(seconds) : age(seconds);
		time.textContent = seconds < 86400 ? worded : time.dateTime.slice(0, 10);
	});
}

setInterval(wordTimes, 15e3);
