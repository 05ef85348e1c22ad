// Marks rows that changed, and says so: compares a row before and after it is swapped.
import { announce, byId, plural, select, wordsOf } from "./elements.js";
import { secondsSince } from "./times.js";

const KEPT_S = 2;
const marks = new Map(); // row id -> [when, what its cells said; null where one says the same]

// Changed rows of a part: [row, the row before, what changed cells said].
export const changedRows = (part) =>
	(part.cells ? [part] : [...(part.rows ?? [])])
		.map((row) => {
			const before = byId(row.id);
			return [row, before, [...row.cells].map((cell, index) => {
				const said = before ? wordsOf(before.cells[index] ?? before) : "";
				return said === wordsOf(cell) || isQuiet(before, index) ? null : said;
			})];
		})
		.filter(([row, , said]) => row.dataset.severity && said.some((words) => words !== null));

// What moves all the time, as a committed offset does, is no change worth a mark: its heading says so.
const isQuiet = (row, index) => row?.closest("table").tHead?.rows[0].cells[index]?.matches("[data-quiet]");

export function markChanges(parts) {
	const sentences = [], critical = [], changes = [];
	for (const part of parts) {
		let count = 0, warnings = 0;
		for (const [row, before, said] of changedRows(part)) {
			const { severity } = row.dataset;
			changes.push([row.id, [Date.now(), said]]);
			count++;
			warnings += severity === "warning";
			if (severity === "critical" && before?.dataset.severity !== severity) critical.push(wordsOf(row.querySelector("th")));
		}
		if (!count) continue;
		const { ariaLabel } = byId(part.id).closest("table");
		sentences.push(`${ariaLabel}: ${plural(count, "row")} changed` + (warnings ? `, ${warnings} warning` : ""));
	}
	if (!sentences[0]) return;
	announce(sentences.join("; "));
	if (critical[0]) byId("alert").textContent = `Critical: ${critical.join(", ")}`;
	forgetOld();
	changes.forEach(([id, mark]) => marks.set(id, mark));
}

function forgetOld() {
	marks.forEach(([at], id) => {
		if (secondsSince(at) < KEPT_S) return;
		marks.delete(id);
		byId(id)?.classList.remove("changed");
		select(`#${id} b`).forEach((bold) => {
			bold.parentNode.title = "";
			bold.replaceWith(...bold.childNodes);
		});
	});
}

export function paintMarks() {
	marks.forEach(([, said], id) => {
		const [row] = select(`#${id}:not(.changed)`);
		if (!row) return;
		row.classList.add("changed");
		[...row.cells].forEach((cell, index) => {
			if (said[index] === null) return;
			const bold = document.createElement("b");
			bold.append(...cell.childNodes);
			cell.append(bold);
			cell.title = said[index] ? `was ${said[index]}` : "new";
		});
	});
}
