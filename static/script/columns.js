// Which columns a list shows is chosen in a menu beside its filter, and remembered by the browser, table by table.
import { byId, select } from "./elements.js";

const make = (tag, properties, ...children) => {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
};
// What of a table can be left out: not what is chosen in the first column, nor what names the row.
function headingsOf(table) {
	const name = select("tbody th", table)[0]?.cellIndex ?? 0;
	return select("thead th", table).filter((heading) => heading.cellIndex && heading.cellIndex !== name);
}
function remember(table, hidden) {
	const columns = JSON.parse(localStorage.columns ?? "{}"), { id } = table.tBodies[0];
	const places = headingsOf(table).filter((heading) => hidden.has(wordsOf(heading)));
	const cells = places.map((heading) => `table:has(#${id}) tr:not(.empty) > :nth-child(${heading.cellIndex + 1})`);
	columns[id] = { hidden: [...hidden], rule: cells[0] ? `@media screen { ${cells} { display: none } }` : "" };
	localStorage.columns = JSON.stringify(columns);
	document.adoptedStyleSheets[0].replaceSync(Object.values(columns).map(({ rule }) => rule).join(""));
}
const wordsOf = (heading) => heading.textContent.replace(/[▲▼]/, "").trim();

export function offerColumns() {
	const form = document.querySelector("main form[data-as-typed]");
	const table = byId("columns") && select("main table").find((one) => form.compareDocumentPosition(one) & 4);
	if (!table) return;
	const hidden = new Set(JSON.parse(localStorage.columns ?? "{}")[table.tBodies[0].id]?.hidden);
	const choices = headingsOf(table).map((heading) => {
		const words = wordsOf(heading), box = make("input", { type: "checkbox", checked: !hidden.has(words) });
		box.onchange = () => {
			hidden[box.checked ? "delete" : "add"](words);
			remember(table, hidden);
		};
		return make("li", {}, make("label", {}, box, words));
	});
	const list = make("ul", {}, ...choices);
	// Nothing of it is a query.
	list.addEventListener("input", (event) => event.stopPropagation());
	byId("columns").append(list);
	if (hidden.size) remember(table, hidden);
}
offerColumns();
