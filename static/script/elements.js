// Elements by id and by selector, and what every module says to a reader.
export const byId = (id) => document.getElementById(id);
export const select = (selector, root = document) => [...root.querySelectorAll(selector)];
export const announce = (sentence) => {
	byId("status").textContent = sentence;
};
export const plural = (number, noun) => `${number} ${noun}${number > 1 ? "s" : ""}`;
export const parse = (html) => Object.assign(document.createElement("template"), { innerHTML: html }).content;
// An element's words; no times, no marks.
export const wordsOf = (element) => {
	const copy = element.cloneNode(true);
	select("time", copy).forEach((time) => {
		time.textContent = time.dateTime;
	});
	return copy.textContent.replace(/\s+/g, " ").trim();
};
