// Rows are walked, opened and copied from.
import { announce, select } from "./elements.js";
import { FOCUSABLE } from "./frames.js";

export const open = (row) => row?.querySelector("th a")?.click();
export const copy = (button) =>
	button && navigator.clipboard.writeText(button.dataset.copy).then(() => announce("Copied"), () => announce("Not copied"));
export const step = (by) => {
	const rows = select("main tr[tabindex]");
	rows[Math.max(0, rows.indexOf(document.activeElement) + by)]?.focus();
};

document.addEventListener("click", ({ target }) => {
	copy(target.closest(".copy"));
	if (getSelection().isCollapsed && !target.closest(FOCUSABLE)) open(target.closest("main tr"));
});
