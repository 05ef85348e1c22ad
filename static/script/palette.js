// The search box as a command palette: suggestions as one types. Without it the form's page lists the same.
import { announce, byId } from "./elements.js";

const QUIET_MS = 120; // after the last key
const LIMIT = 5; // of each kind

const input = byId("search");
if (input) palette(input);

function palette(box) {
	const list = document.createElement("ul");
	let waiting = 0, request = null, active = -1;
	Object.assign(list, { id: "suggestions", className: "suggestions", role: "listbox", ariaLabel: "Suggestions", hidden: true });
	box.after(list);
	box.setAttribute("aria-controls", list.id);
	Object.assign(box, { role: "combobox", autocomplete: "off", ariaAutoComplete: "list", ariaHasPopup: "listbox", ariaExpanded: "false" });

	box.addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(suggest, QUIET_MS);
	});
	box.addEventListener("focus", suggest);
	box.addEventListener("blur", close);
	box.addEventListener("keydown", onKey);
	// The box keeps the focus, or the list would be closed before the click.
	list.addEventListener("pointerdown", (event) => event.preventDefault());
	list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));

	async function suggest() {
		request?.abort();
		request = new AbortController();
		const query = new URLSearchParams({ q: box.value.trim(), limit: LIMIT, format: "json" });
		const { at } = box.form.elements;
		if (at) query.set("at", at.value); // of a page of the past
		try {
			const answer = await fetch(`${box.form.action}?${query}`, { signal: request.signal });
			if (answer.ok) show((await answer.json()).rows);
			else close();
		} catch (fault) {
			if (fault.name !== "AbortError") close();
		}
	}

	function show(rows) {
		const typed = box.value.trim().toLowerCase();
		const rank = (row) => +(row.name.toLowerCase() !== typed);
		const ordered = rows.sort((row, other) => rank(row) - rank(other));
		list.replaceChildren(...ordered.map(option));
		mark(-1);
		const isOpen = document.activeElement === box && ordered.length > 0;
		list.hidden = !isOpen;
		box.ariaExpanded = String(isOpen);
		if (isOpen) announce(`${ordered.length} suggestions`);
	}

	function close() {
		request?.abort();
		clearTimeout(waiting);
		list.hidden = true;
		box.ariaExpanded = "false";
		mark(-1);
	}

	function mark(at) {
		active = at;
		[...list.children].forEach((item, number) => (item.ariaSelected = String(number === at)));
		const chosen = list.children[at];
		if (chosen) {
			box.setAttribute("aria-activedescendant", chosen.id);
			chosen.scrollIntoView({ block: "nearest" });
		} else box.removeAttribute("aria-activedescendant");
	}

	function onKey(event) {
		const count = list.children.length, isOpen = !list.hidden;
		const steps = { ArrowDown: 1, ArrowUp: -1 };
		if (event.key in steps) {
			event.preventDefault();
			if (!isOpen) suggest();
			// One place more than there are suggestions: the box itself.
			else mark(((active + 1 + steps[event.key] + count + 1) % (count + 1)) - 1);
		} else if (event.key === "Enter" && isOpen && active >= 0) {
			event.preventDefault();
			go(list.children[active]);
		} else if (event.key === "Escape" && isOpen) {
			event.preventDefault();
			event.stopPropagation();
			close();
		}
	}
}

function option(row, number) {
	const item = document.createElement("li");
	Object.assign(item, { id: `suggestion-${number}`, role: "option" });
	item.dataset.address = row.address;
	item.append(part("kind", row.kind), part("name", row.name), part("about", row.about));
	return item;
}

function part(name, text) {
	const element = document.createElement(name === "name" ? "bdi" : "span");
	Object.assign(element, { className: name, textContent: text });
	return element;
}

function go(item) {
	if (item) location.assign(item.dataset.address);
}
