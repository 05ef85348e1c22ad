// A list's filter acts as one types: the page is fetched by its new address, and shown in place of this one.
import { announce, byId, select } from "./elements.js";
import { adopt } from "./frames.js";

const TYPING_MS = 250;
let timer, request;

// Without what is empty or the first choice, as the server writes addresses.
function addressOf(form) {
	const chosen = [...new FormData(form)].filter(([name, value]) => value && form.elements[name].selectedIndex !== 0);
	return location.pathname + (chosen.length ? `?${new URLSearchParams(chosen)}` : "");
}
async function fetchPage(address) {
	request?.abort();
	request = new AbortController();
	const answer = await fetch(address, { signal: request.signal });
	if (!answer.ok) throw new Error(answer.statusText);
	return new DOMParser().parseFromString(await answer.text(), "text/html");
}
// Its successor in the new page has the focus; a text field stays itself, with what was typed meanwhile.
function keepFocus(control, act) {
	const { name, value, type, selectionStart, selectionEnd } = control;
	act();
	const successor = select(`form[data-as-typed] [name="${name}"]`).find(
		(other) => !["checkbox", "radio"].includes(type) || other.value === value,
	);
	if (!successor) return;
	if (type === "search") successor.replaceWith(control);
	const focused = type === "search" ? control : successor;
	focused.focus({ preventScroll: true });
	if (type === "search") focused.setSelectionRange(selectionStart, selectionEnd);
}
async function show(form) {
	const address = addressOf(form), control = document.activeElement;
	try {
		const page = await fetchPage(address);
		history.replaceState(null, "", address);
		if (form.contains(control)) keepFocus(control, () => adopt(page));
		else adopt(page);
		announce(byId("showing")?.textContent ?? "");
	} catch (error) {
		if (error.name !== "AbortError") location.assign(address);
	}
}
function soon(event, delay) {
	const { form } = event.target;
	if (!form?.matches("[data-as-typed]") || event.isComposing) return;
	clearTimeout(timer);
	timer = setTimeout(show, delay, form);
}

document.addEventListener("input", (event) => soon(event, event.target.type === "search" ? TYPING_MS : 0));
document.addEventListener("compositionend", (event) => soon(event, TYPING_MS));
// Who presses Enter goes there by a page of its own, as without this script.
document.addEventListener("submit", () => {
	clearTimeout(timer);
	request?.abort();
});
